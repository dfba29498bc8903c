"""Logs, test runs, stack traces and the output of builds; the message of a failed tool. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from hippocampus.indexing import plain
from hippocampus.indexing.extraction import EntryLine, Extraction, LaterLines, says_failure

STAMP = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\b\d\d:\d\d:\d\d")
LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
STAMPED_CHARACTERS = 60
"""Stamps and levels are in the first characters of a line."""
LIST_SIGNS = ("-", "*", "|", "#")
PROGRESS = re.compile(
    r"\[ *\d+(?:/\d+|%)\]|(?:PASS(?:ED)?|SKIPPED|XFAIL|ok|✓|✔)\b"
    r"|=== RUN|(?:make|gcc|g\+\+|cc|ld|npm|yarn|pnpm|pip|cargo|go): |npm (?:ERR!|error|WARN|warn|notice)"
    r"|(?:Collecting|Downloading|Installing|Compiling|Requirement already|Successfully|Building|Fetching) "
    r"|={4,} .* ={4,}$|E {2,}\S"
)
OUTCOME = re.compile(r" (?:PASSED|SKIPPED|XFAIL)\b|\.\.\. (?:ok|ignored|skipped)")
FRAME = re.compile(r"\s++File \"|\s++at .*(?::\d|\)$)|#\d+ +")
ANCHORS = re.compile(
    r"^(?:Traceback \(most recent call last\):|={4,} (?:test session|FAILURES|ERRORS|short test)|Ran \d+ tests? in "  # Python
    r"|--- FAIL: |FAIL\t|panic: |goroutine \d+ \["  # Go
    r"|test result: |error\[E\d+\]"  # Rust
    r"|npm (?:ERR!|error) |Test Suites: |TAP version |\d+\.\.\d+$|not ok \d"  # JavaScript, TAP
    r"|make(?:\[\d+\])?: \*\*\*|Exception in thread |\[(?:INFO|ERROR)\] )",  # make, Java
    re.MULTILINE,
)
ANCHORED = 0.4
"""How much surer one of them makes it."""
HEAD_CHARACTERS, TAIL_CHARACTERS = 30_000, 10_000
SAMPLE_LINES, LINE_CHARACTERS = 250, 240
MAX_FAILURES = 8

SAYS_SO = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|fail(?:ed|ure)?|fatal|denied|not found|invalid)\b"
)
PASSED = re.compile(
    r"(?i)^\W*(?:ok\b|pass|[✓✔]|Subtest:)|\bfail(?:ed|ures|ing)?:? 0\b|\b0 (?:fail|error)"
)
"""A passing test may be about an error, and a count of failures may be 0."""
MAX_LINES = 8
MESSAGE_CHARACTERS = 1_200
"""A longer line of a message is cut; messages are short, dumps are not messages."""
SCANNED_CHARACTERS = 2_000_000
STATUS = re.compile(r"(?<![\w.-])[45]\d\d(?![\w-]|\.\d)")
OPENING, BEFORE, BEHIND, ENDING = 160, 60, 200, 240
"""Characters of a long message that are shown at its start, around what decided, and at its end."""


def extract(text: str) -> Extraction | None:
    """Return the lines of a log, of which few failures stay with the line below: their reason."""
    found = plain.extract(text, "log")
    return found and replace(found, lines=LaterLines(lambda: _with_failures(found.lines)))


def _with_failures(lines: Sequence[EntryLine]) -> Sequence[EntryLine]:
    failed = {at for at, line in enumerate(lines) if says_failure(line.text)}
    if len(failed) > MAX_FAILURES:
        return lines
    return [
        replace(line, keep=True) if at in failed or at - 1 in failed else line
        for at, line in enumerate(lines)
    ]


def recognises(text: str) -> float:
    """Return how surely a text is a log, by the lines that read as one of a log."""
    tail = f"\n{text[HEAD_CHARACTERS:][-TAIL_CHARACTERS:]}" if len(text) > HEAD_CHARACTERS else ""
    sample = text[:HEAD_CHARACTERS] + tail
    lines = [line[:LINE_CHARACTERS] for line in sample.split("\n") if line.strip()]
    half = SAMPLE_LINES // 2
    lines = lines[:half] + lines[half:][-half:]
    if len(lines) < 2:
        return 0.0
    likeness = sum(map(_likeness, lines))
    anchored = ANCHORED if ANCHORS.search(sample) else 0.0
    return min(1.0, likeness / len(lines) + anchored) if likeness >= 1 else anchored / 2


def _likeness(line: str) -> float:
    """Return how much a line reads as one of a log; errors are mentioned in any text."""
    opening = line[:STAMPED_CHARACTERS]
    if STAMP.search(opening) and not line.lstrip().startswith(LIST_SIGNS):
        return 1.0
    is_printed = PROGRESS.match(line) or OUTCOME.search(line) or FRAME.match(line)
    return 1.0 if is_printed or LEVEL.search(opening) else 0.0


# The message of a failed tool, whole in its entry whatever the kind of content


def message_of(text: str) -> list[str]:
    """Return the first line, those with a word of failure, and the last."""
    lines = [line.strip() for line in text[:SCANNED_CHARACTERS].splitlines() if line.strip()]
    if not lines:
        return []
    telling = [
        line
        for line in lines[1:-1]
        if SAYS_SO.search(line[:MESSAGE_CHARACTERS]) and not PASSED.search(line[:OPENING])
    ]
    ends = dict.fromkeys((lines[0], *telling[: MAX_LINES - 2], lines[-1]))
    return list(map(_short, ends))


def _short(line: str) -> str:
    """Return a line whole, or of a long one its start, its end and the words around what decided.

    That is the last status code, or the last word of failure: what a message echoes of a call comes before.
    """
    if len(line) <= MESSAGE_CHARACTERS:
        return line
    end = len(line) - ENDING
    found = [*STATUS.finditer(line, OPENING, end)] or [*SAYS_SO.finditer(line, OPENING, end)]
    start = max(OPENING, found[-1].start() - BEFORE) if found else end
    middle = line[start : min(end, start + BEFORE + BEHIND)]
    return " … ".join(filter(None, (line[:OPENING], middle, line[end:])))
