"""Logs, test runs, stack traces and build output: their own lines in order, failures first taken.

Lines that differ in numbers and ids only stand once, with their count; findings of compilers and
linters stand by file. Pure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from hippocampus.indexing.excerpt import LINE_CHARACTERS, is_notice
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted, cut, lines_in
from hippocampus.indexing.lines import packed as packed
from hippocampus.indexing.logs.places import Place, lines_of_places, places_of
from hippocampus.indexing.logs.signs import ARROW, EXIT, FAILED, Sign, sign_of, signs_for
from hippocampus.indexing.shapes import identifiers as identifiers
from hippocampus.indexing.templates import map_alike, masked, patterns_of
from hippocampus.indexing.thin import put, thinned


@dataclass(frozen=True, slots=True)
class LogWeights:
    """What the lines of a log are worth, relative to each other; chosen by reading."""

    overview: float = 12.0
    """Counts of levels."""
    sign: tuple[tuple[Sign, float], ...] = (
        ("failed", 5.0),
        ("error", 4.5),
        ("exit", 2.5),
        ("total", 2.0),
        ("warning", 1.5),
        ("command", 0.9),
        ("frame", 0.15),
        ("place", 0.5),
        ("plain", 0.5),
    )
    own_frame: float = 2.0
    """A frame in a file that no package or runtime owns."""
    frame_source: float = 0.2
    """The source below a frame of a package."""
    first_errors: float = 1.3
    """How much more the first errors are worth: the others mostly follow from them."""
    arrow: float = 2.5
    """The place of an error, on a line of its own."""
    edge: float = 2.0
    """The least of the first and the last lines, which name the run and its end."""
    common: float = 0.3
    """Below this a line is one of a form that most lines have, and names nothing at an end either."""
    advice: float = 0.2
    """Of a line of advice that stands behind any failure."""
    bare: float = 0.02
    again: float = 0.5
    """How much less the last line of a counted pattern is worth than the first."""


WEIGHTS = LogWeights()
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
MASK_CHARACTERS = 300
"""Characters of a line that decide its sign and its pattern."""
FEW_ALIKE = 3
"""Up to here all lines of a pattern stand."""
FIRST_ERRORS = 3
MOST_KEPT, END_LINES, HEAD_LINES, TAIL_LINES = 4, 25, 3, 5
MOST_NAMED = 50
RAISED = re.compile(
    r"(?:Caused by: |panic: |thread '|Exception in thread |Uncaught )|"
    r"(?:[\w$]+(?:\.|::))*[A-Z]\w*(?:Error|Exception|Exit|Interrupt|Failure|Fault)(?::|$)"
)
"""What was raised, at the start of a line."""
VERDICT = re.compile(r"(?i)pass|fail|error|\bok\b|exit")
LIBRARY = re.compile(
    r"site-packages|dist-packages|node_modules|/usr/lib|/lib/python|\bat (?:java|jdk|sun|org\.(?:apache|junit|spring|"
    r"codehaus|gradle|eclipse)|node:|internal/)|<frozen|importlib|/go/pkg/mod/|/rustc/|Python\d*[\\/]Lib"
)
ADVICE = re.compile(
    r"(?i)\[Help \d\]|re-?run (?:maven|with)|for more information|see the full|full debug log|^\W*$|"
    r"^\[(?:ERROR|INFO|WARNING)\]\s*$|A complete log of this run"
)


OWN_WEIGHTS = (
    (re.compile(r"^[\W_]*$"), WEIGHTS.bare),
    (re.compile(rf"^{ARROW.pattern}"), WEIGHTS.arrow),
    (ADVICE, WEIGHTS.advice),
)
"""Lines whose weight their own words decide, whatever their sign."""


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
        _likeness_by_sign([line for line, is_sure in zip(lines, sure, strict=True) if not is_sure])
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


def _likeness_by_sign(lines: Sequence[str]) -> list[float]:
    """Return how much each line reads as one of a log by its sign."""
    masks = masked("\n".join(lines)) if lines else []
    distinct = set(masks)
    signs = signs_for(distinct)
    known = {mask: sign_of(mask, signs) for mask in distinct}
    found = zip(lines, [known[mask] for mask in masks], strict=True)
    return [
        0.2 if sign == "place" and not FINDING.search(line) else SIGN_SURENESS.get(sign, 0.0)
        for line, sign in found
    ]


SIGN_SURENESS: dict[Sign, float] = {
    "frame": 1.0,
    "failed": 1.0,
    "place": 0.8,
    "total": 0.6,
    "exit": 0.5,
}
"""How sure a sign alone is; errors and commands are mentioned in any text."""


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read a log into its lines, the findings in it, and its totals."""
    del context
    if not text.strip():
        return None
    log = read(text)
    places = places_of(log.lines, log.of("place"))
    blocks = [*_overview(log), *lines_of_places(places)]
    blocks += [(at, [line]) for at, line in _lines(log, {place.at for place in places})]
    facts = _facts(log, places)
    selectors = (f"lines=[1, {len(log.lines)}]", 'pattern="(?i)error|fail"')
    return Extraction("log", _summary(log, facts), _flat(blocks), facts, selectors)


