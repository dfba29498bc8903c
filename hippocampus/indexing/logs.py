"""Whether a text is a log, a test run, a stack trace or the output of a build. Pure, linear."""

from __future__ import annotations

import re

from hippocampus.indexing.templates import map_alike

STAMP = re.compile(
    r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d|"
    r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d|\b\d\d:\d\d:\d\d"
)
LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
STAMPED_CHARACTERS = 60
"""Stamps and levels are in the first characters of a line."""
LIST_SIGNS = ("-", "*", "|", "#")
PROGRESS = re.compile(
    r"\[ *\d+(?:/\d+|%)\]|(?:PASS(?:ED)?|SKIPPED|XFAIL|ok|✓|✔)\b"
    r"|=== RUN|(?:make|gcc|g\+\+|cc|ld|npm|yarn|pnpm|pip|cargo|go): |npm (?:ERR!|error|WARN|warn|notice)"
    r"|(?:Collecting|Downloading|Installing|Compiling|Requirement already|Successfully|Building|Fetching) "
    r"|={4,} .* ={4,}$|-{4,} .* -{4,}$|E {2,}\S|collected \d+ items|platform \w+ --|\s+\|"
)
OUTCOME = re.compile(r" (?:PASSED|SKIPPED|XFAIL)\b|\.\.\. (?:ok|ignored|skipped)")
FRAME = re.compile(r"\s++File \"|\s++at .*(?::\d|\)$)|\t\S+\.go:|\s*+\d+: +0x|#\d+ +")
PLACE = re.compile(
    r"\s*+(?:\[?(?:ERROR|WARNING|WARN|error|warning)\]?:? +)?(?:CMake (?:Error|Warning) at )?"
    r"(?=[^\s:(\[]*[A-Za-z])(?=(?:[A-Za-z]:)?[^\s:(\[]*[./])(?:[A-Za-z]:(?=[\\/]))?(?:[^\s:(\[]|\[[\w.-]{1,40}\](?=[/.\\]))++"
    r"[:(\[]{1,2}\d++(?:[,:]\d++)?[\])]{0,2}:?(?: - | +)\S|\s++\d++:\d++ +(?:error|warning)\b"
)
"""A place in a file with a message, or a finding below the line that names its file."""
FINDING = re.compile(r"(?i)\berror\b|\bwarning\b|:\d+:\d+:? |\(\d+,\d+\)|\b[A-Z]\d{3,4}\b")
"""Part of a finding of a compiler or a linter; a place without it is a hit of a search."""
EXIT = re.compile(
    r"(?i)\bexit(?:ed|ing)?(?: with| status| code){0,3}[ :=]{1,4}(-?\d+)\b"
    r"|\breturned? (?:code|non-zero exit status)[ :=]{0,4}(-?\d+)|^make.*\bError (\d+)"
)
TOTAL = re.compile(
    r"(?i)^[\s=#*\[\]>✖✔ℹ•-]*+(?:(?:error|info|warning)\]? +)?(?:"
    r"(?:tests?|test suites?|test files?|suites|snapshots|assertions|total|results?|summary|test result|ran"
    r"|finished|found|checked|duration|coverage|successfully|compiled)\b(?![/\\.]).{0,80}\d"
    r"|\d[\d,]* (?:passed|failed|passing|failing|pending|skipped|tests?|errors?|warnings?|problems?|failures?"
    r"|examples?|files? (?:changed|checked))\b"
    r"|(?:pass|fail):? \d|FAILED(?: \(.{0,200}\))?$|OK(?: \(.{0,200}\))?$|PASS$|FAIL$|BUILD \w+$|ok +\t?\S+\t[\d.]+s"
    r"|no tests ran|\d+ (?:passed|failed|skipped|errors?) in )"
    r"|^.{0,60}\b\d+ (?:errors?|warnings?) generated"
)
ANCHORS = re.compile(
    r"^(?:Traceback \(most recent call last\):|={4,} (?:test session|FAILURES|ERRORS|short test)|Ran \d+ tests? in |--- FAIL: |FAIL\t"
    r"|test result: |panic: |npm (?:ERR!|error) |\d+\.\.\d+$|TAP version |Test Suites: |make(?:\[\d+\])?: \*\*\*|not ok \d|goroutine \d+ \["
    r"|Exception in thread |error\[E\d+\]|\[(?:INFO|ERROR)\] )",
    re.MULTILINE,
)
ANCHORED = 0.4
"""How much surer one of them makes it."""
HEAD_CHARACTERS, TAIL_CHARACTERS = 30_000, 10_000
SAMPLE_LINES, LINE_CHARACTERS = 250, 240


def recognises(text: str, _file: str = "") -> float:
    """Return how surely a text is a log, by the lines that read as one of a log."""
    tail = f"\n{text[HEAD_CHARACTERS:][-TAIL_CHARACTERS:]}" if len(text) > HEAD_CHARACTERS else ""
    sample = text[:HEAD_CHARACTERS] + tail
    lines = [line[:LINE_CHARACTERS] for line in sample.split("\n") if line.strip()]
    half = SAMPLE_LINES // 2
    lines = lines[:half] + lines[half:][-half:]
    if len(lines) < 2:
        return 0.0
    likeness = sum(map_alike(lines, _likeness))
    anchored = ANCHORED if ANCHORS.search(sample) else 0.0
    return min(1.0, likeness / len(lines) + anchored) if likeness > 1 else anchored / 2


def _likeness(line: str) -> float:
    """Return how much a line reads as one of a log; errors are mentioned in any text."""
    opening = line[:STAMPED_CHARACTERS]
    if STAMP.search(opening) and not line.lstrip().startswith(LIST_SIGNS):
        return 1.0
    if PROGRESS.match(line) or OUTCOME.search(line) or LEVEL.search(opening) or FRAME.match(line):
        return 1.0
    if PLACE.match(line):
        return 0.8 if FINDING.search(line) else 0.2
    if EXIT.search(line):
        return 0.5
    return 0.6 if TOTAL.search(line) else 0.0
