"""Lists of records as a table: columns once, one line for each row, in the order of the list. Pure.

Rows of other shapes stay between the others. Values that all rows share stand once;
a column that repeats another is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.indexing.extraction import EntryLine
from hippocampus.indexing.lines import clip
from hippocampus.indexing.lines import packed as packed_lines
from hippocampus.indexing.shapes import Shape, shape_of

Cells = dict[str, Any]
"""A record made flat: dotted path to scalar."""


@dataclass(frozen=True, slots=True)
class TableWeights:
    """What the lines of a table are worth, relative to one of its rows; chosen by reading."""

    title: float = 2.0
    columns: float = 1.5
    same: float = 0.6
    """What all rows share."""
    states: float = 16.0
    """The rows that stand out."""
    detail: float = 0.3
    nested: float = 0.8
    rare: float = 2.5
    """How much more a row is worth that differs where the others agree."""


WEIGHTS = TableWeights()
MOST_ROWS = 2_000
"""Rows behind these are counted and not read."""
MOST_DEPTH = 8
CONTAINERS = frozenset({dict, list})
LINE_CHARACTERS = 120
ROW_CHARACTERS = 90
"""Up to here a usual row has further columns in its own line."""
CELL_CHARACTERS = 160
"""A title or a subject stands whole; only a longer text is clipped."""
DETAIL_CHARACTERS = 240
NAME_CHARACTERS = 60
REGULAR = 0.6
"""A column that this share of the rows has stands in each row without its name."""
MOST_SAME, MOST_NAMES = 8, 24
MOST_NAMED_FLAGS = 3
SAMPLED = 100
BOILERPLATE = re.compile(
    r"(?i)(?:created|edited|updated)_?by\b|annotations\b|avatar|(?:^|\.)object$"
)
"""Names of values that an API repeats in its records, and that are needed of none."""
CORE = {"key": 2, "label": 2, "state": 2, "words": 1, "date": 1, "number": 1, "path": 1, "id": 1}
"""How many columns of each role a row's own line has; the others follow in one of lower weight."""
FEWEST_FOR_OVERVIEW = 16
MOST_STATES = 8
MOST_STANDING_OUT, MOST_FIELDS = 4, 5
LEAST_IDLE = 3
RARE_SHARE = 0.1
MOST_NESTED = 400
NESTED_COLUMNS = 3
LABELS = re.compile(r"(?i)(?:name|title|label|subject|message|text|path|login)s?$")
"""Key names that hold a record's name, in APIs of all kinds."""
ORDER: dict[Shape, int] = {
    "words": 0,
    "date": 1,
    "number": 2,
    "path": 2,
    "id": 3,
    "flag": 4,
    "url": 5,
    "text": 6,
    "empty": 7,
}
"""Which shapes come first in a row."""


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """One column of a table of records."""

    name: str
    shape: Shape
    distinct: int
    present: int
    """In how many rows it stands."""


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
            yield (
                prefix,
                ", ".join(map(str, record[:8]))
                + (f", … {len(record) - 8} more" if len(record) > 8 else ""),
            )
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


