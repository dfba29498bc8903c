"""Lists of like records as a table: columns once, one terse line for each row. Pure.

Ids and labels come first; what is the same in every row stands once; what repeats another column
is left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.indexing.cells import (
    CELL_CHARACTERS,
    Cells,
    FlatRecord,
    cell,
    ending,
    packed,
    read_row,
    short_names,
)
from hippocampus.indexing.extraction import EntryLine
from hippocampus.indexing.shapes import Shape, shape_of

MOST_ROWS = 2_000
"""Rows behind these are counted and not read."""
ALIKE = 0.5
"""Rows that share this much of their keys are of one group."""
MOST_GROUPS = 12
CORE = {"key": 1, "label": 1, "state": 2, "words": 1, "date": 1, "number": 1, "path": 1, "id": 1}
"""How many columns of each role a row's own line has; the others follow in one of lower weight."""
DETAIL_WEIGHT = 0.3
OVERVIEW_WEIGHT, STATES_WEIGHT = 6.0, 16.0
FEWEST_FOR_OVERVIEW = 16
MOST_STATES = 8
MOST_STANDING_OUT = 2
FREQUENT = 4
"""A value that this many rows share is written with its count."""
RARE_SHARE = 0.1
RARE_FACTOR = 2.5
"""A row that differs where the others agree is asked about more: the one failed order."""
NESTED_WEIGHT = 0.5
MOST_NESTED = 400
NESTED_COLUMNS = 3
LABELS = re.compile(r"(?i)(?:name|title|label|subject|message|text|path)s?$")
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


def listed(name: str, records: Sequence[Any], weight: float, parent: int | None) -> list[EntryLine]:
    """Return a list of records inside a record as terse lines: its label and its id for each."""
    rows = [read_row(record).cells for record in records[:MOST_NESTED]]
    columns = _worth(rows, [each for each in _columns(rows) if each.distinct > 1])[:NESTED_COLUMNS]
    items = [
        " ".join(cell(row[c.name]) for c in columns if row.get(c.name) is not None) for row in rows
    ]
    lines = packed([item for item in items if item], f"  {name}[{len(records)}]: ")
    return [EntryLine(text, weight, parent=parent, count=0) for text in lines]


def table(
    name: str, records: Sequence[Any], first: int = 0, weight: float = 1.0
) -> list[EntryLine]:
    """Return the lines of a list of records, a table for each group of rows of like keys.

    `first` is the number that the first line will have, `weight` what a row's line weighs.
    """
    rows = [read_row(record) for record in records[:MOST_ROWS]]
    title = f"{name}: {len(records)} rows"
    lines = [EntryLine(title, weight=0.5 * weight, count=0)]
    for group in _alike(rows):
        lines += _group_lines(group, first, first + len(lines), weight)
    return lines


def _alike(rows: Sequence[FlatRecord]) -> list[list[FlatRecord]]:
    """Group rows whose keys are mostly the same, in order of first appearance."""
    groups: list[tuple[set[str], list[FlatRecord]]] = []
    for row in rows:
        keys = set(row.cells)
        for known, group in groups:
            if len(keys & known) >= ALIKE * len(keys | known):
                group.append(row)
                break
        else:
            if len(groups) == MOST_GROUPS:
                groups[-1][1].append(row)
            else:
                groups.append((keys, [row]))
    return [group for _, group in groups]


def _group_lines(
    group: list[FlatRecord], parent: int, first: int, weight: float
) -> list[EntryLine]:
    rows = [row.cells for row in group]
    columns = _columns(rows)
    constant = [each for each in columns if each.distinct == 1 and each.present == len(rows) > 1]
    varying = _worth(rows, [each for each in columns if each not in constant])
    names = short_names([each.name for each in columns])
    odd = _odd(rows, varying, names)
    same = _constants(rows, constant, names)
    lines = [EntryLine(f"each: {same}", 1.5 * weight, parent=parent, count=0)] if same else []
    if len(rows) >= FEWEST_FOR_OVERVIEW:
        lines += _together(rows, varying, odd, names, EntryLine("", weight, parent=parent, count=0))
    core = _core(varying, len(rows))
    titles = " | ".join(names[each.name] for each in core)
    head = first + len(lines)
    lines.append(EntryLine(titles, 0.3 * weight, parent=parent, count=0))
    details = [each for each in varying if each not in core]
    for number, row in enumerate(group):
        telling = weight * (RARE_FACTOR if number in odd else 1.0)
        at = first + len(lines)
        lines.append(EntryLine(_cells(row.cells, core), telling, parent=head))
        lines += _below(row, _pairs(row.cells, details, names), at, telling, weight)
    return lines


def _below(
    row: FlatRecord, detail: str, at: int, telling: float, weight: float
) -> Iterator[EntryLine]:
    """Yield what stands below a row: its other cells, and the lists inside it."""
    if detail:
        yield EntryLine(f"  {detail}", DETAIL_WEIGHT * telling, parent=at, count=0)
    for path, inner in row.lists:
        yield from listed(ending(path, 2), inner, NESTED_WEIGHT * weight, at)


def _together(
    rows: Sequence[Cells],
    columns: Sequence[RecordColumn],
    odd: dict[int, list[str]],
    names: dict[str, str],
    blank: EntryLine,
) -> Iterator[EntryLine]:
    """Yield what the rows are, taken together, and those that stand out of them.

    `blank` has the weight of a row and the parent of all lines.
    """
    for few, share in ((True, STATES_WEIGHT), (False, OVERVIEW_WEIGHT)):
        kinds = [each for each in columns if (each.distinct <= MOST_STATES) is few]
        for text in packed(list(_overview(rows, kinds, _label(columns), names)), "all rows: "):
            yield replace(blank, text=text, weight=share * blank.weight)
    for text in _standing_out(rows, columns, odd, names):
        yield replace(blank, text=text, weight=STATES_WEIGHT * blank.weight)


