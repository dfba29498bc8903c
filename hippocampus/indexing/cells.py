"""A record made flat, and how its cells stand in a line. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.indexing.shapes import shape_of

MOST_DEPTH = 8
CONTAINERS = frozenset({dict, list})
CELL_CHARACTERS = 60
LINE_CHARACTERS = 120
Cells = dict[str, Any]
"""A record made flat: dotted path to scalar."""


@dataclass(frozen=True, slots=True)
class FlatRecord:
    """A record as a table reads it."""

    cells: Cells
    lists: tuple[tuple[str, Sequence[Any]], ...]
    """The lists of records inside it, by path."""


def flat(record: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each scalar of a record, and of each list of records inside it."""
    if isinstance(record, dict) and depth < MOST_DEPTH:
        for key, value in record.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key), depth + 1)
    elif isinstance(record, list) and depth < MOST_DEPTH:
        if record and not any(isinstance(each, dict | list) for each in record):
            yield prefix, ", ".join(map(str, record[:8])) + ("…" if len(record) > 8 else "")
        elif len(record) == 1:
            yield from flat(record[0], prefix, depth + 1)
        elif record:
            yield prefix, record
    else:
        yield prefix, record


def read_row(record: Any) -> FlatRecord:
    """Return a record as a table reads it; one of scalars alone is flat already."""
    if isinstance(record, dict) and CONTAINERS.isdisjoint(map(type, record.values())):
        return FlatRecord(record, ())
    found = list(flat(record))
    cells = {path: value for path, value in found if not isinstance(value, list | dict)}
    lists = tuple((path, value) for path, value in found if isinstance(value, list))
    return FlatRecord(cells, lists)


def packed(items: Sequence[str], opening: str = "") -> Iterator[str]:
    """Yield lines of joined items behind an opening, none much over `LINE_CHARACTERS`."""
    line: list[str] = []
    size = len(opening)
    for item in items:
        if line and size + len(item) > LINE_CHARACTERS:
            yield opening + ", ".join(line)
            line, size = [], len(opening)
        line.append(item)
        size += len(item) + 2
    if line:
        yield opening + ", ".join(line)


def cell(value: Any) -> str:
    """Return a scalar as it stands in a line; identifiers whole, long words cut."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value)[: 4 * CELL_CHARACTERS]
    if not isinstance(value, int):
        text = " ".join(text.split())
    if len(text) <= CELL_CHARACTERS or shape_of(text) in ("id", "path", "url"):
        return text
    return text[: CELL_CHARACTERS - 1] + "…"


def short_names(paths: Sequence[str]) -> dict[str, str]:
    """Return for each path its last steps, as few as distinguish it from the others."""
    taken = Counter(ending(path, steps) for path in paths for steps in range(1, MOST_DEPTH))
    return {
        path: next(
            (
                ending(path, steps)
                for steps in range(1, MOST_DEPTH)
                if taken[ending(path, steps)] == 1 or ending(path, steps) == path
            ),
            path,
        )
        for path in paths
    }


def ending(path: str, steps: int) -> str:
    """Return the last steps of a dotted path."""
    return ".".join(path.split(".")[-steps:])
