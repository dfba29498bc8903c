"""JSON from untrusted texts, read so that no text can raise. Pure."""

from __future__ import annotations

import base64
import json
import re
from typing import Any, Final

UNREADABLE = (ValueError, RecursionError)
"""What reading or walking JSON raises for text that is not JSON, or nests too deep."""
MAX_DEPTH = 100
"""A value that nests deeper is not read as JSON: walking it would take the whole stack of a thread."""
NOTHING: Final[Any] = object()
"""The value of a text that is not JSON; `None` is the value of `null`."""


def read(text: str | bytes, otherwise: Any = NOTHING) -> Any:
    """Return the value of a JSON text, or `otherwise` where it is not JSON or nests too deep.

    >>> read('{"port": 80}'), read("[" * 100_000, None)
    ({'port': 80}, None)
    """
    try:
        value = json.loads(text)
    except UNREADABLE:
        return otherwise
    return otherwise if is_deep(value) else value


def is_deep(value: Any, depth: int = MAX_DEPTH) -> bool:
    """Return whether a value nests deeper than that; the same on every stack."""
    level = [value] if isinstance(value, (dict, list)) else []
    for _ in range(depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return False
    return True


def written(value: Any) -> str:
    """Return a value as JSON text: bytes in base64, what else JSON has no type for as its text.

    >>> import uuid
    >>> written({"id": uuid.UUID(int=1)})
    '{"id": "00000000-0000-0000-0000-000000000001"}'
    """
    return json.dumps(value, ensure_ascii=False, default=_text)


BYTES = "$base64"
"""The key of an object that holds bytes in base64, where a text is read back exactly."""


def written_exactly(value: Any) -> str:
    r"""Return a value as JSON text from which `read_exactly` returns it, bytes too.

    >>> read_exactly(written_exactly({"source": {"bytes": b"\x89PNG"}}))
    {'source': {'bytes': b'\x89PNG'}}
    """

    def tagged(inner: object) -> object:
        return {BYTES: _text(inner)} if isinstance(inner, bytes) else _text(inner)

    return json.dumps(value, ensure_ascii=False, default=tagged)


def read_exactly(text: str | bytes) -> Any:
    """Return the value that `written_exactly` wrote."""

    def untagged(found: dict[str, Any]) -> Any:
        return base64.b64decode(found[BYTES]) if found.keys() == {BYTES} else found

    return json.loads(text, object_hook=untagged)


def _text(value: object) -> str:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else str(value)


CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""C0 without tab and line feed, C1, and what changes the direction of writing."""


def visible(text: str) -> str:
    r"""Return a text in which control characters are written as in JSON.

    >>> visible("\x1b[2Jgone"), visible("two\nlines")
    ('\\u001b[2Jgone', 'two\nlines')
    """
    return CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
