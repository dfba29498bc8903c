"""Stack traces in a log: what was raised, and the frames where it happened, innermost first.

Pure; lines are named by their numbers, from 0; `logs` decides which of them are frames.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.indexing.extraction import EntryLine
from hippocampus.indexing.lines import cut

PYTHON_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)(?:, in (.+))?')
NAMED = re.compile(r"(?:[A-Za-z_][\w$]*+(?:\.|::))*+([A-Z][\w$]*+)(?::|$)")
ENDINGS = ("Error", "Exception", "Exit", "Interrupt", "Warning", "Failure", "Fault", "Group")
OPENINGS = ("Caused by: ", "panic: ", "thread '", "Exception in thread ", "Uncaught ")
SOURCE_LINES = 4
"""Lines between two frames of one trace: the source line, its carets, a note of repeats."""
SHOWN_FRAMES = 8
SHOWN_CHARACTERS = 240
FRAME_WEIGHTS = (2.5, 1.6, 1.0)
OUTER_WEIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Trace:
    """One stack trace."""

    raised: int
    """The line with the type and the message."""
    frames: tuple[int, ...]
    """The lines of its frames, innermost first."""
    start: int
    end: int
    """The first line behind it."""


def traces_of(lines: Sequence[str], frames: Sequence[int]) -> list[Trace]:
    """Return the traces that some frames belong to, in order."""
    runs: list[list[int]] = []
    for number in frames:
        if (
            runs
            and number - runs[-1][-1] <= SOURCE_LINES
            and _one_trace(lines, runs[-1][-1], number)
        ):
            runs[-1].append(number)
        else:
            runs.append([number])
    return [_trace(lines, run) for run in runs]


def _one_trace(lines: Sequence[str], before: int, after: int) -> bool:
    """Return whether no other trace opens between two frames."""
    between = [lines[at] for at in range(before + 1, after)]
    return not any("Traceback" in line[:400] or is_exception_line(line) for line in between)


def is_exception_line(line: str) -> bool:
    """Return whether a line names what was raised: an exception's type, a cause, a panic."""
    rendered = line[:400].strip()
    named = NAMED.match(rendered)
    return rendered.startswith(OPENINGS) or (named is not None and named[1].endswith(ENDINGS))


def _trace(lines: Sequence[str], run: list[int]) -> Trace:
    if PYTHON_FRAME.match(lines[run[0]]):
        raised = _behind(lines, run)
        start = run[0] - 1 if run[0] and "Traceback" in lines[run[0] - 1] else run[0]
        return Trace(raised, tuple(reversed(run)), start, raised + 1)
    raised = _before(lines, run[0])
    return Trace(raised, tuple(run), raised, run[-1] + 1)


def _behind(lines: Sequence[str], run: list[int]) -> int:
    """Return the line of the exception behind Python's frames: the first one not indented more."""
    indent = _indent(lines[run[0]])
    stop = min(len(lines), run[-1] + 2 + SOURCE_LINES)
    for at in range(run[-1] + 1, stop):
        if lines[at].strip() and _indent(lines[at]) < max(indent, 1):
            return at
    return run[-1]


def _before(lines: Sequence[str], first: int) -> int:
    """Return the line of the message before frames that follow it; the nearest that reads so."""
    filled = [at for at in range(max(0, first - SOURCE_LINES), first) if lines[at].strip()]
    rendered = [at for at in filled if is_exception_line(lines[at])]
    flush = [at for at in filled if _indent(lines[at]) == 0]
    return (rendered or flush or [first])[-1]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def lines_of(trace: Trace, lines: Sequence[str], *, keep: bool, again: int) -> list[EntryLine]:
    """Return a trace as lines: what was raised, then its frames as its children."""
    more = f" ×{again + 1}" if again else ""
    raised = f"{trace.raised + 1}: {cut(lines[trace.raised], SHOWN_CHARACTERS)}{more}"
    outer = max(0, len(trace.frames) - SHOWN_FRAMES)
    rendered = [EntryLine(raised, 3.0, keep, count=1 + outer)]
    for at, number in enumerate(trace.frames[:SHOWN_FRAMES]):
        weight = FRAME_WEIGHTS[at] if at < len(FRAME_WEIGHTS) else OUTER_WEIGHT
        rendered.append(EntryLine(_frame(lines, number), weight, parent=0))
    return rendered


def _frame(lines: Sequence[str], number: int) -> str:
    """Return a frame on one line: its place, its function and its source."""
    python = PYTHON_FRAME.match(lines[number])
    if not python:
        before = lines[number - 1].strip() if ".go:" in lines[number] and number else ""
        return "  " + cut(f"{before} {lines[number]}", SHOWN_CHARACTERS)
    file, line, function = python.groups()
    source = lines[number + 1] if number + 1 < len(lines) else ""
    deeper = _indent(source) > _indent(lines[number]) and "^" not in source
    rendered = f"{file}:{line} in {function}" if function else f"{file}:{line}"
    return "  " + cut(f"{rendered}: {source}" if deeper else rendered, SHOWN_CHARACTERS)