def _standing_out(
    rows: Sequence[Cells],
    columns: Sequence[RecordColumn],
    odd: dict[int, list[str]],
    names: dict[str, str],
) -> Iterator[str]:
    """Yield the rows that differ where the others agree: what is odd, their label and key."""
    naming = [each for each in columns if _is_label(each) or _is_key(each, len(rows))][:2]
    most = sorted(odd.items(), key=lambda each: -len(each[1]))
    for number, fields in most[:MOST_STANDING_OUT]:
        row = rows[number]
        rendered = [f"{names[name]}={cell(row[name])}" for name in fields]
        named = [cell(row[each.name]) for each in naming if row.get(each.name) is not None]
        yield f"{', '.join(rendered)}: {' '.join(named)}"


def _overview(
    rows: Sequence[Cells],
    columns: Sequence[RecordColumn],
    label: RecordColumn | None,
    names: dict[str, str],
) -> Iterator[str]:
    """Yield what a column holds over all rows: counts of few values, the range of many."""
    for column in columns:
        rendered = "" if 2 * column.present < len(rows) else _spread(rows, column, label)
        if rendered:
            yield f"{names[column.name]} {rendered}"


def _label(columns: Sequence[RecordColumn]) -> RecordColumn | None:
    return next((each for each in columns if _is_label(each)), None)


def _spread(rows: Sequence[Cells], column: RecordColumn, label: RecordColumn | None) -> str:
    """Return what a column's values are, taken together."""
    held = [row for row in rows if row.get(column.name) not in (None, "")]
    if column.shape in ("number", "date"):
        return _ends(held, column, label) if column.distinct > 1 else ""
    if column.shape not in ("words", "flag", "id") or _is_key(column, len(rows)):
        return ""
    counts = Counter(cell(row[column.name]) for row in held).most_common()
    frequent = [pair for pair in counts if len(counts) <= MOST_STATES or 20 * pair[1] > len(rows)]
    if column.distinct > MOST_STATES and (not frequent or frequent[0][1] < FREQUENT):
        return ""
    rendered = [f"{value}={count}" for value, count in frequent[:MOST_STATES]]
    others = [f"{len(counts) - len(rendered)} others"] if len(counts) > len(rendered) else []
    empty = [f"empty={len(rows) - len(held)}"] if len(held) < len(rows) else []
    return " ".join(rendered + others + empty)


def _ends(held: Sequence[Cells], column: RecordColumn, label: RecordColumn | None) -> str:
    """Return the least and the most of a column, with what the rows that have them are called."""
    values = [row[column.name] for row in held]
    ends = _range(values)
    if label is None or column.shape == "date" or column.distinct < len(held):
        return "..".join(cell(end) for end in ends)
    found = [held[values.index(end)].get(label.name) for end in ends]
    rendered = [
        f"{cell(end)}" + (f" ({cell(name)})" if name and len(str(name)) < CELL_CHARACTERS else "")
        for end, name in zip(ends, found, strict=True)
    ]
    return "..".join(rendered)


def _range(held: Sequence[Any]) -> tuple[Any, Any]:
    try:
        return min(held), max(held)
    except TypeError:
        return min(held, key=str), max(held, key=str)


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
        if known is None or len(column.name) < len(known.name):
            seen[values] = column
    kept = list(seen.values())
    ids = next((values for values, each in seen.items() if _is_key(each, len(rows))), ())
    own = [each for values, each in seen.items() if not _repeats(each, values, ids)]
    position = {each.name: at for at, each in enumerate(kept)}
    return sorted(own, key=lambda each: (*_rank(each, len(rows)), position[each.name]))


def _core(columns: list[RecordColumn], rows: int) -> list[RecordColumn]:
    """Return the columns of a row's own line: its key, a label, and what distinguishes rows."""
    keyed = any(_is_key(column, rows) for column in columns)
    room = {**CORE, "url": 0 if keyed else 1}
    core: list[RecordColumn] = []
    for column in columns:
        role = _role(column, rows)
        if room.get(role, 0) > 0:
            room[role] -= 1
            core.append(column)
    return core


def _role(column: RecordColumn, rows: int) -> str:
    if _is_key(column, rows):
        return "key"
    if 2 * column.present < rows:
        return "seldom"
    if column.shape == "words" and 2 * column.distinct <= rows:
        return "state"
    if _is_label(column):
        return "label"
    return column.shape


def _is_label(column: RecordColumn) -> bool:
    return bool(LABELS.search(column.name)) and column.shape in ("words", "path", "id")


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
    rendered = (
        f"{names[each.name]}={cell(rows[0][each.name])}"
        for each in columns
        if each.shape not in ("empty", "text")
    )
    return ", ".join(rendered)[: 8 * CELL_CHARACTERS]


def _cells(row: Cells, columns: list[RecordColumn]) -> str:
    return " | ".join([cell(row.get(each.name)) for each in columns])


def _pairs(row: Cells, columns: list[RecordColumn], names: dict[str, str]) -> str:
    return ", ".join(
        [
            f"{names[each.name]}={cell(row[each.name])}"
            for each in columns
            if row.get(each.name) not in (None, "", [], {}, False)
        ]
    )
