"""Parts of a JSON value, and rows and columns of a text table, by path. Pure.

Errors name the keys that exist.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from hippocampus.entries.text import storable
from hippocampus.errors import RecallError
from hippocampus.formats.json_paths import at_path, reached
from hippocampus.indexing.tables.grids import Grid, grid_of
from hippocampus.recall.fitting import NumberedLine, numbered

ROWS = re.compile(r"(?P<what>rows|columns)(?P<rest>(?:[.\[].*)?)")
IN_TABLE = re.compile(
    r"rows\[(?P<row>-?\d{1,9})\](?:\.(?P<cell>.+)|\[[\"'](?P<quoted>.+)[\"']\])?"
    r"|columns(?:\.(?P<column>.+)|\[[\"'](?P<named>.+)[\"']\])"
)
MAX_KEYS = 20
MAX_CHARACTERS = 100
"""The part of a path or a key that an error quotes: they may have any length."""


def find(value: dict[str, Any] | list[Any], path: str) -> Iterator[NumberedLine]:
    """Yield the lines of the value at a path; a list of records has `rows[n]` and `columns.name`.

    Raises:
        RecallError: the text is not a path, or does not exist; the error lists the existing keys.

    """
    steps = _of_records(value, path.strip()) or path
    try:
        found = at_path(value, steps)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    if not found:
        existing, there = reached(value, steps)
        place = existing[:MAX_CHARACTERS] or "$"
        keys = [key[:MAX_CHARACTERS] for key in there][:MAX_KEYS] if isinstance(there, dict) else []
        has = f"has the keys {', '.join(keys)}" if keys else "has nothing below it"
        if isinstance(there, list):
            has = f"is a list of {len(there)}; ask {existing[:MAX_CHARACTERS]}[0]"
        reason = f"{steps[:MAX_CHARACTERS]!r} does not exist: {place} {has}"
        raise RecallError("no_match", reason)
    return numbered(line for each in found for line in rendered(each).split("\n"))


def rendered(value: Any) -> str:
    """Return a part as text: a string unchanged, everything else as indented JSON."""
    text = value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)
    return storable(text)


def _of_records(value: dict[str, Any] | list[Any], path: str) -> str | None:
    """Return the JSON path of `rows[3]` or `columns.name`, unless a key has that name."""
    match = ROWS.fullmatch(path)
    if match is None or (isinstance(value, dict) and match["what"] in value):
        return None
    base = "$"
    if isinstance(value, dict):
        lists = (key for key, inner in value.items() if isinstance(inner, list))
        key = next(lists, None)
        base = f'$["{key}"]' if key is not None and '"' not in key else "$"
    return base + (match["rest"] if match["what"] == "rows" else f"[*]{match['rest']}")


@functools.lru_cache(maxsize=2)
def _grid(text: str) -> Grid | None:
    return grid_of(text)


def find_in_table(text: str, path: str) -> list[NumberedLine]:
    """Return a row as `name: cell` lines, or a column's cells numbered by row, from 0.

    Rows and columns are named `rows[3]`, `rows[3].name` and `columns.name`.
    """
    match = IN_TABLE.fullmatch(path.strip())
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


def names_in_table(text: str) -> Sequence[str]:
    """Return the paths that exist."""
    grid = _grid(text) if "\n" in text else None
    if grid is None:
        return ()
    return (f"rows[0] to rows[{len(grid.rows) - 1}]", *(f"columns.{name}" for name in grid.header))
