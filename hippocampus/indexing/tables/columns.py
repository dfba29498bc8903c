"""Columns of a table: their types, ranges, and which of their values are rare. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from operator import le

from hippocampus.indexing.lines import cut

DATE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.{0,20})?|\d\d?/\d\d?/\d{2,4}(?: \d\d:\d\d.{0,20})?"
)
NO_NUMBER = re.compile(r"[^\d.,eE+-]", re.ASCII)
EMPTY = frozenset({"", "NULL", "null", "None", "NaN", "nan", "N/A", "n/a", "-", "NA"})
FEW_STATES, FEW_VALUES = 3, 12
"""Up to here the distinct values of a column are written with their counts."""
MOST_SHOWN = 6
RARE_SHARE = 0.02
LEAST_ROWS_FOR_RARE = 20
FAR = 5.0
"""Standard deviations from the mean at which a number is an outlier."""
MOST_RARE = 40
VALUE_CHARACTERS = 40
NAME_CHARACTERS = 60
LABEL_CHARACTERS = 60
SAMPLED = 400
MOST_FREQUENT, FREQUENT_SHARE = 5, 0.02
LONGEST_SUMMED = 16
"""Digits of a number that is summed; longer ones are names."""


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table, as far as it is read."""

    name: str
    kind: str
    """`int`, `float`, `date`, `text` or `empty`."""
    note: str
    """Its range, its values or how many it has."""
    empty: int
    varies: bool
    key: bool
    """Whether each row has a value of its own."""
    width: int
    """A usual width of its cells."""
    ends: str
    """Its first and its last value."""
    is_sorted: bool
    """Whether each row has no smaller value than the one before, and not all have the same."""
    odd: tuple[int, ...]
    """Rows with a value that few others have, or with a number far from the others."""

    def describe(self) -> str:
        """Return the column as a line."""
        empty = f", {self.empty:,} empty" if self.empty and self.kind != "empty" else ""
        note = f"{self.ends}, {self.note}" if self.key and self.kind == "text" else self.note
        return f"{self.name}: {note}" + empty

    @property
    def weight(self) -> float:
        """Return how likely its line is needed: values and ranges more than mere counts."""
        if not self.varies:
            return 1.5
        if "×" in self.note or "(" in self.note:
            return 10.0
        return 2.0 if not self.note.endswith(" distinct") else 3.0 if self.key else 0.02

    @property
    def rank(self) -> int:
        """Return where it stands among the cells of a row, the lowest first."""
        if self.key:
            return 0
        if self.width > LABEL_CHARACTERS:
            return 4
        return 1 if self.kind == "text" else 2


