"""Long extractions made bounded: the heaviest lines stay, runs of the others become counts. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Container, Sequence
from dataclasses import replace

from hippocampus.indexing.extraction import EntryLine

MOST_LINES = 2_000
"""An extraction needs no more: an entry holds some hundred lines at the most."""
LIGHT = 0.01
"""The weight of a line that replaces dropped ones."""


def put(lines: list[EntryLine], line: EntryLine) -> int:
    """Append a line and return its number, for those that name it as their parent."""
    lines.append(line)
    return len(lines) - 1


def thinned(lines: Sequence[EntryLine], most: int = MOST_LINES) -> tuple[EntryLine, ...]:
    """Return about `most` lines, the heaviest with their parents, the rest as counts.

    A run of dropped lines becomes one light line with the count of all of them.
    """
    if len(lines) <= most:
        return tuple(lines)
    wanted = set(heapq.nlargest(most, range(len(lines)), key=lambda at: (lines[at].weight, -at)))
    wanted.update(at for at, line in enumerate(lines) if line.keep)
    for at in sorted(wanted):
        _want_parents(lines, at, wanted)
    return tuple(only(lines, wanted))


def _want_parents(lines: Sequence[EntryLine], at: int, wanted: set[int]) -> None:
    parent = lines[at].parent
    while parent is not None and parent not in wanted:
        wanted.add(parent)
        parent = lines[parent].parent


def only(lines: Sequence[EntryLine], wanted: Container[int]) -> list[EntryLine]:
    """Return the lines of some numbers, with counts in place of the others; their parents must be among them."""
    kept: list[EntryLine] = []
    places: dict[int, int] = {}
    dropped = 0
    for at, line in enumerate(lines):
        if at not in wanted:
            dropped += line.count
            continue
        if dropped:
            kept.append(_gap(dropped))
            dropped = 0
        moved = line if line.parent is None else replace(line, parent=places[line.parent])
        places[at] = put(kept, moved)
    return [*kept, _gap(dropped)] if dropped else kept


def _gap(dropped: int) -> EntryLine:
    return EntryLine(f"… {dropped:,} more", LIGHT, count=dropped)
