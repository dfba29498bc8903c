"""Listings: files and folders, search hits, commits.

Decided from the lines themselves; no tool's name decides, and nothing is opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise, takewhile

from hippocampus.indexing import diffs, plain
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    ExtractionContext,
    with_lines_before,
)
from hippocampus.indexing.lines import clip
from hippocampus.indexing.listings import files, git, hits
from hippocampus.indexing.listings.folding import write_files
from hippocampus.indexing.templates import alike

__all__ = ["extract", "is_search", "recognises"]

BEHIND, MOST_BEHIND = 1.0, 6
BEHIND_CHARACTERS, BEHIND_CLIPPED = 2_000, 160
SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 120
LEAST_SHARE = 0.6
STATUS_OPENINGS = ("On branch ", "HEAD detached ")
"""The first line of a working tree's state, which is no source and stands as its own lines."""
LEAST_NAMED = 0.25
"""The share of paths with a folder or an ending; bare words are any program's output."""


def recognises(text: str) -> float:
    """Return how sure it is, from 0 to 1, that a text is a listing."""
    return _form(text)[1]


def is_search(text: str) -> bool:
    """Return whether a text is hits below the names of their files."""
    return _form(text)[0] == "headed hits"


def extract(text: str, context: ExtractionContext) -> Extraction | None:  # noqa: ARG001 — the shape of an extractor
    """Return the extraction of a listing, or nothing where a text is none."""
    form, _ = _form(text)
    if form in files.READERS:
        found = files.read_files(text, form)
        more = max(0, text.count("\n") + 1 - files.MOST_FILES)
        return _with_lines_around(write_files(found, more), text, form) if found else None
    if form == "log":
        return git.write_log(text)
    if form in HITS:
        return hits.write_hits(text, has_headings=form == "headed hits")
    return plain.extract(text, ExtractionContext()) if form else None


def _with_lines_around(extraction: Extraction, text: str, form: str) -> Extraction:
    """Return a listing with the line that opens it, and those behind it, as of a second command."""
    first = text.lstrip().partition("\n")[0].rstrip()
    if form == "paths" and files.ABOUT.fullmatch(first):
        said = EntryLine(clip(first, BEHIND_CLIPPED), BEHIND, count=0)
        extraction = with_lines_before(extraction, [said])
    ends = [line for line in text[-BEHIND_CHARACTERS:].split("\n") if line.strip()]
    behind = list(takewhile(lambda line: not FORMS[form](line.rstrip()), reversed(ends)))
    rows = [EntryLine(clip(line.strip(), BEHIND_CLIPPED), BEHIND, count=0) for line in behind[::-1]]
    return replace(extraction, lines=(*extraction.lines, *rows[-MOST_BEHIND:]))


def _form(text: str) -> tuple[str, float]:
    """Return the form that most lines of a sample have, and their share."""
    lines = [line.rstrip() for line in text[:SAMPLE_CHARACTERS].split("\n") if line.strip()]
    sample = [line[: files.LINE_CHARACTERS] for line in lines[:SAMPLE_LINES]]
    if len(text) > SAMPLE_CHARACTERS and len(sample) > 1 and len(lines) <= SAMPLE_LINES:
        sample = sample[:-1]
    if len(sample) < 2:
        return "", 0.0
    if git.COMMIT_LINE.fullmatch(sample[0]):
        return ("", 0.0) if diffs.recognises(text) else ("log", 1.0)
    if sample[0].startswith(STATUS_OPENINGS):
        return "status", 1.0
    forms = {form: rendered for form, rendered in FORMS.items() if _may_be(form, sample)}
    lines_alike = alike(sample)
    shares = {form: _share(lines_alike, rendered) for form, rendered in forms.items()}
    best = max(shares, key=lambda form: shares[form])
    return (best, shares[best]) if shares[best] >= LEAST_SHARE else ("", 0.0)


def _may_be(form: str, sample: list[str]) -> bool:
    """Return whether a sample as a whole can be of a form."""
    if form == "headed hits":
        found = [match for line in sample if (match := hits.NUMBERED.fullmatch(line))]
        has_hit = any(match["mark"] == ":" for match in found)  # a date has none
        return has_hit and len(found) >= LEAST_NAMED * len(sample) and not _follow(found)
    if form == "windows":  # a log has times, too, and neither folders nor modes
        found = [match for line in sample if (match := files.WINDOWS.fullmatch(line))]
        return any(match["mode"] or match["size"] == "<DIR>" for match in found)
    if form == "hits":
        return any(map(hits.HIT.fullmatch, sample))
    if form == "paths":
        commas = {line.count(",") for line in sample}
        if len(commas) == 1 and commas != {0}:  # a decimal looks like an ending
            return False
        named = sum("/" in line or files.SUFFIX.search(line) is not None for line in sample)
        return named >= LEAST_NAMED * len(sample)
    return True


def _share(sample: list[tuple[str, int]], rendered: Callable[[str], bool]) -> float:
    """Return the share of lines of a form; 0 as soon as it is under the least that counts.

    Lines of the sample that differ in their digits only come once, with their count.
    """
    others = 0
    total = sum(count for _, count in sample)
    most = (1 - LEAST_SHARE) * total
    for line, count in sample:
        if not rendered(line):
            others += count
            if others > most + 1:
                return 0.0
    return (total - others) / total


def _long(line: str) -> bool:
    heading = files.HEADING.fullmatch(line) and "/" in line
    return files.long_line(line) or bool(heading) or line.startswith("total ")


def _windows(line: str) -> bool:
    return files.windows_line(line) or files.WINDOWS_AROUND.match(line) is not None


def _tree(line: str) -> bool:
    return files.tree_line(line) or files.TOTAL.match(line) is not None or line == "."


def _follow(found: list[re.Match[str]]) -> bool:
    """Return whether the numbers of some lines follow each other: a file with numbers, no search."""
    numbers = [int(match["line"]) for match in found]
    steps = sum(1 for before, after in pairwise(numbers) if after == before + 1)
    return (
        len(numbers) > 2 and steps > 0.7 * len(numbers) and not any(m["mark"] == "-" for m in found)
    )


FORMS: dict[str, Callable[[str], bool]] = {
    "long": _long,
    "windows": _windows,
    "tree": _tree,
    "log": lambda line: git.ONE_LINE.fullmatch(line) is not None,
    "paths": files.path_line,
    "hits": hits.is_hit,
    "headed hits": hits.is_headed,
}
"""How the lines of each form are recognised; of two with an equal share the earlier one is taken."""
HITS = ("hits", "headed hits")
