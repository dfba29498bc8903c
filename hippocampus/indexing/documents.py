"""JSON documents: their shape, their scalars, and every list of records in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hippocampus.indexing.cells import cell, packed, short_names
from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.records import table
from hippocampus.indexing.shapes import TELLING, Shape, shape_of

MOST_VALUES = 60_000
"""Values behind these are counted and not read."""
MOST_DEPTH = 12
KEYS_SHOWN = 40
TELLING_KEYS = re.compile(
    r"(?i)error|message|status|state|total|count|next|cursor|token|has_?more|page"
)
"""Key names that APIs of all kinds use for the outcome and for what comes next."""
WEIGHTS: dict[Shape, float] = {
    "id": 1.8,
    "path": 1.5,
    "words": 1.2,
    "number": 1.0,
    "date": 0.8,
    "text": 0.5,
    "flag": 0.3,
    "url": 0.2,
    "empty": 0.0,
}
BANDS = ((2.0, 9.0, 9.0), (1.5, 2.0, 2.0), (0.6, 1.5, 1.0), (0.25, 0.6, 0.4), (0.01, 0.25, 0.1))
"""Pairs of like weight share lines: from, to, and what such a line weighs."""


@dataclass(slots=True)
class _Found:
    """What a walk through a document has found."""

    scalars: list[tuple[str, Any]] = field(default_factory=list)
    tables: dict[str, list[Any]] = field(default_factory=dict)
    lists: dict[str, list[Any]] = field(default_factory=dict)
    texts: list[tuple[str, str]] = field(default_factory=list)
    keys: dict[str, None] = field(default_factory=dict)
    values: int = 0


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A JSON value as read: its extraction, and the long texts in it by path."""

    extraction: Extraction
    texts: list[tuple[str, str]]


def read(value: Any) -> JsonDocument:
    """Read a JSON value."""
    found = _Found()
    _walk(value, "", found, 0)
    lines = _scalar_lines(found.scalars)
    for name, rows in found.tables.items():
        lines += table(name or "list", rows, len(lines))
    for name, items in found.lists.items():
        lines += _list_lines(name or "list", items, len(lines))
    lines += [
        EntryLine(f"{name}: {cell(text)} ({len(text):,} characters)", 0.8)
        for name, text in found.texts
    ]
    telling = [key for key in found.keys if TELLING.search(key)][:KEYS_SHOWN]
    lines += [EntryLine(text, 0.8, count=0) for text in packed(telling, "keys: ")]
    data = _key_data(found)
    extraction = Extraction(
        "json", _summary(value, found), tuple(lines), data, _selectors(value), "values"
    )
    return JsonDocument(extraction, found.texts)


def _walk(value: Any, path: str, found: _Found, depth: int) -> None:
    if isinstance(value, dict):
        _walk_object(value, path, found, depth)
    elif isinstance(value, list):
        _walk_list(value, path, found, depth)
    elif isinstance(value, str) and shape_of(value) == "text":
        found.texts.append((path, value))
    else:
        found.scalars.append((path, value))


def _walk_object(value: dict[str, Any], path: str, found: _Found, depth: int) -> None:
    if _is_map_of_records(value):
        rows = [{"key": key, **inner} for key, inner in value.items()]
        found.tables.setdefault(path, []).extend(rows)
        return
    for key, inner in value.items():
        found.values += 1
        if found.values > MOST_VALUES or depth > MOST_DEPTH:
            return
        _walk(inner, f"{path}.{key}" if path else str(key), found, depth + 1)


def _walk_list(value: list[Any], path: str, found: _Found, depth: int) -> None:
    found.values += len(value)
    if depth > MOST_DEPTH:
        return
    if len(value) > 1 and all(isinstance(each, dict) for each in value):
        found.tables.setdefault(path, []).extend(value)
        found.keys.update(dict.fromkeys(_inner_keys(value[:20], 0)))
    elif value and not any(isinstance(each, dict | list) for each in value):
        found.lists.setdefault(path, []).extend(value)
    else:
        for each in value[:MOST_VALUES]:
            _walk(each, f"{path}[]", found, depth + 1)


