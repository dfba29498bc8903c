"""Listings: files and folders, commits, and search hits, which keep their file and line.

Decided from the lines themselves; no tool's name decides, and no path is opened.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.indexing import plain
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    TextRow,
    counted,
    ends_of,
    excerpt,
)

SAMPLE_CHARACTERS, SAMPLE_LINES, LINE_CHARACTERS = 20_000, 120, 600
MIN_SHARE = 0.6
MIN_NAMED_SHARE = 0.25
"""The share of paths with a folder or an ending; bare words are any program's output."""
FILE_SHARE = 0.7
"""From this share of numbers that follow each other on, numbered lines are of a file."""
STATUS_OPENINGS = ("On branch ", "HEAD detached ")
"""The first line of a working tree's state, which is no source."""

LONG = re.compile(
    r"[-dlbcps][rwxsStT-]{9}[.+@]? +\d+ +\S+ +(?:\S+ +)??\d[\d.,]*[KMGTP]? +"
    r"(?:[^\W\d_]{3,5}\.? +\d+ +[\d:]+|\d{4}-\d\d-\d\d(?: [\d:.]+(?: [+-]\d{4})?)?|\d+ [^\W\d_]{3,5}\.? +[\d:]+)"
    r" +.+|total .*|(?=.*/)[^\s:][^:]{0,300}:"
)
"""A line of `ls -l`, its total, or the heading of a folder."""
TREE = re.compile(
    r"[ \u00a0│|]*+(?:[├└][─\u2500]{2,3}|[|`+\\]-{2,3}) ?.+|(?:total \d|\d+ director(?:y|ies)\b).*|\."
)
WEIGHED = re.compile(r"^\d[\d.]*[KMGT]?B?\t(?=\S)")
PATH = re.compile(
    r"(?:\./|\.\./|~/|/|[A-Za-z]:[\\/])?[\w.@+~%$()\[\]{},=#&!-]+(?:[\\/][\w.@+~%$()\[\]{},=#&! -]+)*/?"
)
NAMED = re.compile(r"[\w@)\]}]\.[A-Za-z0-9]{1,10}$|/|^\.\w|^[A-Z][A-Za-z]*$|^[\w.-]+$")
SUFFIX = re.compile(r"\w\.[A-Za-z0-9]{1,10}$")
COMMIT = re.compile(r"[*|\\/ ]{0,20}commit [0-9a-f]{7,64}(?: \([^)]*\))?\s*")
COMMIT_LINE = re.compile(
    r"(?!\^?[0-9a-f]{7,40} [^\n]{0,200}?\d{4}-\d\d-\d\d [\d:]{8} [+-]\d{4} +\d+\) )"  # `git blame`
    r"[*|\\/ ]{0,20}(?=[0-9a-f]*\d)[0-9a-f]{7,40} \S.*"
)

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
FIRST, OTHER, AROUND = 2.5, 1.5, 0.15
"""Weights of the first hit of a file, of its others, of a line around one."""


def recognises(text: str) -> float:
    """Return how surely a text is a listing."""
    return _form(text)[1]


def extract(text: str) -> Extraction | None:
    """Return the hits of a search, or the lines of another listing."""
    form, _ = _form(text)
    if form not in ("hits", "headed hits"):
        kind = {"log": "commits", "status": "text"}.get(form, "listing")
        return plain.extract(text, kind) if form else None
    printed = (line for line in text.split("\n") if line.strip("- "))
    found = list(_below_files(printed) if form == "headed hits" else map(_located, printed))
    counts = Counter(hit.path for hit in found if hit.mark == ":")
    lines: list[EntryLine] = []
    for _, inside in itertools.groupby(ends_of(found), key=lambda hit: hit.path):
        lines += _file_lines(list(inside))
    files = f" in {len(counts):,} files" if len(counts) > 1 else ""
    summary = counted(counts.total(), "hit") + files
    data = {"hits": counts.total(), "files": len(counts)}
    # No range of lines: the numbers in the entry are those of the files, not of the output.
    return Extraction("hits", summary, tuple(lines), data, unit="hits")


def _form(text: str) -> tuple[str, float]:
    """Return the form that most lines of a sample have, and their share."""
    lines = [line.rstrip() for line in text[:SAMPLE_CHARACTERS].split("\n") if line.strip()]
    sample = [line[:LINE_CHARACTERS] for line in lines[:SAMPLE_LINES]]
    if len(text) > SAMPLE_CHARACTERS and len(sample) > 1 and len(lines) <= SAMPLE_LINES:
        sample = sample[:-1]
    if len(sample) < 2:
        return "", 0.0
    if COMMIT.fullmatch(sample[0]):
        return ("", 0.0) if plain.is_diff(text) else ("log", 1.0)
    if sample[0].startswith(STATUS_OPENINGS):
        return "status", 1.0
    shares = {
        form: sum(map(is_of, sample)) / len(sample) if _may_be(form, sample) else 0.0
        for form, is_of in FORMS.items()
    }
    best = max(shares, key=lambda form: shares[form])
    return (best, shares[best]) if shares[best] >= MIN_SHARE else ("", 0.0)