def cell(value: Any, most: int = CELL_CHARACTERS) -> str:
    """Return a scalar as it stands in a line; identifiers whole, a longer text clipped."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if len(text) <= most and "\n" not in text:
        return text
    return text if shape_of(text) in ("id", "path", "url") else clip(text, most)


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


def listed(name: str, records: Sequence[Any], weight: float, parent: int | None) -> list[EntryLine]:
    """Return a list of records inside a record as lines: the id of each and its labels."""
    rows = [read_row(record).cells for record in records[:MOST_NESTED]]
    columns = _worth(rows, _columns(rows))
    first = [each for each in columns if _is_key(each, len(rows))][:1]
    rest = sorted(columns, key=lambda each: not _is_label(each))
    named = [*first, *(each for each in rest if each not in first)][:NESTED_COLUMNS]
    items = [
        " ".join(cell(row[c.name]) for c in named if row.get(c.name) is not None) for row in rows
    ]
    label = f"  {name}[{len(records)}]"
    room = LINE_CHARACTERS - len(label)
    found = packed_lines(filter(None, items), label, weight=weight, parent=parent, characters=room)
    lines = [replace(line, unit=name) for line in found]
    if lines and (unread := len(records) - MOST_NESTED) > 0:
        lines[-1] = replace(lines[-1], text=f"{lines[-1].text}, … {unread} more")
    return lines


def table(
    name: str,
    records: Sequence[Any],
    first: int = 0,
    weight: float = 1.0,
    *,
    places: Sequence[str] | None = None,
) -> list[EntryLine]:
    """Return the lines of a list of records, each row with its place in the list.

    `first` is the number that the first line will have, `weight` what a row's line weighs. Rows
    that stand deeper than in one list have their own `places`.
    """
    rows = [read_row(record) for record in records[:MOST_ROWS]]
    cells = [row.cells for row in rows]
    columns = _columns(cells)
    constant = [each for each in columns if each.distinct == 1 and each.present == len(rows) > 1]
    news = [each for each in columns if each not in constant and not _is_idle(each)]
    varying = _worth(cells, news)
    names = short_names([each.name for each in columns])
    odd = _odd(cells, varying, names)
    core = _core(varying or columns, cells)
    more = f" (the first {len(rows):,} are read)" if len(records) > len(rows) else ""
    title = (
        f"{name}: {len(records):,} records{more}: {' | '.join(names[each.name] for each in core)}"
    )
    lines = [EntryLine(title, WEIGHTS.title * weight, count=0)]
    if same := _constants(cells, constant, names):
        lines.append(EntryLine(f"all: {same}", WEIGHTS.same * weight, parent=first, count=0))
    if flags := _flags(cells, [each for each in columns if each not in constant], names):
        lines.append(EntryLine(flags, WEIGHTS.columns * weight, parent=first, count=0))
    if len(rows) >= FEWEST_FOR_OVERVIEW:
        states = WEIGHTS.states * weight
        lines += [
            EntryLine(text, states, parent=first, count=0)
            for text in _standing_out(cells, varying, odd, names)
        ]
    details = [each for each in varying if each not in core]
    others = dict.fromkeys(ending(each.name, 1) for each in news if each not in core)
    for text in packed(list(others)[:MOST_NAMES], "other fields: "):
        lines.append(EntryLine(text, WEIGHTS.detail * weight, parent=first, count=0))
    for number, row in enumerate(rows):
        telling = weight * (WEIGHTS.rare if number in odd else 1.0)
        at = first + len(lines)
        own = _cells(row.cells, core) or "-"
        if places is not None:
            lines.append(
                EntryLine(f"{places[number]} {own}".strip(), telling, parent=first, unit="records")
            )
        else:
            lines.append(
                EntryLine(own, telling, parent=first, unit="records", number=number, form="[{}] ")
            )
        lines += _below(row, _pairs(row.cells, details, names), at, telling, weight)
    return lines


def _below(
    row: FlatRecord, detail: str, at: int, telling: float, weight: float
) -> Iterator[EntryLine]:
    """Yield what stands below a row: its other cells, and the lists inside it."""
    if detail:
        yield EntryLine(f"  {detail}", WEIGHTS.detail * telling, parent=at, count=0)
    for path, inner in row.lists:
        yield from listed(ending(path, 2), inner, WEIGHTS.nested * weight, at)


def _standing_out(
    rows: Sequence[Cells],
    columns: Sequence[RecordColumn],
    odd: dict[int, list[str]],
    names: dict[str, str],
) -> Iterator[str]:
    """Yield the rows that differ where the others agree: the odd values, their label and key."""
    naming = [each for each in columns if _is_label(each) or _is_key(each, len(rows))][:2]
    most = sorted(odd.items(), key=lambda each: -len(each[1]))
    named: dict[str, list[str]] = {}
    for number, fields in most[:MOST_STANDING_OUT]:
        row = rows[number]
        rendered = [f"{names[name]}={cell(row[name])}" for name in fields[:MOST_FIELDS]]
        held = [cell(row[each.name]) for each in naming if row.get(each.name) is not None]
        named.setdefault(", ".join(rendered), []).append(" ".join(held))
    for fields_of_row, held in named.items():
        yield f"{fields_of_row}: {', '.join(held)}"


def _odd(
    rows: Sequence[Cells], columns: Sequence[RecordColumn], names: dict[str, str]
) -> dict[int, list[str]]:
    """Return the rows that stand out and by which columns: a field or a state that few rows have."""
    few = RARE_SHARE * len(rows)
    fields = [each.name for each in columns if each.present <= few]
    states = [
        (each.name, {value for value, count in _counts(rows, each).items() if count <= few})
        for each in columns
        if each.shape == "words" and each.distinct <= MOST_STATES
    ]
    found: dict[int, list[str]] = {}
    for number, row in enumerate(rows):
        rendered = [
            name for name, odd in states if str(row.get(name)) in odd and name not in fields
        ]
        rendered += [name for name in fields if row.get(name) not in (None, "")]
        if rendered:
            found[number] = [name for name in rendered if name in row and name in names]
    return found


def _counts(rows: Sequence[Cells], column: RecordColumn) -> Counter[str]:
    return Counter(str(row.get(column.name)) for row in rows)


def _columns(rows: Sequence[Cells]) -> list[RecordColumn]:
    values: dict[str, list[Any]] = {}
    for row in rows:
        for name, value in row.items():
            values.setdefault(name, []).append(value)
    return [_column(name, held) for name, held in values.items()]


def _column(name: str, held: list[Any]) -> RecordColumn:
    shapes = Counter(map(shape_of, held[:50]))
    shapes.pop("empty", None)
    shape: Shape = max(shapes, key=lambda each: shapes[each]) if shapes else "empty"
    if shape == "number" and name.lower().endswith(("id", "number", "key", "no")):
        shape = "id"
    return RecordColumn(name, shape, len(set(map(str, held))), len(held))


def _worth(rows: Sequence[Cells], columns: list[RecordColumn]) -> list[RecordColumn]:
    """Return the columns that repeat no other, the most distinctive first."""
    seen: dict[tuple[str, ...], RecordColumn] = {}
    for column in columns:
        if column.shape == "empty":
            continue
        values = tuple([str(row.get(column.name, "")) for row in rows[:100]])
        known = seen.get(values)
        if known is None or (_is_label(column), -len(column.name)) > (
            _is_label(known),
            -len(known.name),
        ):
            seen[values] = column
    kept = list(seen.values())
    ids = next((values for values, each in seen.items() if _is_key(each, len(rows))), ())
    own = [each for values, each in seen.items() if not _repeats(each, values, ids)]
    position = {each.name: at for at, each in enumerate(kept)}
    return sorted(own, key=lambda each: (*_rank(each, len(rows)), position[each.name]))


def _is_idle(column: RecordColumn) -> bool:
    """Return whether a column has one value wherever it stands: part of a form, and no news.

    A flag is news where other rows lack it.
    """
    has_one = column.distinct == 1 and column.present >= LEAST_IDLE
    return has_one and column.shape not in ("text", "flag")


def _core(columns: list[RecordColumn], rows: Sequence[Cells]) -> list[RecordColumn]:
    """Return the columns of a row's own line, in the order of the records.

    First a key, a label and what distinguishes rows; then others, while a usual row stays short.
    """
    keyed = any(_is_key(column, len(rows)) for column in columns)
    room = {**CORE, "url": 0 if keyed else 1}
    core: list[RecordColumn] = []
    for column in columns:
        role = _role(column, len(rows))
        if room.get(role, 0) > 0:
            room[role] -= 1
            core.append(column)
    width = sum(_width(rows, column) for column in core)
    for column in columns:
        if column in core or _role(column, len(rows)) in ("seldom", "url", "text"):
            continue
        width += _width(rows, column)
        if width > ROW_CHARACTERS:
            break
        core.append(column)
    order = {
        name: at for at, name in enumerate(dict.fromkeys(name for row in rows for name in row))
    }
    return sorted(core, key=lambda each: order[each.name])


def _width(rows: Sequence[Cells], column: RecordColumn) -> int:
    """Return how wide the cells of a column usually are."""
    sizes = sorted(len(cell(row.get(column.name))) for row in rows[:SAMPLED])
    return sizes[len(sizes) * 3 // 4] + len(" | ")


def _role(column: RecordColumn, rows: int) -> str:
    if _is_key(column, rows):
        return "key"
    if column.present < (RARE_SHARE if _is_label(column) else REGULAR) * rows:
        return "seldom"
    if BOILERPLATE.search(column.name):
        return "seldom"
    if column.shape == "words" and 2 * column.distinct <= rows:
        return "state"
    if _is_label(column):
        return "label"
    return column.shape


def _is_label(column: RecordColumn) -> bool:
    return bool(LABELS.search(column.name)) and column.shape in ("words", "path", "id", "text")


def _is_key(column: RecordColumn, rows: int) -> bool:
    return column.shape == "id" and column.distinct == column.present == rows


def _repeats(column: RecordColumn, values: tuple[str, ...], ids: tuple[str, ...]) -> bool:
    """Return whether an address only holds the row's id, which stands there already."""
    if column.shape != "url" or not ids:
        return False
    plain = [each.replace("-", "") for each in ids]
    return all(
        not value or key in value or bare in value.replace("-", "")
        for value, key, bare in zip(values, ids, plain, strict=True)
    )


