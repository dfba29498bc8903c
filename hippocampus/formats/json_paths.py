"""Paths into a JSON value: `$.a[3].b`, with `*` for every key or item. Pure."""

from __future__ import annotations

import re
from typing import Any

STEP = re.compile(
    r"""\.?\*|\[\*\]|\.?(?P<key>[^.\[\]*"']+)|\[(?P<at>-?\d+)\]|\[["'](?P<named>[^"']*)["']\]"""
)
EVERY = object()
MAX_QUOTED_CHARACTERS = 100
"""How much of a wrong path an error quotes."""


def at_path(value: Any, path: str) -> list[Any]:
    """Return the values at a path, in order; none where the path does not exist.

    Raises:
        ValueError: the text is not a path; the message quotes the wrong part.

    """
    found = [value]
    for step in _steps(path):
        found = [inner for each in found for inner in _below(each, step)]
    return found


def reached(value: Any, path: str) -> tuple[str, Any]:
    """Return the longest existing start of a path, and the value there; of several, the first."""
    existing, there = "$", value
    for step in _steps(path):
        below = _below(there, step)
        if not below:
            break
        existing += "[0]" if step is EVERY else f"[{step}]" if isinstance(step, int) else f".{step}"
        there = below[0]
    return existing, there


def _steps(path: str) -> list[Any]:
    text = path.strip().removeprefix("$")
    steps: list[Any] = []
    at = 0
    while at < len(text):
        match = STEP.match(text, at)
        if match is None:
            wrong = text[at : at + MAX_QUOTED_CHARACTERS]
            raise ValueError(
                f"{path[:MAX_QUOTED_CHARACTERS]!r} is not a path from {wrong!r} on; "
                "write $.key[3].name"
            )
        if match["at"] is not None:
            steps.append(int(match["at"]))
        else:
            key = match["key"] if match["key"] is not None else match["named"]
            steps.append(EVERY if key is None else key)
        at = match.end()
    return steps


def _below(value: Any, step: Any) -> list[Any]:
    if step is EVERY:
        inner = value.values() if isinstance(value, dict) else value
        return list(inner) if isinstance(value, dict | list) else []
    if isinstance(value, dict):
        return [value[step]] if step in value else []
    if isinstance(value, list) and isinstance(step, int):
        return [value[step]] if -len(value) <= step < len(value) else []
    return []
