"""Parts of a JSON value by path, as lines; errors name the keys that exist. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from hippocampus.errors import RecallError
from hippocampus.formats.json_paths import at_path, reached
from hippocampus.recall.fitting import NumberedLine, numbered

ROWS = re.compile(r"(?P<what>rows|columns)(?P<rest>(?:[.\[].*)?)")
MAX_KEYS = 20
MAX_CHARACTERS = 100
"""The part of a path or a key that an error quotes: they may have any length."""


def find(value: dict[str, Any] | list[Any], path: str) -> Iterator[NumberedLine]:
    """Yield the lines of the value at a path; a list of records has `rows[n]` and `columns.name`.

    Raises:
        RecallError: the text is not a path, or does not exist; the error lists the existing keys.

    """
    steps = _of_records(value, path.strip()) or path
    try:
        found = at_path(value, steps)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    if not found:
        raise RecallError("no_match", _nowhere(value, steps))
    return numbered(line for each in found for line in rendered(each).split("\n"))


def rendered(value: Any) -> str:
    """Return a part as text: a string unchanged, everything else as indented JSON."""
    return value if isinstance(value, str) else json.dumps(value, indent=1, ensure_ascii=False)


def _nowhere(value: Any, path: str) -> str:
    existing, there = reached(value, path)
    keys = [key[:MAX_CHARACTERS] for key in there][:MAX_KEYS] if isinstance(there, dict) else []
    text = f"{path[:MAX_CHARACTERS]!r} does not exist: {existing[:MAX_CHARACTERS] or '$'}"
    if isinstance(there, list):
        return f"{text} is a list of {len(there)}; ask {existing[:MAX_CHARACTERS]}[0]"
    return f"{text} has the keys {', '.join(keys)}" if keys else f"{text} has nothing below it"


def _of_records(value: dict[str, Any] | list[Any], path: str) -> str | None:
    """Return the JSON path of `rows[3]` or `columns.name`, unless a key has that name."""
    match = ROWS.fullmatch(path)
    if match is None or (isinstance(value, dict) and match["what"] in value):
        return None
    base = "$"
    if isinstance(value, dict):
        lists = (key for key, inner in value.items() if isinstance(inner, list))
        key = next(lists, None)
        base = f'$["{key}"]' if key is not None and '"' not in key else "$"
    return base + (match["rest"] if match["what"] == "rows" else f"[*]{match['rest']}")
