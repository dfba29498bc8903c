"""Small things that every extractor writes lines with: cut, count, and pack many items in a line.

Pure text; which lines stand is not decided here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hippocampus.indexing.extraction import EntryLine

LINE_CHARACTERS = 110
"""How long a line of packed items may grow: about 30 tokens."""
RANK, LEAST_RANK = 0.8, 0.3
"""What each next line of a sorted list weighs of the one before, and the last of the first."""
SPACES = re.compile(r"\s+")
UNEVEN = re.compile(r"[^\S ]|  ")


def clip(text: str, most: int) -> str:
    """Return a text on one line of at most `most` characters, cut at a space where there is one.

    Languages without spaces are cut between characters.
    """
    flat = " ".join(text[: 4 * most].split())
    if len(flat) <= most:
        return flat
    gap = flat.rfind(" ", most * 2 // 3, most)
    return flat[: gap if gap > 0 else most] + "…"


def cut(text: str, characters: int) -> str:
    """Return a text on one line, cut at a word's end (so that no identifier is halved)."""
    if len(text) <= characters and not UNEVEN.search(text):
        return text.strip()
    flat = SPACES.sub(" ", text[: 4 * characters]).strip()
    if len(flat) <= characters:
        return flat
    whole, _, _ = flat[: characters + 1].rpartition(" ")
    if not whole and not flat.isascii():
        whole = flat[:characters]
    return f"{whole}…"


def packed(  # noqa: PLR0913 — what a line may have
    items: Iterable[str],
    label: str = "",
    *,
    weight: float = 1.0,
    parent: int | None = None,
    count: int = 1,
    characters: int = LINE_CHARACTERS,
    at: int | None = None,
) -> list[EntryLine]:
    """Return lines that hold the items one after the other, each line opening with the label.

    Where `at` is the number that the first of them will have in its extraction, only that one has the
    label, and the others follow it as its children.
    """
    lines: list[EntryLine] = []
    held: list[str] = []
    size = 0
    for item in items:
        if held and size + len(item) > characters:
            lines.append(_line(label, held, weight, parent, count))
            if at is not None:
                label, parent = " ", at
            held, size = [], 0
        held.append(item)
        size += len(item) + 2
    if held:
        lines.append(_line(label, held, weight, parent, count))
    return lines


def _line(label: str, held: list[str], weight: float, parent: int | None, count: int) -> EntryLine:
    joined = ", ".join(held)
    opening = f"{label}: " if label.strip() else label
    return EntryLine(opening + joined, weight, parent=parent, count=count * len(held))


def ranked(lines: Iterable[EntryLine]) -> Iterator[EntryLine]:
    """Yield lines that are sorted by what they are worth, so that the first are taken first."""
    for at, line in enumerate(lines):
        yield replace(line, weight=line.weight * max(LEAST_RANK, RANK**at))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 link`, `12 links`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def most_common(values: Iterable[str], most: int = 5) -> str:
    """Return the most frequent values with their counts: `.py 12, .md 3`, and how many others."""
    counts = Counter(values)
    shown = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    rendered = ", ".join(f"{value} {number}" for value, number in shown[:most])
    return f"{rendered}, {len(shown) - most} others" if len(shown) > most else rendered


def lines_in(text: str) -> int:
    """Return how many lines a text has; an end of line at its end begins none."""
    return text.count("\n") + (not text.endswith("\n"))