def read(text: str) -> Log:
    """Return a text with its lines signed."""
    lines = text.split("\n")[: lines_in(text)]
    masks = [mask[:MASK_CHARACTERS] for mask in masked("\n".join(lines))]
    distinct = dict.fromkeys(masks)
    signs = signs_for(distinct)
    known = {mask: sign_of(mask, signs) for mask in distinct}
    signed: dict[Sign, list[int]] = {}
    for number, mask in enumerate(masks):
        signed.setdefault(known[mask], []).append(number)
    days = {match[0] for line in lines if (match := DAY.match(line))}
    return Log(lines, masks, signed, days.pop() if len(days) == 1 else "")


def _overview(log: Log) -> Iterator[tuple[int, list[EntryLine]]]:
    """Yield how many lines of each level there are."""
    heads = [mask[:STAMPED_CHARACTERS] for mask in log.masks]
    distinct = set(heads)
    leveled = {head: match[0] for head in distinct if (match := LEVELED.search(head))}
    levels = Counter(leveled[head] for head in heads if head in leveled)
    if len(levels) > 1:
        counts = ", ".join(f"{level} {count}" for level, count in levels.most_common())
        yield -1, [EntryLine(f"levels: {counts}", WEIGHTS.overview, count=0)]


def _flat(blocks: Iterable[tuple[int, list[EntryLine]]]) -> tuple[EntryLine, ...]:
    """Return the lines of all blocks in content order, their parents renumbered."""
    lines: list[EntryLine] = []
    for _, block in sorted(blocks, key=lambda block: block[0]):
        start = len(lines)
        for line in block:
            put(lines, line if line.parent is None else replace(line, parent=start + line.parent))
    return thinned(lines)


def _lines(log: Log, written: set[int]) -> Iterator[tuple[int, EntryLine]]:
    """Yield the lines of the log, those of one pattern once with their count."""
    final = set(log.of("total", "exit")[-MOST_KEPT:])
    raised = [
        at
        for at in log.of("error", "plain", "total")
        if RAISED.match(log.lines[at][:SHOWN_CHARACTERS])
    ]
    kept = {*raised[:MOST_KEPT], *raised[-1:]}
    errors = 0
    for sign, weight in WEIGHTS.sign:
        numbers = [at for at in log.of(sign) if at not in written and log.lines[at].strip()]
        for pattern in patterns_of(log.masks, numbers, by_words=sign != "frame"):
            at = pattern.numbers[0]
            base = weight
            if sign == "plain":
                base *= math.log1p(len(log.lines) / len(pattern.numbers)) / 2
            if sign == "error" and not ADVICE.search(log.lines[at][:SHOWN_CHARACTERS]):
                errors += 1
                base *= WEIGHTS.first_errors if errors <= FIRST_ERRORS else 1.0
            is_many = len(pattern.numbers) > FEW_ALIKE
            shown = {at, pattern.numbers[-1]} if is_many else pattern.numbers
            for each in shown:
                others = len(pattern.numbers) - 1
                again = f" (and {others:,} lines like it)" if is_many and each == at else ""
                share = WEIGHTS.again if each != at else 1.0
                text = cut(log.text(each), LINE_CHARACTERS) + again
                line = EntryLine(
                    _indented(log.lines[each], text),
                    _weight(log, each, base * share, sign),
                    is_notice(text) or each in kept or (each in final and _is_verdict(log, each)),
                    count=0,
                    number=each + 1,
                )
                yield each, line


def _indented(line: str, text: str) -> str:
    return "  " + text if line[:1] in " \t" else text


def _weight(log: Log, number: int, weight: float, sign: Sign) -> float:
    """The first and the last lines weigh more, and frames of the program's own files."""
    line = log.lines[number][:SHOWN_CHARACTERS]
    for pattern, own in OWN_WEIGHTS:
        if pattern.search(line):
            return own
    above = log.lines[number - 1][:SHOWN_CHARACTERS] if number else ""
    is_source = sign == "plain" and above.lstrip().startswith('File "')
    if sign == "frame" and not LIBRARY.search(line):
        return WEIGHTS.own_frame
    if is_source:
        return WEIGHTS.frame_source if LIBRARY.search(above) else WEIGHTS.own_frame / 2
    is_edge = number < HEAD_LINES or number >= len(log.lines) - TAIL_LINES
    if is_edge and weight >= WEIGHTS.common:
        return max(weight, WEIGHTS.edge)
    return weight


def _is_verdict(log: Log, number: int) -> bool:
    """Return whether a total is how the run ended: near its end, or with words of success or failure."""
    near = number >= len(log.lines) - END_LINES
    return near or VERDICT.search(log.lines[number][:SHOWN_CHARACTERS]) is not None


def _facts(log: Log, places: Sequence[Place]) -> dict[str, object]:
    """Return what code may want to know of a run."""
    severe = sum(place.severe for place in places)
    failed = _failed_ids(log)
    facts: dict[str, object] = {
        "lines": len(log.lines),
        "errors": severe + len(log.of("error")),
        "warnings": len(places) - severe + len(log.of("warning")),
        "failed": failed[:MOST_NAMED],
        "failures": len(failed),
        "exit_code": _exit_code(log),
        "span": _span(log),
    }
    return {
        name: value
        for name, value in facts.items()
        if value not in (0, "", [], None) or (name == "exit_code" and value == 0)
    }


def _failed_ids(log: Log) -> list[str]:
    """Return the ids of failed tests."""
    found: dict[str, None] = {}
    for number in log.of("failed"):
        match = FAILED.match(log.lines[number][:LINE_CHARACTERS])
        groups = match.groupdict().items() if match else ()
        name = next((value for key, value in groups if value and key != "why"), "")
        if name:
            found[name] = None
    return list(found)


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
    return ", ".join(parts)
