"""JSON that somebody else wrote, read so that nothing in it can raise.

Only texts are read here; what their values mean is the caller's.
"""

from __future__ import annotations

import json
from typing import Any, Final

UNREADABLE = (ValueError, RecursionError)
"""What reading or walking JSON raises where it is none, or nests too deep."""
NOTHING: Final[Any] = object()
"""Stands for the value of a text that is no JSON, since `null` is a value."""


def read(text: str, otherwise: Any = NOTHING) -> Any:
    """Return the value of a text, or something else where it is no JSON or nests too deep.

    >>> read('{"port": 80}'), read("[" * 100_000, None)
    ({'port': 80}, None)
    """
    try:
        return json.loads(text)
    except UNREADABLE:
        return otherwise


def is_json(text: str) -> bool:
    """Say whether a text can be read as JSON."""
    return read(text) is not NOTHING
