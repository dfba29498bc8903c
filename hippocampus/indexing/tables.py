"""Tables: the records of JSON and the rows of CSV, Markdown and databases, one row a line. Pure.

Rows and columns keep their order. A value that all rows share is written once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.indexing.extraction import PLACE, EntryLine, cut, packed
from hippocampus.indexing.shapes import Shape, shape_of

Cells = dict[str, Any]
"""A record made flat: dotted path to scalar."""


@dataclass(frozen=True, slots=True)
class TableWeights:
    """What the lines of a table are worth, relative to one of its rows; chosen by reading."""

    title: float = 2.0
    same: float = 0.6
    """What all rows share."""
    detail: float = 0.3
    nested: float = 0.8


WEIGHTS = TableWeights()
MAX_ROWS = 2_000
"""Further rows are counted only."""
MAX_DEPTH = 8
LINE_CHARACTERS = 120
ROW_CHARACTERS = 90
"""Up to here a usual row has further columns in its own line."""
CELL_CHARACTERS, DETAIL_CHARACTERS, SHARED_CHARACTERS = 160, 240, 60
"""A title or a subject is whole; a longer text is cut."""
REGULAR = 0.6
"""A column that this share of the rows has is in every row without its name."""
RARE_SHARE = 0.1
MAX_SHARED, MAX_ITEMS = 8, 8
MAX_NESTED, NESTED_COLUMNS = 400, 3
NESTED = frozenset((dict, list))
SAMPLED, SHAPED = 100, 50
"""How many rows of a table show whether columns differ, and how many values of a column its shape."""
LABELS = re.compile(r"(?i)(?:name|title|label|subject|message|text|path|login)s?$")
"""Key names that hold a record's name, in APIs of all kinds."""
CORE = {"key": 2, "label": 2, "state": 2, "words": 1, "date": 1, "number": 1, "path": 1, "id": 1}
"""How many columns of a role a row's own line has; the others follow in one of lower weight."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table."""

    cells: Cells
    lists: tuple[tuple[str, Sequence[Any]], ...] = ()
    """The lists of records inside it, by path."""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows with the places by which a recall finds them."""

    name: str
    rows: Sequence[TableRow]
    numbers: Sequence[int] = ()
    """Their lines in the content, or their places in a list; none where keys name the rows."""
    form: str = "{}: "
    """How a number is written before a row."""
    total: int = 0
    """How many rows the content has, where that is more than `rows`."""
    noun: str = "record"
    header: Sequence[str] = ()
    """The names of the columns, where the content has them apart from the rows."""
    notes: Sequence[str] = ()
    """The lines around it."""
    confidence: float = 0.0
    """How sure it is that a text is this table."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    shape: Shape
    distinct: int
    present: int
    """The number of rows that have it."""

    @property
    def is_label(self) -> bool:
        """Whether it holds the name of the row."""
        return bool(LABELS.search(self.name)) and self.shape in ("words", "path", "id", "text")

    def is_key(self, rows: int) -> bool:
        """Return whether each row has an identifier of its own in it."""
        return self.shape == "id" and self.distinct == self.present == rows

    def role(self, rows: int) -> str:
        """Return what it is in a row: `key`, `label`, `state`, `seldom`, or its shape."""
        if self.is_key(rows):
            return "key"
        least = RARE_SHARE if self.is_label else REGULAR
        if self.present < least * rows:
            return "seldom"
        if self.shape == "words" and 2 * self.distinct <= rows:
            return "state"
        return "label" if self.is_label else self.shape


