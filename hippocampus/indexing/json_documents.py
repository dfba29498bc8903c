"""JSON documents in their own order: scalars, texts, and every list of records as a table. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hippocampus.indexing.extraction import (
    NUMBER,
    PLACE,
    EntryLine,
    Extraction,
    Shape,
    counted,
    cut,
    excerpt,
    packed,
    rows_of,
    shape_of,
)


@dataclass(frozen=True, slots=True)
class DocumentWeights:
    """What the lines of a document are worth, relative to a row of a table; chosen by reading."""

    label: float = 16.0
    """Pairs with a key that names the record."""
    pair: float = 2.0
    minor: float = 0.2
    """Flags, addresses, empty values."""
    depth: float = 0.3
    """How much less a pair is worth per step of depth."""
    text: float = 0.6
    items: float = 1.0


WEIGHTS = DocumentWeights()
MAX_VALUES = 20_000
"""Further values are counted and not read."""
MAX_DEPTH = 12
MINOR: tuple[Shape, ...] = ("flag", "url", "empty")
OUTCOME_KEYS = re.compile(
    r"(?i)error|message|status|state|total|count|next|cursor|token|has_?more|page|success|result|truncated|incomplete"
)
"""Key names that APIs of all kinds use for the outcome and for what comes next."""
LABELED = re.compile(r"(?i)(?:^|, |\.)(?:name|title|subject|label)=")
"""A pair with a key that names the record."""
INLINE_CHARACTERS = 240
"""A longer text follows its key, by lines."""
INLINE_ITEMS = 12
MAX_PATH_CHARACTERS, CUT_PATH = 120, "…"
"""Of a longer path, a line shows the end: a key may have any length, and is above each value in it."""
MAX_SUMMED = 6
"""How many lists a summary names."""


@dataclass(slots=True)
class _Walk:
    """What a walk through a document has found so far."""

    lines: list[EntryLine] = field(default_factory=list)
    tables: dict[str, int] = field(default_factory=dict)
    """By the path of a list, how many records it has."""
    longest: tuple[int, str] = (0, "")
    """The characters of the longest text, and its path."""
    data: dict[str, Any] = field(default_factory=dict)
    values: int = 0

    def read(self, value: Any, path: str, depth: int) -> None:
        """Write the lines of a value, in its own order."""
        path = _short(path)
        if isinstance(value, dict):
            self._object(value, path, depth)
        elif isinstance(value, list):
            self._list(value, path, depth)
        elif not _is_long(value):
            self._pairs([(path or "value", value)], "", depth)
        else:  # a long text is below its key, so that its lines are unchanged
            self.longest = max(self.longest, (len(value), path))
            first, size = len(self.lines), counted(value.count("\n") + 1, "line")
            head = f"{path or 'text'}: text, {size}, {len(value):,} characters"
            self.lines.append(EntryLine(head, WEIGHTS.pair, count=0))
            for line in excerpt(rows_of(value)):
                weight, form = WEIGHTS.text * line.weight, "  {}: "
                below = EntryLine(
                    line.text, weight, parent=first, count=0, number=line.number, form=form
                )
                self.lines.append(below)

    def _object(self, value: dict[str, Any], path: str, depth: int) -> None:
        pairs: list[tuple[str, Any]] = []
        for key, inner in value.items():
            self.values += 1
            if self.values > MAX_VALUES or depth > MAX_DEPTH:
                break
            short = inner
            if isinstance(inner, list) and 0 < len(inner) <= INLINE_ITEMS:
                is_flat = not any(isinstance(item, dict | list) for item in inner)
                short = f"[{', '.join(map(str, inner))}]" if is_flat else inner
            if isinstance(short, dict | list) or _is_long(short):
                self._pairs(pairs, path, depth)
                pairs = []
                self.read(inner, f"{path}.{key}" if path else str(key), depth + 1)
            else:
                pairs.append((key, short))
        self._pairs(pairs, path, depth)

    def _pairs(self, pairs: list[tuple[str, Any]], path: str, depth: int) -> None:
        """Write scalars of one object: those that matter first, in one run of lines."""
        opening = f"{path}: " if path else ""
        share = 1 / (1 + WEIGHTS.depth * depth)
        main, minor = list[tuple[str, Any]](), list[tuple[str, Any]]()
        for key, value in pairs:
            shape = shape_of(value)
            if shape != "empty":
                (minor if shape in MINOR else main).append((key, value))
            if shape != "empty" and OUTCOME_KEYS.search(key):
                self.data[f"{path}.{key}" if path else key] = value
        for chosen, weight in ((main, WEIGHTS.pair), (minor, WEIGHTS.minor)):
            items = [f"{key}={cell(value, INLINE_CHARACTERS)}" for key, value in chosen]
            for line in packed(items, path, characters=LINE_CHARACTERS - len(opening)):
                is_label = chosen is main and LABELED.search(line.text.removeprefix(opening))
                own = WEIGHTS.label if is_label else weight
                self.lines.append(EntryLine(line.text, own * share, count=0))

    def _list(self, value: list[Any], path: str, depth: int) -> None:
        self.values += len(value)
        if depth > MAX_DEPTH or not value:
            return
        if len(value) > 1 and {*map(type, value)} == {dict}:
            self.tables[path] = len(value)
            self.lines += lines_of(table_of(path or "list", value), len(self.lines))
        elif any(isinstance(item, dict | list) or _is_long(item) for item in value):
            for at, item in enumerate(value[:MAX_VALUES]):
                if len(self.lines) > MAX_VALUES:  # lists in lists multiply
                    break
                self.read(item, f"{path}[{at}]", depth + 1)
        else:
            first = len(self.lines)
            self.lines.append(
                EntryLine(f"{path or 'list'}: {len(value)} items", WEIGHTS.pair, count=0)
            )
            items = [cell(item, INLINE_CHARACTERS) for item in value]
            self.lines += packed(items, "  ", weight=WEIGHTS.items, parent=first)


def read(value: Any) -> Extraction:
    """Return the extraction of a JSON value."""
    walk = _Walk()
    walk.read(value, "", 0)
    keys = value if isinstance(value, dict) else {}
    is_api = "paths" in keys and ("openapi" in keys or "swagger" in keys)
    is_model = "properties" in keys and ("$schema" in keys or keys.get("type") == "object")
    summary = f"JSON, {counted(len(value), 'key' if keys is value else 'item')}"
    selectors = []
    if walk.tables:
        named = [f"{path or 'list'} {count}" for path, count in walk.tables.items()]
        if (more := len(named) - MAX_SUMMED) > 0:
            named[MAX_SUMMED:] = [f"{more} more lists"]
        summary = f"JSON, {counted(sum(walk.tables.values()), 'record')}: {', '.join(named)}"
        largest = max(walk.tables, key=walk.tables.__getitem__)
        selectors.append(f'path="{_from_root(largest)}[0]"')
    if walk.longest[0]:
        selectors.append(f'path="{_from_root(walk.longest[1])}"')
    elif not walk.tables and isinstance(value, dict):
        deep = next((key for key, inner in value.items() if isinstance(inner, dict | list)), "")
        selectors.append(f'path="$.{deep or next(iter(value), "")}"')
    elif not walk.tables:
        selectors.append('path="$[0]"')
    kind = "schema" if is_api or is_model else "json"
    named_whole = tuple(selector for selector in selectors if CUT_PATH not in selector)
    return Extraction(kind, summary, tuple(walk.lines), walk.data, named_whole, "values")


def _short(path: str) -> str:
    return path if len(path) <= MAX_PATH_CHARACTERS else CUT_PATH + path[-MAX_PATH_CHARACTERS:]


def _is_long(value: Any) -> bool:
    """Return whether a value is a text that follows its key."""
    return isinstance(value, str) and len(value) > INLINE_CHARACTERS


def _from_root(path: str) -> str:
    """Return a path as JSONPath writes it.

    >>> _from_root("items[0].body"), _from_root("[0].body"), _from_root("")
    ('$.items[0].body', '$[0].body', '$')
    """
    return f"${'' if path.startswith('[') or not path else '.'}{path}"


# Tables: the records of JSON and the rows of CSV, Markdown and databases, one row a line. Rows and
# columns keep their order, and a value that all rows share is written once.


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


TABLE = TableWeights()
MAX_ROWS = 2_000
"""Further rows are counted only."""
MAX_FLAT_DEPTH = 8
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
LABEL_KEYS = re.compile(r"(?i)(?:name|title|label|subject|message|text|path|login)s?$")
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
    numbers: Sequence[int]
    """Their lines in the content, or their places in a list."""
    total: int
    """How many rows the content has: more than `rows`, where it has too many."""
    form: str = NUMBER
    """How a number is written before a row."""
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
        return bool(LABEL_KEYS.search(self.name)) and self.shape in ("words", "path", "id", "text")

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
    if isinstance(record, dict) and depth < MAX_FLAT_DEPTH:
        for key, value in record.items():
            yield from flat(value, _short(f"{prefix}.{key}" if prefix else str(key)), depth + 1)
    elif isinstance(record, list) and depth < MAX_FLAT_DEPTH:
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
    return Table(name, rows, range(len(rows)), len(records), PLACE)


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
    total, count = table.total, len(cells)
    constant = [
        column for column in columns if column.distinct == 1 and column.present == count > 1
    ]
    same = {column.name for column in constant}
    news = [column for column in columns if column.name not in same]
    core = _core(news or columns, cells)
    some = f"the first {count:,}" if total > count else ""
    more = f" ({some} are read)" if some else ""
    shown_names = [column.name for column in core]
    title = f"{table.name}: {total:,} {table.noun}s{more}: {' | '.join(shown_names)}"
    lines = [EntryLine(title, TABLE.title, count=0)]

    pairs = [
        f"{column.name}={cell(cells[0][column.name], SHARED_CHARACTERS)}"
        for column in constant
        if column.shape not in ("url", "text")
    ]
    if pairs:
        shared = f"{some or 'all'}: {', '.join(pairs[:MAX_SHARED])}"
        lines.append(EntryLine(shared, TABLE.same, parent=first, count=0))
    details = {column.name: at for at, column in enumerate(news) if column not in core}
    unit = f"{table.noun}s"
    for number, row in enumerate(table.rows):
        at = first + len(lines)
        row_cells = cells_of(map(row.cells.get, shown_names), nothing="")
        text = " | ".join(row_cells).rstrip(" |") or "-"
        own = table.numbers[number]
        lines.append(EntryLine(text, parent=first, number=own, unit=unit, form=table.form))
        # By the row's own cells: with thousands of columns, few are in a row.
        filled = ", ".join(
            f"{name}={cell(row.cells[name], DETAIL_CHARACTERS)}"
            for name in sorted(details.keys() & row.cells.keys(), key=details.__getitem__)
            if row.cells[name] not in (None, "", False)
        )
        if filled:
            lines.append(EntryLine(f"  {filled}", TABLE.detail, parent=at, count=0))
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
        filter(None, items), label, weight=TABLE.nested, parent=parent, unit=name,
        characters=LINE_CHARACTERS - len(label),
    )  # fmt: skip
