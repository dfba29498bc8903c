"""The same as a MEMORY.md, for programs: a JSON object with one object a fact. Pure.

{"memory": [{"mark", "type", "date", "origin", "where", "text"}]}
"""

from __future__ import annotations

import json
from typing import Any

from hippocampus.consolidation.memory_lines import FROM_TOOLS, SECTIONS, Change, Line, Row
from hippocampus.facts.models import UNTRUSTED

SUFFIX = ".json"


def rows(text: str) -> tuple[Row, ...]:
    """Return the facts of a file, in its order; of one that is no such JSON, none."""
    return tuple(
        Row(_section(each), str(each.get("mark", "")), " ".join(each["text"].split()), place, place)
        for place, each in enumerate(_objects(_document(text)))
        if isinstance(each.get("text"), str) and each["text"].strip()
    )


def marks_in(text: str) -> set[str]:
    """Return every mark in a file."""
    return {str(each["mark"]) for each in _objects(_document(text)) if each.get("mark")}


def rewritten(text: str, change: Change) -> str:
    """Return a file with a change made; objects that it does not name keep their fields."""
    document = _document(text)
    before = _objects(document)
    kept = [
        _changed(each, place, change)
        for place, each in enumerate(before)
        if place not in change.gone
    ]
    kept += [_object(line) for line in change.new]
    if kept == before and text:
        return text
    return json.dumps({**document, "memory": kept}, indent=2, ensure_ascii=False) + "\n"


def _changed(found: dict[str, Any], place: int, change: Change) -> dict[str, Any]:
    if place in change.put:
        return {**found, **_object(change.put[place])}
    if place in change.marked:
        return {**found, "mark": change.marked[place]}
    return found


def _document(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _objects(document: dict[str, Any]) -> list[dict[str, Any]]:
    found = document.get("memory")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _object(line: Line) -> dict[str, Any]:
    return {
        "mark": line.mark,
        "type": line.kind,
        "date": line.date,
        "origin": line.origin,
        "where": line.where,
        "text": line.text,
    }


def _section(found: dict[str, Any]) -> str:
    if found.get("origin") == UNTRUSTED:
        return FROM_TOOLS
    return SECTIONS.get(str(found.get("type", "")), "")