def flat(record: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield path and value of the scalars of a record, and of the lists of records inside it."""
    if isinstance(record, dict) and depth < MAX_DEPTH:
        for key, value in record.items():
            yield from flat(value, f"{prefix}.{key}" if prefix else str(key), depth + 1)
    elif isinstance(record, list) and depth < MAX_DEPTH:
        if len(record) == 1 and isinstance(record[0], dict | list):
            yield from flat(record[0], prefix, depth + 1)
        elif any(isinstance(item, dict | list) for item in record):
            yield prefix, record
        elif record:
            more = len(record) - MAX_ITEMS
            items = [*map(str, record[:MAX_ITEMS]), *([f"… {more} more"] if more > 0 else [])]
            yield prefix, ", ".join(items)
    else:
        yield prefix, record


def row_of(record: Any) -> TableRow:
    """Return a record as a row of scalars."""
    if isinstance(record, dict) and NESTED.isdisjoint(map(type, record.values())):
        return TableRow(record)
    found = list(flat(record))
    cells = {path: value for path, value in found if not isinstance(value, list | dict)}
    return TableRow(cells, tuple((path, value) for path, value in found if isinstance(value, list)))


def table_of(name: str, records: Sequence[Any]) -> Table:
    """Return a list of records as a table."""
    rows = [row_of(record) for record in records[:MAX_ROWS]]
    return Table(name, rows, range(len(rows)), PLACE, len(records))


def cell(value: Any, most: int = CELL_CHARACTERS) -> str:
    """Return a scalar as a line shows it; identifiers whole, a longer text cut."""
    return cells_of((value,), most)[0]


def cells_of(values: Iterable[Any], most: int = CELL_CHARACTERS, nothing: str = "-") -> list[str]:
    """Return scalars as a line shows them: a large table has ten thousand."""
    shown = []
    for value in values:
        text = str(value)
        if value is None:
            text = nothing
        elif isinstance(value, bool):
            text = text.lower()
        elif (len(text) > most or "\n" in text) and shape_of(text) not in ("id", "path", "url"):
            text = cut(text, most)
        shown.append(text)
    return shown


def lines_of(table: Table, first: int = 0) -> list[EntryLine]:
    """Return the lines of a table; `first` is the number that the first of them will have."""
    cells = [row.cells for row in table.rows]
    columns = _columns(cells)
    total, count = max(table.total, len(cells)), len(cells)
    constant = [
        column for column in columns if column.distinct == 1 and column.present == count > 1
    ]
    same = {column.name for column in constant}
    news = [column for column in columns if column.name not in same]
    core = _core(news or columns, cells)
    more = f" (the first {count:,} are read)" if total > count else ""
    shown_names = [column.name for column in core]
    title = f"{table.name}: {total:,} {table.noun}s{more}: {' | '.join(shown_names)}"
    lines = [EntryLine(title, WEIGHTS.title, count=0)]

    pairs = [
        f"{column.name}={cell(cells[0][column.name], SHARED_CHARACTERS)}"
        for column in constant
        if column.shape not in ("url", "text")
    ]
    if pairs:
        shared = f"all: {', '.join(pairs[:MAX_SHARED])}"
        lines.append(EntryLine(shared, WEIGHTS.same, parent=first, count=0))
    details = [column for column in news if column not in core]
    unit = f"{table.noun}s"
    for number, row in enumerate(table.rows):
        at = first + len(lines)
        row_cells = cells_of(map(row.cells.get, shown_names), nothing="")
        text = " | ".join(row_cells).rstrip(" |") or "-"
        own = table.numbers[number] if table.numbers else None
        lines.append(EntryLine(text, parent=first, number=own, unit=unit, form=table.form))
        filled = ", ".join(
            f"{column.name}={cell(row.cells[column.name], DETAIL_CHARACTERS)}"
            for column in details
            if row.cells.get(column.name) not in (None, "", False)
        )
        if filled:
            lines.append(EntryLine(f"  {filled}", WEIGHTS.detail, parent=at, count=0))
        for path, inner in row.lists:
            lines += _nested(".".join(path.split(".")[-2:]), inner, at)
    return lines


def _columns(rows: Sequence[Cells]) -> list[Column]:
    """Return the columns with a value in one of the rows at least."""
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    columns: list[Column] = []
    for name, held in values.items():
        shapes = Counter(map(shape_of, held[:SHAPED]))
        shapes.pop("empty", None)
        if not shapes:
            continue
        shape: Shape = max(shapes, key=lambda kind: shapes[kind])
        if shape == "number" and name.lower().endswith(("id", "number", "key", "no")):
            shape = "id"
        columns.append(Column(name, shape, len(set(map(str, held))), len(held)))
    return columns


def _core(columns: Sequence[Column], rows: Sequence[Cells]) -> list[Column]:
    """Return the columns of a row's own line, in the order of the records.

    First a key, a label and what distinguishes rows; then others, while a usual row stays short.
    """
    keyed = any(column.is_key(len(rows)) for column in columns)
    free = {**CORE, "url": 0 if keyed else 1}
    core: list[Column] = []
    for column in columns:
        role = column.role(len(rows))
        if free.get(role, 0) > 0:
            free[role] -= 1
            core.append(column)
    width = sum(_width(rows, column) for column in core)
    for column in columns:
        if column not in core and column.role(len(rows)) not in ("seldom", "url", "text"):
            width += _width(rows, column)
            if width > ROW_CHARACTERS:
                break
            core.append(column)
    return sorted(core, key=columns.index)


def _width(rows: Sequence[Cells], column: Column) -> int:
    """Return how wide the cells of a column usually are."""
    sizes = sorted(map(len, cells_of([row.get(column.name) for row in rows[:SAMPLED]])))
    return sizes[len(sizes) * 3 // 4] + len(" | ")


def _nested(name: str, records: Sequence[Any], parent: int) -> list[EntryLine]:
    """Return a list of records inside a row: their keys and labels."""
    rows = [row_of(record).cells for record in records[:MAX_NESTED]]
    columns = _columns(rows)
    key = [column for column in columns if column.is_key(len(rows))][:1]
    rest = sorted(columns, key=lambda column: not column.is_label)
    shown = [*key, *(column for column in rest if column not in key)][:NESTED_COLUMNS]
    items = [
        " ".join(cell(row[c.name]) for c in shown if row.get(c.name) is not None) for row in rows
    ]
    if (unread := len(records) - MAX_NESTED) > 0:
        items.append(f"… {unread} more")
    label = f"  {name}[{len(records)}]"
    return packed(
        filter(None, items), label, weight=WEIGHTS.nested, parent=parent, unit=name,
        characters=LINE_CHARACTERS - len(label),
    )  # fmt: skip
