"""JSON documents in their own order: scalars, texts, and every list of records as a table. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from hippocampus.formats.json_text import NOTHING
from hippocampus.indexing.excerpt import excerpt, rows_of
from hippocampus.indexing.extraction import EntryLine, Extraction, counted, packed
from hippocampus.indexing.shapes import Shape, shape_of
from hippocampus.indexing.tables import LINE_CHARACTERS, Table, cell, lines_of, table_of


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
MAX_SUMMED = 6
"""How many lists a summary names."""
MIN_MAP = 3
"""From this number of like objects on, an object is a table with a key column."""


@dataclass(slots=True)
class _Walk:
    """What a walk through a document has found so far."""

    lines: list[EntryLine] = field(default_factory=list)
    tables: dict[str, tuple[int, str]] = field(default_factory=dict)
    """By the path of a list, how many records it has, and the step to the first."""
    longest: tuple[int, str] = (0, "")
    """The characters of the longest text, and its path."""
    data: dict[str, Any] = field(default_factory=dict)
    values: int = 0

    def read(self, value: Any, path: str, depth: int) -> None:
        """Write the lines of a value, in its own order."""
        if isinstance(value, dict):
            self._object(value, path, depth)
        elif isinstance(value, list):
            self._list(value, path, depth)
        elif isinstance(value, str) and len(value) > INLINE_CHARACTERS:
            self._text(value, path)
        else:
            self._pairs([(path or "value", value)], "", depth)

    def _object(self, value: dict[str, Any], path: str, depth: int) -> None:
        if _is_map_of_records(value):
            rows = [{"key": key, **inner} for key, inner in value.items()]
            keyed = replace(table_of(path or "list", rows), numbers=())
            self._table(path, keyed, f".{next(iter(value))}")
            return
        pairs: list[tuple[str, Any]] = []
        for key, inner in value.items():
            self.values += 1
            if self.values > MAX_VALUES or depth > MAX_DEPTH:
                break
            short = _short_form(inner)
            if short is not NOTHING:
                pairs.append((key, short))
                continue
            self._pairs(pairs, path, depth)
            pairs = []
            self.read(inner, f"{path}.{key}" if path else str(key), depth + 1)
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
            self._table(path, table_of(path or "list", value))
        elif any(isinstance(item, dict | list) for item in value):
            for at, item in enumerate(value[:MAX_VALUES]):
                self.read(item, f"{path}[{at}]", depth + 1)
        elif any(isinstance(item, str) and len(item) > INLINE_CHARACTERS for item in value):
            for at, item in enumerate(value[:MAX_VALUES]):
                self.read(item, f"{path}[{at}]", depth)
        else:
            first = len(self.lines)
            self.lines.append(
                EntryLine(f"{path or 'list'}: {len(value)} items", WEIGHTS.pair, count=0)
            )
            items = [cell(item, INLINE_CHARACTERS) for item in value]
            self.lines += packed(items, "  ", weight=WEIGHTS.items, parent=first)

    def _table(self, path: str, table: Table, first: str = "[0]") -> None:
        """Write a table; `first` is the step from its path to the first row."""
        self.tables[path] = table.total, first
        self.lines += lines_of(table, len(self.lines))

    def _text(self, text: str, path: str) -> None:
        """Write a long text below its key, so that its lines are unchanged."""
        self.longest = max(self.longest, (len(text), path))
        first = len(self.lines)
        head = f"{path or 'text'}: text, {counted(text.count(chr(10)) + 1, 'line')}, {len(text):,} characters"
        self.lines.append(EntryLine(head, WEIGHTS.pair, count=0))
        for line in excerpt(rows_of(text)):
            weight = WEIGHTS.text * line.weight
            self.lines.append(
                EntryLine(
                    line.text, weight, parent=first, count=0, number=line.number, form="  {}: "
                )
            )


def read(value: Any) -> Extraction:
    """Return the extraction of a JSON value."""
    walk = _Walk()
    walk.read(value, "", 0)
    kind = "schema" if _is_schema(value) else "json"
    summary = f"JSON, {counted(len(value), 'key' if isinstance(value, dict) else 'item')}"
    selectors = []
    if walk.tables:
        named = [f"{path or 'list'} {count}" for path, (count, _) in walk.tables.items()]
        if (more := len(named) - MAX_SUMMED) > 0:
            named[MAX_SUMMED:] = [f"{more} more lists"]
        total = sum(count for count, _ in walk.tables.values())
        summary = f"JSON, {counted(total, 'record')}: {', '.join(named)}"
        largest, (_, first) = max(walk.tables.items(), key=lambda table: table[1][0])
        selectors.append(f'path="{_from_root(largest)}{first}"')
    if walk.longest[0]:
        selectors.append(f'path="{_from_root(walk.longest[1])}"')
    elif not walk.tables and isinstance(value, dict):
        deep = next((key for key, inner in value.items() if isinstance(inner, dict | list)), "")
        selectors.append(f'path="$.{deep or next(iter(value), "")}"')
    elif not walk.tables:
        selectors.append('path="$[0]"')
    return Extraction(kind, summary, tuple(walk.lines), walk.data, tuple(selectors), "values")


def _is_schema(value: Any) -> bool:
    """Return whether a value is an OpenAPI document or a JSON Schema."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("paths"), dict) and ("openapi" in value or "swagger" in value):
        return True
    is_defining = any(
        isinstance(value.get(key), dict) for key in ("$defs", "definitions", "schemas")
    )
    is_object = is_defining or "$schema" in value or value.get("type") == "object"
    return isinstance(value.get("properties"), dict) and is_object


def _short_form(value: Any) -> Any:
    """Return a short scalar, or a short list of scalars as its text; else `NOTHING`."""
    if isinstance(value, list) and 0 < len(value) <= INLINE_ITEMS:
        is_flat = not any(isinstance(item, dict | list) for item in value)
        value = f"[{', '.join(map(str, value))}]" if is_flat else value
    is_long = isinstance(value, str) and len(value) > INLINE_CHARACTERS
    return NOTHING if is_long or isinstance(value, dict | list) else value


def _is_map_of_records(value: dict[str, Any]) -> bool:
    """Return whether an object's keys are names of like records, as ids in a lookup table are."""
    if len(value) < MIN_MAP:
        return False
    inner = list(value.values())[:20]
    if not all(isinstance(record, dict) for record in inner):
        return False
    common = set(inner[0]).intersection(*inner[1:])
    return len(common) * 2 >= max(len(record) for record in inner) > 0


def _from_root(path: str) -> str:
    """Return a path as JSONPath writes it.

    >>> _from_root("items[0].body"), _from_root("[0].body"), _from_root("")
    ('$.items[0].body', '$[0].body', '$')
    """
    return f"${'' if path.startswith('[') or not path else '.'}{path}"
