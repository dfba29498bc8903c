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
        number, cell = int(match["row"]), match["cell"] or match["quoted"]
        if not -len(grid.rows) <= number < len(grid.rows):
            return []
        pairs = zip(grid.header, grid.rows[number], strict=False)
        named = [(name, value) for name, value in pairs if cell in (None, name)]
        return [NumberedLine(0, f"{name}: {value.strip()}") for name, value in named]
    column = match["column"] or match["named"]
    if column not in grid.header:
        return []
    at = list(grid.header).index(column)
    cells = [(number, row[at]) for number, row in enumerate(grid.rows) if at < len(row)]
    return [NumberedLine(0, f"[{number}] {cell.strip()}") for number, cell in cells]


def names(text: str) -> Sequence[str]:
    """Return the paths that exist."""
    grid = _grid(text) if "\n" in text else None
    if grid is None:
        return ()
    return (f"rows[0] to rows[{len(grid.rows) - 1}]", *(f"columns.{name}" for name in grid.header))
