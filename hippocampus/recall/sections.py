"""Sections by their heading, in Markdown, HTML and page snapshots. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import NamedTuple

from hippocampus.recall.fitting import NumberedLine

HEADING = re.compile(
    r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S[^\n]{0,300})$"
    r"|<h(?P<level>[1-6])\b[^<>]{0,500}>(?P<inner>(?:(?!<h[1-6])[^\n]){0,500}?)</h(?P=level)>"
    r"|^[ \t]*(?:- )?(?:\S{1,12} )?heading \"(?P<named>[^\"\n]{1,300})\"(?P<state>[^\n]{0,200})",
    re.MULTILINE | re.IGNORECASE,
)
"""Each alternative stops at the start of another heading, which keeps the search linear."""
LEVEL = re.compile(r"level=\"?(\d)")
TAG = re.compile(r"<[^>]{0,500}>")


class Heading(NamedTuple):
    """One heading: its position, its level and its title."""

    start: int
    level: int
    title: str


@functools.lru_cache(maxsize=2)
def _headings(text: str) -> list[Heading]:
    found = []
    for match in HEADING.finditer(text):
        if match["marks"]:
            level, title = len(match["marks"]), match["title"].strip("# \t")
        elif match["level"]:
            level, title = int(match["level"]), " ".join(TAG.sub("", match["inner"]).split())
        else:
            named = LEVEL.search(match["state"])
            level, title = int(named[1]) if named else 2, match["named"]
        found.append(Heading(match.start(), level, title))
    return found


def names(text: str) -> Sequence[str]:
    """Return the titles, those of upper levels first."""
    return [each.title for each in sorted(_headings(text), key=lambda heading: heading.level)]


def find(text: str, path: str) -> list[NumberedLine]:
    """Return the section below the heading with this title, or one that starts with it."""
    wanted = " ".join(path.strip().strip("#").split()).casefold()
    found = _headings(text)
    titles = [each.title.casefold() for each in found]
    if not wanted:
        return []
    at = next((at for at, title in enumerate(titles) if title == wanted), None)
    if at is None:
        at = next((at for at, title in enumerate(titles) if title.startswith(wanted)), None)
    if at is None:
        return []
    behind = (each.start for each in found[at + 1 :] if each.level <= found[at].level)
    return lines_of(text, found[at].start, next(behind, len(text)))


def indent_of(line: str) -> int:
    """Return how many blanks a line begins with."""
    return len(line) - len(line.lstrip())


def lines_of(text: str, start: int, end: int) -> list[NumberedLine]:
    """Return the lines of a part of a text, numbered as in the whole."""
    first = text.count("\n", 0, start) + 1
    lines = text[start:end].rstrip().split("\n")
    return [NumberedLine(number, line) for number, line in enumerate(lines, start=first)]