def columns_of(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[TableColumn]:
    """Return the columns of a table; rows may be shorter or longer than the header."""
    width = len(header)
    even = rows if set(map(len, rows)) == {width} else [_even(row, width) for row in rows]
    keys: Sequence[str] = ()
    columns: list[TableColumn] = []
    for name, cells in zip(header, zip(*even, strict=True), strict=True):
        values = list(map(str.strip, cells))
        columns.append(_column(cut(name, NAME_CHARACTERS), values, keys))
        keys = keys or (values if columns[-1].key else ())
    return columns


def _even(row: Sequence[str], width: int) -> Sequence[str]:
    return [*row[:width], *[""] * (width - len(row))]


def _column(name: str, values: Sequence[str], keys: Sequence[str]) -> TableColumn:
    """Describe a column; `keys` name the rows, where a column before has done so."""
    counts = Counter(values)
    empty = sum(counts[value] for value in EMPTY if value in counts)
    filled = [value for value in counts if value not in EMPTY]
    numbers = _numbers(filled)
    kind = _kind(filled, numbers)
    key = not keys and len(filled) == len(values) > 1 and kind in ("int", "text")
    key = key and max(map(len, filled[:SAMPLED])) <= LABEL_CHARACTERS
    varies = len(counts) > 1 or len(values) == 1
    rare = _rare(filled, numbers, counts)
    odd = tuple([at for at, value in enumerate(values) if value in rare]) if rare else ()
    ends = f"{values[0]} to {values[-1]}" if key else ""
    is_sorted = kind in ("text", "date") and varies and all(map(le, values, values[1:]))
    note = _note(kind, filled, numbers, counts)
    if numbers and " to " in note and keys:
        note = _span(values, keys, counts, numbers)
    return TableColumn(name, kind, note, empty, varies, key, _width(filled), ends, is_sorted, odd)


def _numbers(filled: Sequence[str]) -> Sequence[float]:
    """Return the values as numbers, or nothing where one of them is none."""
    if not filled or NO_NUMBER.search("".join(filled)):
        return ()
    try:
        return list(map(float, filled))
    except ValueError:
        pass
    try:
        return [float(value.replace(",", "")) for value in filled]
    except ValueError:
        return ()


def _kind(filled: Sequence[str], numbers: Sequence[float]) -> str:
    """Return the type that all values of a column have."""
    if not filled:
        return "empty"
    if numbers:
        return "float" if any("." in value or "e" in value for value in filled) else "int"
    if all(map(DATE.fullmatch, filled[:SAMPLED])) and all(map(DATE.fullmatch, filled)):
        return "date"
    return "text"


def _width(filled: Sequence[str]) -> int:
    sizes = sorted(map(len, filled[:SAMPLED]))
    return sizes[len(sizes) * 9 // 10] if sizes else 0


def _note(kind: str, filled: Sequence[str], numbers: Sequence[float], counts: Counter[str]) -> str:
    if kind == "empty":
        return ""
    if len(filled) <= FEW_VALUES and (len(filled) * 2 <= counts.total() or len(filled) == 1):
        return _few(filled, counts)
    if numbers:
        low, high = numbers.index(min(numbers)), numbers.index(max(numbers))
        return f"{cut(filled[low], NAME_CHARACTERS)} to {cut(filled[high], NAME_CHARACTERS)}"
    if kind == "date" and filled[0][4:5] == "-":
        return f"{min(filled)} to {max(filled)}"
    return _frequent(filled, counts)


def _span(
    values: Sequence[str], keys: Sequence[str], counts: Counter[str], numbers: Sequence[float]
) -> str:
    """Return a column's range with the rows that have its ends, and its sum."""
    filled = [value for value in counts if value not in EMPTY]
    low, high = (filled[numbers.index(end)] for end in (min(numbers), max(numbers)))
    ends = f"{_end(low, values, keys, counts)} to {_end(high, values, keys, counts)}"
    if all(map(str.isdecimal, filled)):
        total = sum(int(value) * counts[value] for value in filled if len(value) < LONGEST_SUMMED)
        return f"{ends}, sum {total}, mean {total / counts.total():.1f}"
    return ends


def _end(value: str, values: Sequence[str], keys: Sequence[str], counts: Counter[str]) -> str:
    """Return an end of a range with its row, or with how many rows have it."""
    rendered = cut(value, NAME_CHARACTERS)
    if counts[value] > 1:
        return f"{rendered} (×{counts[value]:,})"
    return f"{rendered} ({cut(keys[values.index(value)], NAME_CHARACTERS)})"


def _frequent(filled: Sequence[str], counts: Counter[str]) -> str:
    """Return how many values there are, and the most frequent where some stand out."""
    most = [(value, count) for value, count in counts.most_common(MOST_FREQUENT + 1) if value]
    least = max(3, FREQUENT_SHARE * counts.total())
    rendered = [
        f"{cut(value, VALUE_CHARACTERS)} ×{count:,}" for value, count in most if count >= least
    ]
    distinct = f"{len(filled):,} distinct"
    return f"{', '.join(rendered[:MOST_FREQUENT])} of {distinct}" if rendered else distinct


def _few(filled: Sequence[str], counts: Counter[str]) -> str:
    """Return the distinct values with their counts, the most frequent first."""
    most = sorted(filled, key=lambda value: (-counts[value], value))
    if len(most) == 1 and counts.total() == counts[most[0]]:
        return f"always {cut(most[0], NAME_CHARACTERS)}"
    shown = (f"{cut(value, VALUE_CHARACTERS)} ×{counts[value]:,}" for value in most[:MOST_SHOWN])
    listed = ", ".join(shown)
    return f"{listed} ({len(most)} distinct)" if len(most) > FEW_STATES else listed


def _rare(filled: Sequence[str], numbers: Sequence[float], counts: Counter[str]) -> frozenset[str]:
    """Return the values that set a row apart."""
    total = counts.total()
    if total < LEAST_ROWS_FOR_RARE:
        return frozenset()
    if len(filled) <= FEW_VALUES:
        return frozenset(value for value in filled if counts[value] <= RARE_SHARE * total)
    return frozenset(_far(filled, numbers))


def _far(filled: Sequence[str], numbers: Sequence[float]) -> list[str]:
    if not numbers or not all(map(math.isfinite, numbers)):
        return []
    largest = max(map(abs, numbers)) or 1.0
    scaled = [number / largest for number in numbers]
    mean = sum(scaled) / len(scaled)
    spread = math.sqrt(sum((number - mean) ** 2 for number in scaled) / len(scaled))
    pairs = zip(scaled, filled, strict=True)
    return [value for number, value in pairs if abs(number - mean) > FAR * spread > 0][:MOST_RARE]
