"""Tables: CSV and its relatives, Markdown, and the boxed ones that databases print.

A table is read into columns with their types and ranges, and into terse rows. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted, cut
from hippocampus.indexing.tables.columns import TableColumn, columns_of
from hippocampus.indexing.tables.grids import SUREST, TRAILER, Grid, grid_of
from hippocampus.indexing.thin import LIGHT, put, thinned

__all__ = ["SUREST", "extract", "recognises"]

SAMPLE_CHARACTERS = 20_000
LEAST_ROWS = 2
MOST_ROWS = 1_500
"""Rows that are written one by one; of more, the first, the last and the outliers."""
MOST_OUTLIERS = 300
FEW_ROWS = 12
"""Up to here the rows themselves show what a column holds."""
ROW_CHARACTERS = 260
SUMMARY_CHARACTERS = 100
CELL_CHARACTERS = 60
MOST_CELLS = 14
NOTE_CHARACTERS = 200
MOST_NOTES = 40
FILLER = re.compile(r"[\s|+=─━│┌┐└┘├┤┬┴┼╭╮╰╯-]*")


def recognises(text: str) -> float:
    """Return how surely a text is a table."""
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) > SAMPLE_CHARACTERS:
        sample = sample[: sample.rfind("\n") + 1]
    grid = grid_of(sample)
    if grid is None or len(grid.rows) < LEAST_ROWS:
        return 0.0
    filled = sum(1 for line in sample.split("\n") if line.strip())
    outside = sum(
        1
        for note in grid.notes
        if not FILLER.fullmatch(note) and not TRAILER.fullmatch(note.strip())
    )
    return grid.sure * max(0.0, 1 - 1.5 * outside / max(1, filled))


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read a table into its columns and its rows."""
    del context
    grid = grid_of(text)
    if grid is None or not grid.rows or not grid.header:
        return None
    columns = columns_of(grid.header, grid.rows)
    lines = list(_notes(grid))
    described = [each for each in columns if len(grid.rows) > FEW_ROWS or not each.varies]
    lines += [EntryLine(each.describe(), each.weight, count=0) for each in described]
    _put_rows(lines, grid, columns)
    facts = {
        "rows": len(grid.rows),
        "columns": [cut(name, CELL_CHARACTERS) for name in grid.header[:50]],
    }
    order = next((each.name for each in columns if each.is_sorted), "")
    summary = f"{counted(len(grid.rows), 'row')}, {counted(len(grid.header), 'column')}: {_names(grid.header)}"
    summary += f"; sorted by {order}" if order and len(grid.rows) > FEW_ROWS else ""
    return Extraction("table", summary, thinned(lines), facts, _selectors(text, grid), "rows")


def _names(header: Sequence[str]) -> str:
    return cut(", ".join(cut(name, CELL_CHARACTERS) for name in header[:20]), SUMMARY_CHARACTERS)


def _is_whole(grid: Grid) -> bool:
    """Return whether the summary names all columns, in the order of the cells."""
    return len(", ".join(grid.header)) <= SUMMARY_CHARACTERS


def _selectors(text: str, grid: Grid) -> tuple[str, ...]:
    return (f"lines=[{grid.first_line}, {text.count(chr(10)) + 1}]", 'pattern="…"')


def _notes(grid: Grid) -> Iterator[EntryLine]:
    """Yield what stands around the table: a title, a database's row count."""
    rendered = [note for note in grid.notes if not FILLER.fullmatch(note[:NOTE_CHARACTERS])]
    for note in rendered[:MOST_NOTES]:
        yield EntryLine(cut(note, NOTE_CHARACTERS), 1.0)
    if (behind := len(rendered) - MOST_NOTES) > 0:
        yield EntryLine(f"… {counted(behind, 'line')} around it", LIGHT, count=behind)


def _put_rows(lines: list[EntryLine], grid: Grid, columns: Sequence[TableColumn]) -> None:
    """Write the rows under a line that names their cells."""
    shown = _shown(columns)
    names = " | ".join(columns[at].name for at in shown)
    title = "rows:" if len(shown) == len(columns) and _is_whole(grid) else f"rows: {names}"
    parent = put(lines, EntryLine(title, 1.5, count=0))
    total = len(grid.rows)
    odd = {at for column in columns for at in column.odd[:MOST_OUTLIERS]}
    wanted = range(total) if total <= MOST_ROWS else _ends(total, odd)
    before = -1
    for at in wanted:
        if at - before > 1:
            lines.append(_run(grid, columns, before + 1, at, parent))
        weight = 2.0 if at in odd else 1.2 if at in (0, total - 1) else 1.0
        number = grid.numbers[at] if grid.numbers else None
        lines.append(
            EntryLine(_row(grid.rows[at], shown), weight, parent=parent, unit="rows", number=number)
        )
        before = at


def _ends(total: int, odd: set[int]) -> list[int]:
    half = MOST_ROWS // 2
    return sorted({*range(half), *odd, *range(total - half, total)})


def _run(
    grid: Grid, columns: Sequence[TableColumn], start: int, stop: int, parent: int
) -> EntryLine:
    """Return one line for rows that are not written, by their first and last key."""
    key = next((at for at, column in enumerate(columns) if column.key), 0)
    first, last = (_cell(grid.rows[at], key) for at in (start, stop - 1))
    return EntryLine(
        f"… {columns[key].name} {first} to {last}",
        0.1,
        parent=parent,
        count=stop - start,
        unit="rows",
    )


def _shown(columns: Sequence[TableColumn]) -> list[int]:
    """Return the columns of a row's line: those that vary, identifiers and labels first."""
    varying = [at for at, column in enumerate(columns) if column.varies] or list(
        range(len(columns))
    )
    ranked = sorted(varying, key=lambda at: (columns[at].rank, at))
    chosen: list[int] = []
    size = 0
    for at in ranked[:MOST_CELLS]:
        size += min(CELL_CHARACTERS, columns[at].width) + 3
        if size <= ROW_CHARACTERS or not chosen:
            chosen.append(at)
    return sorted(chosen)


def _row(row: Sequence[str], shown: Sequence[int]) -> str:
    return " | ".join(_cell(row, at) for at in shown)


def _cell(row: Sequence[str], at: int) -> str:
    """Return a cell; what has no spaces is an identifier and stands whole."""
    cell = row[at].strip() if at < len(row) else ""
    if len(cell) <= CELL_CHARACTERS and "\n" not in cell:
        return cell
    return cut(cell, CELL_CHARACTERS if " " in cell[:CELL_CHARACTERS] else ROW_CHARACTERS)