def _inner_keys(value: Any, depth: int) -> Iterator[str]:
    """Yield the names of the keys inside records; the tables' own columns show few of them."""
    if isinstance(value, dict) and depth < MOST_DEPTH:
        for key, inner in value.items():
            yield str(key)
            if isinstance(inner, dict | list):
                yield from _inner_keys(inner, depth + 1)
    elif isinstance(value, list):
        for each in value[:20]:
            yield from _inner_keys(each, depth + 1)


def _is_map_of_records(value: dict[str, Any]) -> bool:
    """Return whether an object's keys are names of like records, as ids in a lookup table are."""
    if len(value) < 5:
        return False
    inner = list(value.values())[:20]
    if not all(isinstance(each, dict) for each in inner):
        return False
    common = set(inner[0]).intersection(*inner[1:])
    return len(common) * 2 >= max(len(each) for each in inner) > 0


def _scalar_lines(scalars: list[tuple[str, Any]]) -> list[EntryLine]:
    """Return the scalars of an object as lines of pairs, an object at a time, each value once."""
    groups: dict[str, list[tuple[str, Any]]] = {}
    seen: set[str] = set()
    for path, value in scalars:
        if not _is_news(value, seen):
            continue
        parent, _, name = path.rpartition(".")
        groups.setdefault(parent, []).append((name or "value", value))
    names = short_names(list(groups))
    lines: list[EntryLine] = []
    for parent, pairs in groups.items():
        lines += _pair_lines(names[parent], pairs)
    return lines


def _is_news(value: Any, seen: set[str]) -> bool:
    """Return whether a value has not occurred before in this document."""
    shape = shape_of(value)
    if shape in ("empty", "flag"):
        return shape == "flag"
    if shape == "number":
        return True
    text = str(value)
    if text in seen:
        return False
    seen.add(text)
    return True


def _pair_lines(name: str, pairs: list[tuple[str, Any]]) -> list[EntryLine]:
    """Return one object's pairs: telling ones line by line, the rest together, addresses last."""
    depth = name.count(".")
    opening = f"{name}: " if name else ""
    weights = {key: _pair_weight(key, value) for key, value in pairs}
    lines: list[EntryLine] = []
    for low, high, rendered in BANDS:
        chosen = [f"{key}={cell(value)}" for key, value in pairs if low <= weights[key] < high]
        weight = rendered / (1 + 0.3 * depth)
        lines += [EntryLine(text, weight, count=0) for text in packed(chosen, opening)]
    return lines


def _pair_weight(key: str, value: Any) -> float:
    weight = WEIGHTS[shape_of(value)]
    return weight * (2.0 if TELLING_KEYS.search(key) and value not in (None, "", False) else 1.0)


def _list_lines(name: str, items: list[Any], first: int) -> list[EntryLine]:
    lines = [EntryLine(f"{name}: {len(items)} items", 2.0, count=0)]
    rendered = packed([cell(item) for item in items], "  ")
    lines += [EntryLine(text, 0.8, parent=first, count=text.count(", ") + 1) for text in rendered]
    return lines


def _summary(value: Any, found: _Found) -> str:
    top = f"{len(value)} keys" if isinstance(value, dict) else f"{len(value)} items"
    rows = sum(map(len, found.tables.values()))
    records = f", {rows:,} records in {len(found.tables)} lists" if rows else ""
    return f"JSON, {top}{records}"


def _key_data(found: _Found) -> dict[str, Any]:
    return {
        path: value
        for path, value in found.scalars
        if TELLING_KEYS.search(path.rpartition(".")[2]) and value not in (None, "")
    }


def _selectors(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        return tuple(f'path="$.{key}"' for key in list(value)[:3])
    return ('path="$[0]"',)
