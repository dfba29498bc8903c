"""Texts that are excerpts of themselves: logs, diffs, prose, bytes, unknown texts. Pure, linear.

Their kinds are recognised, since a kind decides how long a text stays fresh.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hippocampus.indexing.code import definitions
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    LaterLines,
    counted,
    excerpt,
    lines_in,
    rows_of,
    says_failure,
    without_rules,
)

MAX_CONFIDENCE = 0.95
"""Sentences and encoded bytes are in contents of other kinds, too."""
OUTER, INNER = 40.0, 12.0
"""The weights of lines that define something: of those that are indented least, and of others."""
SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 150
LINE_CHARACTERS = 2_000

DIFF_SIGNS = re.compile(
    r"^(?:diff --(?:git|cc|combined) |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|"
    r"\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File: )|--- \S.*\n\+\+\+ \S|Index: )",
    re.MULTILINE,
)
DIFF_HEADS = ("diff ", "index ", "*** ", "new file ", "deleted file ", "rename ")
DIFF_WORDS = ("diff --", "@@ -", "*** ", "--- ", "Index: ")
"""Every sign has one."""

DIFF_SHARE, LOOSE_DIFF = 0.7, 0.2
"""From this share of its lines on a text is a diff, and how sure signs without them make it."""
BEFORE_DIFF = 0.6
"""How much less sure a share of text before the first sign makes it."""


@dataclass(frozen=True, slots=True)
class ProseWeights:
    """How much a line reads as one of prose; a sentence is 1."""

    sentence_of_code: float = 0.2
    markdown: float = 0.8
    code: float = -0.3
    other: float = 0.1


PROSE = ProseWeights()
SENTENCE = re.compile(
    r"(?:[^\W\d_]+['’,;:.()\"“”%-]{0,3} +(?:[\d,.%$€£–—-]+ +)?){5}|(?:[^\W\d_]['’-]?){1,30} .{20,}[.!?:…][\"”')\]*_]*$"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]{6}"
)
MARKDOWN = re.compile(
    r"#{1,6} \S|\s{0,8}(?:[-*+•] |\d{1,3}[.)] )\S|> |\*\*\S|!?\[[^\]\n]{0,200}\]\(|\|.*\|"
)
FENCED = re.compile(r"^```[\s\S]*?^```", re.MULTILINE)
CODE = re.compile(
    r"\s*(?:def |class |import |from \S+ import|return\b|const |let |var |if ?\(|for ?\(|#include|public |private |fn |func |@\w+\()"
    r"|\s*[\w.\[\]]+ ?(?:[-+*/|]?=|:=|=>) ?\S|\s*[\w.]+\(.*\)\s*$|</?\w+"
)
ENDS_OF_CODE = (";", "{", "}")

UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffd]")
UNPRINTABLE_SHARE = 0.05
ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:(?:[A-Za-z0-9+/_-]{60,}\r?\n){3,}[A-Za-z0-9+/_-]*|[A-Za-z0-9+/_-]{256,})={0,2}"
)
"""Base64 and hexadecimal digits: wrapped lines, or one long run."""
ENCODED_SHARE, MIN_SIGNS = 0.5, 6
HEXADECIMAL = re.compile(r"[0-9a-fA-F\s]+")
"""A rule of zeros is no encoding: it has few different characters."""


def extract(text: str, kind: str = "text") -> Extraction:
    """Return the lines of any text, as an excerpt; of a blank one none.

    Those of a source that define something have more weight: readers missed the names of functions
    and types that they had written more than lines of them.
    """
    if not text.strip():
        return Extraction("empty", "empty", ())
    total = lines_in(text)
    summary = f"{counted(total, 'line')}, {counted(len(text), 'character')}"
    data = {"lines": total, "characters": len(text)}

    def read() -> Iterator[EntryLine]:
        body = text
        if kind == "binary":  # the text around encoded bytes, which end as many lines as they did
            readable = UNPRINTABLE.sub("", text)
            body = ENCODED.sub(lambda run: "…" + "\n" * run[0].count("\n"), readable)
        rows = rows_of(body)
        named = list(definitions([row.text for row in rows])) if kind == "code" else []
        outer = min((line.depth for line in named), default=0)
        weights = {rows[line.at].number: OUTER if line.depth == outer else INNER for line in named}
        for line in excerpt(rows):
            weight = max(line.weight, weights.get(line.number or 0, 0.0))
            yield line if weight == line.weight else replace(line, weight=weight)

    return Extraction(kind, summary, LaterLines(read), data, (f"lines=[1, {total}]",))


def is_diff(text: str) -> float:
    """Return how surely a text is a diff or a patch."""
    sample = text[:SAMPLE_CHARACTERS]
    first = DIFF_SIGNS.search(sample) if any(word in sample for word in DIFF_WORDS) else None
    if first is None:
        return 0.0
    lines = sample[first.start() :].split("\n")
    inside = sum(line[:1] in "+-@ " or line.startswith(DIFF_HEADS) for line in lines) / len(lines)
    before = first.start() / max(1, len(sample))
    return max(0.0, inside - BEFORE_DIFF * before) if inside > DIFF_SHARE else LOOSE_DIFF


def is_prose(text: str) -> float:
    """Return how surely a text is prose in any language: sentences, or Markdown."""
    sample = text[:SAMPLE_CHARACTERS]
    outside = FENCED.sub("", sample) if "```" in sample else sample
    lines = [line[:LINE_CHARACTERS] for line in outside.split("\n") if line.strip()][:SAMPLE_LINES]
    likeness = 0.0
    for line in lines:
        is_code = line.rstrip().endswith(ENDS_OF_CODE) or CODE.match(line) is not None
        if SENTENCE.match(line.strip(" \t>*_#-•\"“'‘(|")):
            likeness += PROSE.sentence_of_code if is_code else 1.0
        elif MARKDOWN.match(line):
            likeness += PROSE.markdown
        else:
            likeness += PROSE.code if is_code else PROSE.other
    return max(0.0, min(MAX_CONFIDENCE, likeness / max(1, len(lines))))


def is_binary(text: str) -> float:
    """Return how surely a text is bytes, as they are or encoded."""
    sample = text[:SAMPLE_CHARACTERS]
    unprintable = len(UNPRINTABLE.findall(sample)) / max(1, len(sample))
    if unprintable >= UNPRINTABLE_SHARE:
        return MAX_CONFIDENCE
    both_ends = sample + text[SAMPLE_CHARACTERS:][-SAMPLE_CHARACTERS:]
    runs = (run[0] for run in ENCODED.finditer(both_ends))
    encoded = 0
    for run in runs:  # long names and paths without a digit are read, not hidden
        is_mixed = all(any(map(test, run)) for test in (str.islower, str.isupper, str.isdigit))
        is_hex = len({*run}) >= MIN_SIGNS and HEXADECIMAL.fullmatch(run)
        encoded += len(run) if is_mixed or is_hex else 0
    share = encoded / max(1, len(both_ends))
    return min(MAX_CONFIDENCE, share) if share > ENCODED_SHARE else 0.0


# Logs, test runs, stack traces and the output of builds


STAMP = re.compile(r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\b\d\d:\d\d:\d\d")
LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL)\b")
STAMPED_CHARACTERS = 60
"""Stamps and levels are in the first characters of a line."""
LIST_SIGNS = ("-", "*", "|", "#")
"""Notes and tables have stamps too."""
PROGRESS = re.compile(
    r"\[ *\d+(?:/\d+|%)\]|(?:PASS(?:ED)?|FAIL|SKIPPED|XFAIL|ok|✓|✔)\b|\? +\t"
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
"""How much surer an anchor makes it."""
HEAD_CHARACTERS, TAIL_CHARACTERS = 30_000, 10_000
LOG_LINES, LOG_CHARACTERS = 250, 240
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


def extract_log(text: str) -> Extraction:
    """Return the lines of a log, of which few failures stay with the line below and the frame above.

    They have the reason and the place.
    """
    found = extract(text, "log")

    def with_failures() -> Sequence[EntryLine]:
        lines = found.lines
        failed = {at for at, line in enumerate(lines) if says_failure(line.text)}
        if len(failed) > MAX_FAILURES:
            return lines
        kept = failed | {at + 1 for at in failed}
        for at in failed:  # a frame of Python has two lines, or three with the marks below its code
            above = (
                start for start in (at - 2, at - 3) if start >= 0 and FRAME.match(lines[start].text)
            )
            kept.update(range(next(above, at), at))
        return [replace(line, keep=True) if at in kept else line for at, line in enumerate(lines)]

    return replace(found, lines=LaterLines(with_failures))


def is_log(text: str) -> float:
    """Return how surely a text is a log, by the lines that read as one of a log."""
    tail = f"\n{text[HEAD_CHARACTERS:][-TAIL_CHARACTERS:]}" if len(text) > HEAD_CHARACTERS else ""
    sample = text[:HEAD_CHARACTERS] + tail
    lines = [line[:LOG_CHARACTERS] for line in sample.split("\n") if line.strip()]
    half = LOG_LINES // 2
    lines = lines[:half] + lines[half:][-half:]
    if len(lines) < 2:
        return 0.0
    likeness = 0
    for line in lines:  # errors are mentioned in any text: they count only where a run prints them
        opening = line[:STAMPED_CHARACTERS]
        is_printed = PROGRESS.match(line) or OUTCOME.search(line) or FRAME.match(line)
        is_stamped = STAMP.search(opening) and not line.lstrip().startswith(LIST_SIGNS)
        likeness += bool(is_printed or is_stamped or LEVEL.search(opening))
    anchored = ANCHORED if ANCHORS.search(sample) else 0.0
    return min(1.0, likeness / len(lines) + anchored) if likeness else anchored / 2


# The message of a failed tool, whole in its entry whatever the kind of content


def message_of(text: str) -> list[str]:
    """Return the first line, those with a word of failure, and the last.

    Of a long one it is the start, the end, and the words around the last status code, or else the
    last word of failure: what a message echoes of a call comes before.
    """
    printed = text[:SCANNED_CHARACTERS].splitlines()
    lines = [without_rules(line).strip() for line in printed if line.strip()]
    telling = [
        line
        for line in lines[1:-1]
        if SAYS_SO.search(line[:MESSAGE_CHARACTERS]) and not PASSED.search(line[:OPENING])
    ]
    message: list[str] = []
    for line in dict.fromkeys((*lines[:1], *telling[: MAX_LINES - 2], *lines[-1:])):
        if len(line) <= MESSAGE_CHARACTERS:
            message.append(line)
            continue
        end = len(line) - ENDING
        found = [*STATUS.finditer(line, OPENING, end)] or [*SAYS_SO.finditer(line, OPENING, end)]
        start = max(OPENING, found[-1].start() - BEFORE) if found else end
        parts = line[:OPENING], line[start : min(end, start + BEFORE + BEHIND)], line[end:]
        message.append(" … ".join(filter(None, parts)))
    return message
