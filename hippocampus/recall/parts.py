"""A part of a JSON value by its path, shown as lines; and what stands there where it is wrong. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hippocampus.errors import RecallError
from hippocampus.formats.json_paths import at_path, reached
from hippocampus.recall.fitting import Shown, numbered

ROWS = re.compile(r"(?P<what>rows|columns)(?P<rest>(?:[.\[].*)?)")
MOST_KEYS = 20
MOST_CHARACTERS = 100
"""What is told of a path or a key, which may have any length."""


def find(value: dict[str, Any] | list[Any], path: str) -> Iterator[Shown]:
    """Yield the lines of what stands at a path; a list of records has `rows[n]`, `columns.name`.

    Raises:
        RecallError: the text is no path, or leads nowhere; the keys that are there are told.

    """
    steps = _of_records(value, path.strip()) or path
    try:
        found = at_path(value, steps)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    if not found:
        raise RecallError("no_match", _nowhere(value, steps))
    return numbered(line for each in found for line in shown(each).split("\n"))


def shown(value: Any) -> str:
    """Return a part as it is read: text as it is, everything else as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


def _nowhere(value: Any, path: str) -> str:
    led, there = reached(value, path)
    keys = [key[:MOST_CHARACTERS] for key in there][:MOST_KEYS] if isinstance(there, dict) else []
    told = f"{path[:MOST_CHARACTERS]!r} leads nowhere: {led[:MOST_CHARACTERS] or '$'}"
    if isinstance(there, list):
        return f"{told} is a list of {len(there)}; ask {led[:MOST_CHARACTERS]}[0]"
    return f"{told} has the keys {', '.join(keys)}" if keys else f"{told} has nothing below it"


def _of_records(value: dict[str, Any] | list[Any], path: str) -> str | None:
    """Return the JSON path that `rows[3]` or `columns.name` means, where no key has that name."""
    match = ROWS.fullmatch(path)
    if match is None or (isinstance(value, dict) and match["what"] in value):
        return None
    base = "$"
    if isinstance(value, dict):
        lists = (key for key, inner in value.items() if isinstance(inner, list))
        key = next(lists, None)
        base = f'$["{key}"]' if key is not None and '"' not in key else "$"
    return base + (match["rest"] if match["what"] == "rows" else f"[*]{match['rest']}")
