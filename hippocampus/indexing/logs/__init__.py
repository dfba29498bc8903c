"""Logs, test runs, stack traces and build output: failures first, repeats as counts.

Reads a text into lines; which of them stand in an entry is chosen elsewhere. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted, cut, packed
from hippocampus.indexing.logs.fields import spread
from hippocampus.indexing.logs.places import Place, lines_of_places, places_of
from hippocampus.indexing.logs.signs import ARROW, EXIT, FAILED, Sign, sign_of, signs_for
from hippocampus.indexing.logs.traces import Trace, lines_of, traces_of
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.templates import Pattern, map_alike, masked, patterns_of
from hippocampus.indexing.thin import LIGHT, put, thinned

STAMP = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
)
DAY = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ](?=\d\d:\d\d)")
CLOCK = re.compile(r"\d\d:\d\d")
"""What every stamp has in it."""
LEVELS = ("TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "FATAL", "CRITICAL")
LEVELED = re.compile(rf"\b(?:{'|'.join(LEVELS)})\b")
FINDING = re.compile(r"(?i)\berror\b|\bwarning\b|:\d+:\d+:? |\(\d+,\d+\)|\b[A-Z]\d{3,4}\b")
"""What a place is found for; a place alone is a hit of a search."""
PROGRESS = re.compile(
    r"\[ *\d+(?:/\d+|%)\]|(?:PASS(?:ED)?|SKIPPED|XFAIL|ok|✓|✔)\b"
    r"|=== RUN|(?:make|gcc|g\+\+|cc|ld|npm|yarn|pnpm|pip|cargo|go): |npm (?:ERR!|error|WARN|warn|notice)"
    r"|(?:Collecting|Downloading|Installing|Compiling|Requirement already|Successfully|Building|Fetching) "
    r"|={4,} .* ={4,}$|-{4,} .* -{4,}$|E {2,}\S|collected \d+ items|platform \w+ --|\s+\|"
)
OUTCOME = re.compile(r" (?:PASSED|SKIPPED|XFAIL)\b|\.\.\. (?:ok|ignored|skipped)")
OUTCOMES = (" PASSED", " SKIPPED", " XFAIL", "... ok", "... ignored", "... skipped")
"""What a test's line ends with; one of them stands in the line."""
ANCHORS = re.compile(
    r"^(?:Traceback \(most recent call last\):|={4,} (?:test session|FAILURES|ERRORS|short test)|Ran \d+ tests? in |--- FAIL: |FAIL\t"
    r"|test result: |panic: |npm (?:ERR!|error) |\d+\.\.\d+$|TAP version |Test Suites: |make(?:\[\d+\])?: \*\*\*|not ok \d|goroutine \d+ \["
    r"|Exception in thread |error\[E\d+\]|\[(?:INFO|ERROR)\] )",
    re.MULTILINE,
)
HEAD_CHARACTERS = 30_000
TAIL_CHARACTERS = 10_000
SAMPLE_LINES = 250
STAMPED_CHARACTERS = 60
SHOWN_CHARACTERS = 240
MESSAGE_CHARACTERS = 400
MASK_CHARACTERS = 300
"""Characters of a line that decide its sign and its pattern."""
OVERVIEW = 12.0
MOST_KEPT = 4
"""Lines of each sort that stand whatever the budget."""
MOST_NAMED = 50
MOST_PATTERNS = 1_000
"""Patterns of one sign that are written; those behind them are counted."""


@dataclass(frozen=True, slots=True)
class Log:
    """A log with the sign of each of its lines."""

    lines: Sequence[str]
    masks: Sequence[str]
    signed: dict[Sign, list[int]]
    """The numbers of the lines, from 0, by their sign."""

    day: str = ""
    """The date that opens every stamped line, where they are all of one day."""

    def text(self, number: int) -> str:
        """Return a line without the day that all lines have."""
        line = self.lines[number]
        return line[len(self.day) :] if self.day and line.startswith(self.day) else line

    def of(self, *signs: Sign) -> list[int]:
        """Return the lines with one of some signs, in order."""
        return sorted(number for sign in signs for number in self.signed.get(sign, ()))


@dataclass(frozen=True, slots=True)
class LogBlock:
    """Lines that belong together; their parents are numbered within the block."""

    at: int
    """Where it stands in the content."""
    lines: Sequence[EntryLine]


