"""Search hits in their order, each with its file and line, and which files have most. Pure."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.indexing.excerpt import TextRow, ends_of, excerpt
from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, lines_in
from hippocampus.indexing.thin import thinned

DRIVE = r"[A-Za-z]:[\\/][^:\"'<>|\n]{1,290}"
HIT = re.compile(
    r"(?P<path>"
    + DRIVE
    + r"|(?=[^\s:\"'(){}<>,;=]{0,299}[./])(?!\w{1,9}://)[^\s:\"'(){}<>,;=]{2,300}):"
    r"(?:(?P<line>\d{1,7}):(?:\d{1,5}:(?=.))?)?(?P<text>.*)"
)
CONTEXT = re.compile(
    rf"(?P<path>{DRIVE}?|(?=[^\s:]{{0,299}}[./])[^\s:\"'(){{}}]{{2,300}}?)-(?P<line>\d{{1,7}})-(?P<text>.*)"
)
NUMBERED = re.compile(r" {0,4}(?:[Ll]ine |L)?(?P<line>\d{1,7})(?P<mark>[:-])(?P<text>.*)")
HEADING = re.compile(
    r"(?:File: )?(?:(?=[^\s]*[./])[\w./@+~\\()\[\]-]{2,300}|\.{0,2}/[^:\n]{1,290}\.\w{1,10}):?"
)
ERROR = re.compile(r"\b(?:error|warning)\b(?: \w+)?:", re.IGNORECASE)
MOST, FIRST, OTHER, AROUND = 6.0, 2.5, 1.5, 0.15
"""Weights of the files with most hits, of the first hit of a file, of its others, of a line around one."""
FEW_FILES, MOST_NAMED = 3, 5


class Found(NamedTuple):
    """A line that a search printed."""

    path: str
    number: int
    """In its file, from 1; 0 where the search printed none."""
    text: str
    mark: str
    """What stands behind path and number: `:` of a hit, `-` of a line around one; empty for a notice."""


def is_hit(line: str) -> bool:
    """Return whether a line reads as a hit with its file and line, or as one around a hit."""
    match = HIT.fullmatch(line)
    if match and (match["line"] or "/" in match["path"]):
        return not ERROR.search(line)
    return CONTEXT.fullmatch(line) is not None or line == "--"


def is_numbered(line: str) -> bool:
    """Return whether a line reads as a hit with its line only."""
    return NUMBERED.fullmatch(line) is not None or line == "--"


def is_headed(line: str) -> bool:
    """Return whether a line reads as a hit with its line only, or as the file above it."""
    return is_numbered(line) or HEADING.fullmatch(line) is not None


def write_hits(text: str, *, has_headings: bool) -> Extraction:
    """Return the extraction of search hits."""
    found = list(_headed(text) if has_headings else _located(text))
    counts = Counter(each.path for each in found if each.mark == ":")
    lines: list[EntryLine] = []
    if len(counts) > FEW_FILES and counts.total() > 2 * len(counts):
        most = ", ".join(f"{path} {count}" for path, count in counts.most_common(MOST_NAMED))
        lines.append(EntryLine(f"most in {most}", MOST, count=0))
    for _, inside in itertools.groupby(ends_of(found), key=lambda each: each.path):
        lines += _file_lines(list(inside))
    files = f" in {len(counts):,} files" if len(counts) > 1 else ""
    summary = counted(counts.total(), "hit") + files
    data = {"hits": counts.total(), "files": len(counts)}
    selectors = (f"lines=[1, {lines_in(text)}]",)
    return Extraction("hits", summary, thinned(lines), data, selectors, "hits")


def _located(text: str) -> Iterator[Found]:
    """Yield the lines of a search that names the file in each."""
    for line in _printed(text):
        hit = HIT.fullmatch(line)
        around = None if hit and hit["line"] else CONTEXT.fullmatch(line)
        match = around or hit
        if match:
            number = int(match["line"] or 0)
            yield Found(match["path"], number, match["text"], "-" if around else ":")
        else:
            yield Found("", 0, line, "")


def _headed(text: str) -> Iterator[Found]:
    """Yield the lines of a search that names a file above its hits, or none."""
    path = ""
    for line in _printed(text):
        if match := NUMBERED.fullmatch(line):
            yield Found(path, int(match["line"]), match["text"], match["mark"])
        elif HEADING.fullmatch(line):
            path = line.removeprefix("File: ").removesuffix(":")
        else:
            yield Found(path, 0, line, "")


def _printed(text: str) -> Iterator[str]:
    return (line for line in text.split("\n") if line.strip("- "))


def _file_lines(inside: Sequence[Found]) -> Iterator[EntryLine]:
    """Yield the lines of one file; the first hit weighs more than the others."""
    by_number = {each.number: each for each in reversed(inside)}
    first = next((each.number for each in inside if each.mark == ":"), -1)

    def weight(row: TextRow) -> float:
        is_around = by_number[row.number].mark == "-"
        return FIRST if row.number == first else AROUND if is_around else OTHER

    rows = [TextRow(each.number, each.text) for each in inside if each.text.strip()]
    for line in excerpt(rows, weight, has_statements=False):
        path, number, _, mark = by_number[line.number or 0]
        place = f"{path}{mark if path else ''}{f'{number}{mark}' if number else ''}"
        text = f"{place} {line.text.strip()}".lstrip()
        yield replace(line, text=text, number=None, keep=line.keep and not mark, count=mark == ":")
