"""What extractors write lines with: cut, count, pack items into lines, keep the heaviest lines.

Pure; which lines an entry has is decided in `select`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hippocampus.indexing.extraction import NUMBER, EntryLine, Extraction

LINE_CHARACTERS = 110
"""How long a line of packed items may grow: about 30 tokens."""
SPACES = re.compile(r"\s+")


def cut(text: str, characters: int) -> str:
    """Return a text on one line, cut between words where it is longer."""
    flat = SPACES.sub(" ", text[: 4 * characters]).strip()
    if len(flat) <= characters:
        return flat
    end = flat.rfind(" ", 0 if flat.isascii() else characters * 2 // 3, characters + 1)
    return f"{flat[: end if end > 0 else characters]}…"


def packed(  # noqa: PLR0913 — what a line may have
    items: Iterable[str],
    label: str = "",
    *,
    weight: float = 1.0,
    parent: int | None = None,
    count: int = 1,
    unit: str = "",
    characters: int = LINE_CHARACTERS,
) -> list[EntryLine]:
    """Return lines that hold the items one after the other; every line opens with the label."""
    groups: list[list[str]] = []
    size = 0
    for item in items:
        if not groups or size + len(item) > characters:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += len(item) + 2
    lines: list[EntryLine] = []
    for group in groups:
        opening = f"{label}: " if label.strip() else label
        text = opening + ", ".join(group)
        lines.append(EntryLine(text, weight, parent=parent, count=count * len(group), unit=unit))
    return lines


def with_lines_before(extraction: Extraction, lines: Sequence[EntryLine]) -> Extraction:
    """Return an extraction that opens with more lines."""
    later = (
        replace(line, parent=None if line.parent is None else line.parent + len(lines))
        for line in extraction.lines
    )
    return replace(extraction, lines=(*lines, *later))


def numbered_from(first: int, lines: Iterable[EntryLine]) -> Iterator[EntryLine]:
    """Yield lines of a part of a file with their numbers in the file; at 0, which is not known, with none.

    A place in a list stays as it is.
    """
    for line in lines:
        if line.number is None or line.form != NUMBER:
            yield line
        elif first:
            yield replace(line, number=line.number + first - 1)
        else:
            yield replace(line, form="")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 link`, `12 links`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def lines_in(text: str) -> int:
    """Return how many lines a text has; an end of line at its end begins none."""
    return text.count("\n") + (not text.endswith("\n"))