def _may_be(form: str, sample: list[str]) -> bool:
    """Return whether a sample as a whole can be of a form."""
    if form == "headed hits":
        found = [match for line in sample if (match := NUMBERED.fullmatch(line))]
        has_hit = any(match["mark"] == ":" for match in found)  # a date has none
        numbers = [int(match["line"]) for match in found]
        steps = sum(after == before + 1 for before, after in itertools.pairwise(numbers))
        # Lines in a row without one around a hit are a file with its numbers, and no search.
        is_file = all(match["mark"] != "-" for match in found) and steps > FILE_SHARE * len(found)
        return has_hit and len(found) >= MIN_NAMED_SHARE * len(sample) and not is_file
    if form == "hits":
        return any(map(HIT.fullmatch, sample))
    if form == "paths":
        commas = {line.count(",") for line in sample}
        if len(commas) == 1 and commas != {0}:  # a decimal looks like an ending
            return False
        named = sum("/" in line or SUFFIX.search(line) is not None for line in sample)
        return named >= MIN_NAMED_SHARE * len(sample)
    return True


def _is_hit(line: str) -> bool:
    """Return whether a line reads as a hit with its file and line, or as one around a hit."""
    match = HIT.fullmatch(line)
    if match and (match["line"] or "/" in match["path"]):
        return not ERROR.search(line)
    return CONTEXT.fullmatch(line) is not None or line == "--"


def _is_path(line: str) -> bool:
    """Return whether a line is a path or a file's name, with or without its weight."""
    name = WEIGHED.sub("", line)
    return "://" not in name and bool(PATH.fullmatch(name) and NAMED.search(name))


FORMS: dict[str, Callable[[str], bool]] = {
    "long": lambda line: LONG.fullmatch(line) is not None,
    "tree": lambda line: TREE.fullmatch(line) is not None,
    "log": lambda line: COMMIT_LINE.fullmatch(line) is not None,
    "paths": _is_path,
    "hits": _is_hit,
    "headed hits": lambda line: (
        bool(NUMBERED.fullmatch(line) or HEADING.fullmatch(line)) or line == "--"
    ),
}
"""How the lines of each form are recognised; of two with an equal share the earlier one is taken."""


class _Hit(NamedTuple):
    """A line that a search printed."""

    path: str
    number: int
    """In its file, from 1; 0 where the search printed none."""
    text: str
    mark: str
    """What follows path and number: `:` of a hit, `-` of a line around one; empty for a notice."""


def _located(line: str) -> _Hit:
    """Return a line of a search that names the file in every line."""
    hit = HIT.fullmatch(line)
    around = None if hit and hit["line"] else CONTEXT.fullmatch(line)
    match = around or hit
    if match is None:
        return _Hit("", 0, line, "")
    return _Hit(match["path"], int(match["line"] or 0), match["text"], "-" if around else ":")


def _below_files(printed: Iterator[str]) -> Iterator[_Hit]:
    """Yield the lines of a search that names a file above its hits, or none."""
    path = ""
    for line in printed:
        if match := NUMBERED.fullmatch(line):
            yield _Hit(path, int(match["line"]), match["text"], match["mark"])
        elif HEADING.fullmatch(line):
            path = line.removeprefix("File: ").removesuffix(":")
        else:
            yield _Hit(path, 0, line, "")


def _file_lines(inside: Sequence[_Hit]) -> Iterator[EntryLine]:
    """Yield the lines of one file; the first hit weighs more than the others."""
    by_number = {hit.number: hit for hit in reversed(inside)}
    first = next((hit.number for hit in inside if hit.mark == ":"), -1)

    def weight(row: TextRow) -> float:
        is_around = by_number[row.number].mark == "-"
        return FIRST if row.number == first else AROUND if is_around else OTHER

    rows = [TextRow(hit.number, hit.text) for hit in inside if hit.text.strip()]
    for line in excerpt(rows, weight):
        path, number, _, mark = by_number[line.number or 0]
        place = f"{path}{mark if path else ''}{f'{number}{mark}' if number else ''}"
        text = f"{place} {line.text.strip()}".lstrip()
        yield replace(line, text=text, number=None, keep=line.keep and not mark, count=mark == ":")
