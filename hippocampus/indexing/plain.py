"""Texts without an extractor of their own, as an excerpt: diffs, prose, bytes, unknown texts. Pure.

Their kinds are recognised, since a kind decides how long a text stays fresh.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import replace

from hippocampus.indexing.code import definitions
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    LaterLines,
    TextRow,
    counted,
    excerpt,
    lines_in,
    rows_of,
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

DATA_URL = re.compile(r"data:[a-z0-9.+-]{1,40}/[a-z0-9.+;=-]{1,99};base64,", re.IGNORECASE)
UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffd]")
UNPRINTABLE_SHARE = 0.05
ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:(?:[A-Za-z0-9+/_-]{60,}\r?\n){3,}[A-Za-z0-9+/_-]*|[A-Za-z0-9+/_-]{256,})={0,2}"
)
"""Base64 and hexadecimal digits: wrapped lines, or one long run."""
ENCODED_SHARE = 0.5


def extract(text: str, kind: str = "text") -> Extraction | None:
    """Return any text that is not blank as an excerpt; bytes have no line to read."""
    if not text.strip():
        return None
    total = lines_in(text)
    summary = f"{counted(total, 'line')}, {counted(len(text), 'character')}"
    data = {"lines": total, "characters": len(text)}
    lines = LaterLines(functools.partial(_lines_of, text, kind)) if kind != "binary" else ()
    return Extraction(kind, summary, lines, data, (f"lines=[1, {total}]",))


def _lines_of(text: str, kind: str) -> list[EntryLine]:
    rows = rows_of(text)
    lines = list(excerpt(rows))
    return _outlined(lines, rows) if kind == "code" else lines


def _outlined(lines: Sequence[EntryLine], rows: Sequence[TextRow]) -> list[EntryLine]:
    """Return the lines of a source, those that define something with more weight.

    Readers missed the names of functions and types that they had written more than lines of them.
    """
    found = {rows[line.at].number: line.depth for line in definitions([row.text for row in rows])}
    outer = min(found.values(), default=0)
    heads = {number: OUTER if depth == outer else INNER for number, depth in found.items()}
    return [
        replace(line, weight=weight)
        if (weight := heads.get(line.number or 0, 0.0)) > line.weight
        else line
        for line in lines
    ]


def is_diff(text: str) -> float:
    """Return how surely a text is a diff or a patch."""
    sample = text[:SAMPLE_CHARACTERS]
    first = DIFF_SIGNS.search(sample) if any(word in sample for word in DIFF_WORDS) else None
    if first is None:
        return 0.0
    lines = sample[first.start() :].split("\n")
    inside = sum(line[:1] in "+-@ " or line.startswith(DIFF_HEADS) for line in lines) / len(lines)
    before = first.start() / max(1, len(sample))
    return max(0.0, min(1.0, inside * 1.05) - 0.6 * before) if inside > 0.7 else 0.2


def is_prose(text: str) -> float:
    """Return how surely a text is prose in any language: sentences, or Markdown."""
    sample = text[:SAMPLE_CHARACTERS]
    outside = FENCED.sub("", sample) if "```" in sample else sample
    lines = [line[:LINE_CHARACTERS] for line in outside.split("\n") if line.strip()][:SAMPLE_LINES]
    likeness = 0.0
    for line in lines:  # one of code counts against it
        is_code = line.rstrip().endswith(ENDS_OF_CODE) or CODE.match(line) is not None
        if SENTENCE.match(line.strip(" \t>*_#-•\"“'‘(|")):
            likeness += 0.2 if is_code else 1.0
        elif MARKDOWN.match(line):
            likeness += 0.8
        else:
            likeness += -0.3 if is_code else 0.1
    return max(0.0, min(MAX_CONFIDENCE, likeness / max(1, len(lines))))


def is_binary(text: str) -> float:
    """Return how surely a text is bytes, as they are or encoded."""
    sample = text[:SAMPLE_CHARACTERS]
    if DATA_URL.match(sample.lstrip()):
        return MAX_CONFIDENCE
    unprintable = len(UNPRINTABLE.findall(sample)) / max(1, len(sample))
    if unprintable >= UNPRINTABLE_SHARE:
        return MAX_CONFIDENCE
    if "\x00" in sample[:1_000]:
        return 0.6
    both_ends = sample + text[SAMPLE_CHARACTERS:][-SAMPLE_CHARACTERS:]
    runs = (match[0] for match in ENCODED.finditer(both_ends))
    share = sum(len(run) for run in runs if _is_encoded(run)) / max(1, len(both_ends))
    return min(MAX_CONFIDENCE, share) if share > ENCODED_SHARE else 0.0


def _is_encoded(run: str) -> bool:
    """Return whether a run has letters of both cases and digits, or is hexadecimal."""
    sample = run[:SAMPLE_CHARACTERS]
    is_hex = re.fullmatch(r"[0-9a-fA-F\s]+", sample) is not None and len(set(sample)) > 5
    is_mixed = all(any(map(test, sample)) for test in (str.islower, str.isupper, str.isdigit))
    return is_hex or is_mixed