def recognises(text: str) -> float:
    """Return how surely a text is a log, a test run, a trace or the output of a build."""
    sample = text[:HEAD_CHARACTERS] + (
        "\n" + text[-TAIL_CHARACTERS:] if len(text) > HEAD_CHARACTERS else ""
    )
    lines = [line[:SHOWN_CHARACTERS] for line in sample.split("\n") if line.strip()]
    lines = lines[: SAMPLE_LINES // 2] + lines[SAMPLE_LINES // 2 :][-SAMPLE_LINES // 2 :]
    if len(lines) < 2:
        return 0.0
    tests = _tests_for(sample)
    sure = map_alike(lines, lambda line: any(test(line) for test in tests))
    others = iter(
        _told_by_sign([line for line, is_sure in zip(lines, sure, strict=True) if not is_sure])
    )
    rendered = sum(1.0 if is_sure else next(others) for is_sure in sure)
    anchored = 0.4 if ANCHORS.search(sample) else 0.0
    return min(1.0, rendered / len(lines) + anchored) if rendered > 1 else anchored / 2


def _tests_for(sample: str) -> tuple[Callable[[str], object], ...]:
    """Return the tests of a log's line, without those that no line of the sample can pass."""
    stamped = (_is_stamped,) if CLOCK.search(sample) else ()
    leveled = (_is_leveled,) if any(level in sample for level in LEVELS) else ()
    ended = (OUTCOME.search,) if any(outcome in sample for outcome in OUTCOMES) else ()
    return (*stamped, PROGRESS.match, *ended, *leveled)


def _is_stamped(line: str) -> bool:
    found = STAMP.search(line[:STAMPED_CHARACTERS])
    return found is not None and not line.lstrip().startswith(("-", "*", "|", "#"))


def _is_leveled(line: str) -> bool:
    return LEVELED.search(line[:STAMPED_CHARACTERS]) is not None


def _told_by_sign(lines: Sequence[str]) -> list[float]:
    """Return how much each line reads as one of a log by its sign."""
    masks = masked("\n".join(lines)) if lines else []
    distinct = set(masks)
    signs = signs_for(distinct)
    known = {mask: sign_of(mask, signs) for mask in distinct}
    found = zip(lines, [known[mask] for mask in masks], strict=True)
    return [
        0.2 if sign == "place" and not FINDING.search(line) else SIGN_TELLS.get(sign, 0.0)
        for line, sign in found
    ]


SIGN_TELLS: dict[Sign, float] = {
    "frame": 1.0,
    "failed": 1.0,
    "place": 0.8,
    "total": 0.6,
    "exit": 0.5,
}
"""How sure a sign alone is; errors and commands are mentioned in any text."""


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read a log into its failures, their places, its totals, and its patterns with counts."""
    del context
    if not text.strip():
        return None
    log = read(text)
    places = places_of(log.lines, log.of("place"))
    traces = traces_of(log.lines, log.of("frame"))
    failed = _failed_ids(log)
    blocks = [*_overview(log)]
    blocks += [block for write in WRITERS for block in write(log, places, traces, failed)]
    facts = _facts(log, places, traces, failed)
    return Extraction("log", _summary(log, facts), _flat(blocks), facts, _selectors(log))


def _overview(log: Log) -> Iterator[LogBlock]:
    """Yield how many lines of each level there are, and what the fields of alike lines hold."""
    heads = [mask[:STAMPED_CHARACTERS] for mask in log.masks]
    distinct = set(heads)
    leveled = {head: match[0] for head in distinct if (match := LEVELED.search(head))}
    levels = Counter(leveled[head] for head in heads if head in leveled)
    if len(levels) > 1:
        rendered = ", ".join(f"{level} {count}" for level, count in levels.most_common())
        yield LogBlock(-1, [EntryLine(f"levels: {rendered}", OVERVIEW, count=0)])
    stamped = {head for head in distinct if STAMP.search(head)}
    numbers = [at for at, head in enumerate(heads) if head in stamped]
    for line in packed(spread(log.lines, numbers)):
        yield LogBlock(-1, [replace(line, weight=OVERVIEW, count=0)])


def read(text: str) -> Log:
    """Return a text with its lines signed."""
    lines, masks = text.split("\n"), [mask[:MASK_CHARACTERS] for mask in masked(text)]
    distinct = dict.fromkeys(masks)
    signs = signs_for(distinct)
    known = {mask: sign_of(mask, signs) for mask in distinct}
    signed: dict[Sign, list[int]] = {}
    for number, mask in enumerate(masks):
        signed.setdefault(known[mask], []).append(number)
    return Log(lines, masks, signed, _day(lines))


def _day(lines: Sequence[str]) -> str:
    days = {match[0] for line in lines if (match := DAY.match(line))}
    return days.pop() if len(days) == 1 else ""


def _flat(blocks: Iterable[LogBlock]) -> tuple[EntryLine, ...]:
    """Return the lines of all blocks in content order, their parents renumbered."""
    lines: list[EntryLine] = []
    for block in sorted(blocks, key=lambda block: block.at):
        start = len(lines)
        for line in block.lines:
            put(lines, line if line.parent is None else replace(line, parent=start + line.parent))
    return thinned(lines)


def _failed_ids(log: Log) -> dict[str, int]:
    """Return the ids of failed tests and the most complete line of each."""
    found: dict[str, int] = {}
    for number in log.of("failed"):
        match = FAILED.match(log.lines[number][:MESSAGE_CHARACTERS])
        if match is None:
            continue
        name = next(
            (value for key, value in match.groupdict().items() if value and key != "why"), ""
        )
        if name not in found or match["why"]:
            found[name] = number
    return found


def _write_failed(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> Iterable[LogBlock]:
    """Yield a line for each failed test, its id whole."""
    del places, traces
    for name, number in failed.items():
        line = log.lines[number].strip()
        yield LogBlock(number, [EntryLine(cut(line, max(SHOWN_CHARACTERS, len(name) + 20)), 3.0)])


def _write_places(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> Iterable[LogBlock]:
    """Yield the findings of compilers and linters, by file."""
    del log, traces, failed
    for at, lines in lines_of_places(places):
        yield LogBlock(at, lines)


def _write_traces(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> Iterable[LogBlock]:
    """Yield each stack trace once, with how often it came again."""
    del places, failed
    alike = Counter(_raised(log, trace) for trace in traces)
    written = dict.fromkeys(alike, False)
    for at, trace in enumerate(traces):
        message = _raised(log, trace)
        if not written[message]:
            written[message] = True
            keep = at < MOST_KEPT or at == len(traces) - 1
            yield LogBlock(
                trace.start, lines_of(trace, log.lines, keep=keep, again=alike[message] - 1)
            )


def _raised(log: Log, trace: Trace) -> str:
    return log.masks[trace.raised][:SHOWN_CHARACTERS]


def _write_totals(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> Iterable[LogBlock]:
    """Yield the totals of the run; its last ones stand whatever the budget."""
    del places, failed
    used = {trace.raised for trace in traces}
    numbers = [number for number in log.of("total", "exit") if number not in used]
    patterns = patterns_of(log.masks, numbers)
    final = sorted(pattern.last for pattern in patterns)[-MOST_KEPT:]
    for pattern in patterns:
        rendered = cut(log.text(pattern.last), SHOWN_CHARACTERS) + _again(pattern)
        keep = pattern.last in final and _is_verdict(log, pattern.last)
        yield LogBlock(
            pattern.last, [EntryLine(rendered, 3.0 if keep else 1.3, keep, count=pattern.count)]
        )


def _write_patterns(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> Iterable[LogBlock]:
    """Yield the first line of each pattern with its count, errors before all others."""
    del places, failed
    framed = {at for trace in traces for at in range(trace.start, trace.end)}
    for sign, weight in SIGN_WEIGHTS.items():
        numbers = [at for at in log.of(sign) if at not in framed and BEARING.search(log.lines[at])]
        patterns = patterns_of(log.masks, numbers, merged=sign != "error")
        if behind := sum(pattern.count for pattern in patterns[MOST_PATTERNS:]):
            yield LogBlock(
                patterns[MOST_PATTERNS].first,
                [EntryLine(f"… {behind:,} more", LIGHT, count=behind)],
            )
        for pattern in patterns[:MOST_PATTERNS]:
            yield LogBlock(pattern.first, [_render(log, pattern, _weight(log, pattern, weight))])
            if sign == "error" and pattern.count > 1:
                yield LogBlock(
                    pattern.last, [EntryLine(_numbered(log, pattern.last), weight / 2, count=0)]
                )


def _is_verdict(log: Log, number: int) -> bool:
    """Return whether a total is how the run ended: near its end, or with words of success or failure."""
    near = number >= len(log.lines) - END_LINES
    return near or VERDICT.search(log.lines[number][:SHOWN_CHARACTERS]) is not None


SIGN_WEIGHTS: dict[Sign, float] = {"error": 3.5, "warning": 2.0, "command": 0.9, "plain": 0.5}
HEAD_LINES = 3
END_LINES = 25
VERDICT = re.compile(r"(?i)pass|fail|error|\bok\b|exit")
BEARING = re.compile(r"\w")
TAIL_LINES = 5
FEW_FIELDS, WORDY = 3, 2.5
"""An error in words is worth more than another line of a known form."""


def _weight(log: Log, pattern: Pattern, weight: float) -> float:
    """The first and the last lines weigh more, and rare lines more than common ones."""
    if pattern.first < HEAD_LINES or pattern.last >= len(log.lines) - TAIL_LINES:
        return max(weight, 1.0)
    if weight > 1 and len(identifiers(log.text(pattern.first))) <= FEW_FIELDS:
        weight *= WORDY
    return weight if pattern.count > 1 or weight > 1 else weight * 0.8


def _render(log: Log, pattern: Pattern, weight: float) -> EntryLine:
    return EntryLine(_numbered(log, pattern.first) + _again(pattern), weight, count=pattern.count)


def _again(pattern: Pattern) -> str:
    return f" ×{pattern.count:,}" if pattern.count > 1 else ""


def _numbered(log: Log, number: int) -> str:
    """Return a line with its number, and the place that an arrow below it names."""
    below = log.lines[number + 1][:SHOWN_CHARACTERS] if number + 1 < len(log.lines) else ""
    arrow = ARROW.match(below)
    place = f" {arrow['place']}" if arrow else ""
    return f"{number + 1}: {cut(log.text(number), SHOWN_CHARACTERS)}{place}"


Writer = Callable[[Log, Sequence[Place], Sequence[Trace], dict[str, int]], Iterable[LogBlock]]
WRITERS: tuple[Writer, ...] = (
    _write_failed,
    _write_places,
    _write_traces,
    _write_totals,
    _write_patterns,
)


def _facts(
    log: Log, places: Sequence[Place], traces: Sequence[Trace], failed: dict[str, int]
) -> dict[str, object]:
    """Return what code may want to know of a run."""
    facts: dict[str, object] = {"lines": len(log.lines)}
    severe = sum(place.severe for place in places)
    facts["errors"] = severe + len(log.of("error"))
    facts["warnings"] = len(places) - severe + len(log.of("warning"))
    facts["failed"] = list(failed)[:MOST_NAMED]
    facts["failures"] = len(failed)
    facts["exception"] = cut(log.lines[traces[-1].raised], SHOWN_CHARACTERS) if traces else ""
    facts["exit_code"] = _exit_code(log)
    facts["span"] = _span(log)
    return {
        name: value
        for name, value in facts.items()
        if value not in (0, "", [], None) or (name == "exit_code" and value == 0)
    }


def _exit_code(log: Log) -> int | None:
    """Return the last exit code in the text."""
    for number in reversed(log.of("exit")):
        match = EXIT.search(log.lines[number][:SHOWN_CHARACTERS])
        if match:
            return int(next(value for value in match.groups() if value)[:12])
    return None


def _span(log: Log) -> str:
    """Return the first and the last time, as they are written."""
    first = _first_stamp(log.lines)
    last = _first_stamp(reversed(log.lines)) if first else ""
    same_day = DAY.match(first)
    last_told = last.removeprefix(same_day[0]) if same_day else last
    return f"{first} to {last_told}" if first != last else first


def _first_stamp(lines: Iterable[str]) -> str:
    for tried, line in enumerate(lines):
        match = STAMP.search(line[:STAMPED_CHARACTERS])
        if match:
            return match[0]
        if tried > SAMPLE_LINES:
            break
    return ""


def _summary(log: Log, facts: dict[str, object]) -> str:
    """Return a run in one line: its size, its failures, its time."""
    parts = [counted(len(log.lines), "line")]
    for name, noun in (
        ("failures", "failing test"),
        ("errors", "error line"),
        ("warnings", "warning"),
    ):
        number = facts.get(name)
        if isinstance(number, int):
            parts.append(counted(number, noun))
    exit_code = facts.get("exit_code")
    parts += [f"exit code {exit_code}"] if exit_code is not None else []
    parts += [str(facts["span"])] if "span" in facts else []
    if "exception" in facts and not log.of("error", "total"):
        parts.append(str(facts["exception"]))
    return ", ".join(parts)


def _selectors(log: Log) -> tuple[str, ...]:
    return (f"lines=[1, {len(log.lines)}]", 'pattern="…"')