def _rank(column: RecordColumn, rows: int) -> tuple[int, int, int]:
    """Return the order of columns: a key, a label, what few values share, then other ids."""
    depth = column.name.count(".")
    if _is_key(column, rows) and (depth == 0 or rows == 1):
        return 0, depth, 0
    if _is_label(column):
        return 1, depth, -column.distinct
    return 2 + ORDER[column.shape], depth, -column.distinct


def _constants(rows: Sequence[Cells], columns: list[RecordColumn], names: dict[str, str]) -> str:
    """Return what all rows share, without values deep in them and boilerplate."""
    telling = [
        each
        for each in columns
        if each.shape in ("id", "words", "path", "number", "date", "flag")
        and each.name.count(".") < 2
        and not BOILERPLATE.search(each.name)
    ]
    telling.sort(key=lambda each: (each.shape == "flag", each.shape != "id"))
    pairs = [f"{names[each.name]}={cell(rows[0][each.name], NAME_CHARACTERS)}" for each in telling]
    return ", ".join(pairs[:MOST_SAME])


def _flags(rows: Sequence[Cells], columns: Sequence[RecordColumn], names: dict[str, str]) -> str:
    """Return how many rows have each flag, and which where they are few: a hidden row hides its own."""
    found = []
    for each in columns:
        held = [f"[{at}]" for at, row in enumerate(rows) if row.get(each.name) is True]
        if each.shape == "flag" and held:
            few = f" {' '.join(held)}" if len(held) <= MOST_NAMED_FLAGS < len(rows) else ""
            found.append(f"{names[each.name]} {len(held)}{few}")
    return f"true: {', '.join(found[:MOST_SAME])}" if found else ""


def _cells(row: Cells, columns: list[RecordColumn]) -> str:
    values = ["" if row.get(each.name) is None else cell(row[each.name]) for each in columns]
    return " | ".join(values).rstrip(" |")


def _pairs(row: Cells, columns: list[RecordColumn], names: dict[str, str]) -> str:
    return ", ".join(
        [
            f"{names[each.name]}={cell(row[each.name], DETAIL_CHARACTERS)}"
            for each in columns
            if row.get(each.name) not in (None, "", [], {}, False)
            and not BOILERPLATE.search(each.name)
        ]
    )
