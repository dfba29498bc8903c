"""Rows and columns of a text table, by `rows[3]`, `rows[3].name` and `columns.name`. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from hippocampus.indexing.tables.grids import Grid, grid_of
from hippocampus.recall.fitting import NumberedLine

PATH = re.compile(
    r"rows\[(?P<row>-?\d{1,9})\](?:\.(?P<cell>.+)|\[[\"'](?P<quoted>.+)[\"']\])?"
    r"|columns(?:\.(?P<column>.+)|\[[\"'](?P<named>.+)[\"']\])"
)


@functools.lru_cache(maxsize=2)
def _grid(text: str) -> Grid | None:
    return grid_of(text)


def find(text: str, path: str) -> list[NumberedLine]:
    """Return a row as `name: cell` lines, or a column's cells numbered by row, from 0."""
    match = PATH.fullmatch(path.strip())
    grid = _grid(text) if match else None
    if match is None or grid is None:
        return []
    if match["row"] is not None:
        return _row(grid, int(match["row"]), match["cell"] or match["quoted"])
    return _column(grid, match["column"] or match["named"])


def names(text: str) -> Sequence[str]:
    """Return the paths that exist."""
    grid = _grid(text) if "\n" in text else None
    if grid is None:
        return ()
    return (f"rows[0] to rows[{len(grid.rows) - 1}]", *(f"columns.{name}" for name in grid.header))


def _row(grid: Grid, number: int, cell: str | None) -> list[NumberedLine]:
    if not -len(grid.rows) <= number < len(grid.rows):
        return []
    pairs = zip(grid.header, grid.rows[number], strict=False)
    return [
        NumberedLine(0, f"{name}: {value.strip()}") for name, value in pairs if cell in (None, name)
    ]


def _column(grid: Grid, name: str) -> list[NumberedLine]:
    if name not in grid.header:
        return []
    at = list(grid.header).index(name)
    return [
        NumberedLine(0, f"[{number}] {row[at].strip()}")
        for number, row in enumerate(grid.rows)
        if at < len(row)
    ]
