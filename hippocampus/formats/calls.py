"""The arguments of tool calls: one order of keys for comparison, and the file that a call names.

Pure functions over JSON texts; no messages or entries.
"""

from __future__ import annotations

import functools
import json

from hippocampus.formats import json_text

PATH_KEYS = frozenset(
    ("path", "file", "filename", "filepath", "absolutepath", "notebookpath", "targetfile")
)
"""The argument names that tools use for the file that they read or write, as `_key` has them."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and an argument longer than this writes the file."""


_written_sorted = json.JSONEncoder(sort_keys=True).encode


def normal(arguments: str) -> str:
    """Return arguments with their keys sorted, so that equal arguments are equal texts."""
    try:
        return _written_sorted(json.loads(arguments))
    except json_text.UNREADABLE:
        return arguments


@functools.lru_cache(maxsize=8)
def file_of(arguments: str) -> tuple[str, bool]:
    """Return the file that a call names (empty for none), and whether its arguments have a text.

    >>> file_of('{"filePath": "a.py", "limit": 40}')
    ('a.py', False)
    """
    value = json_text.read(arguments)
    if not isinstance(value, dict):
        return "", False
    texts = {_key(name): inner for name, inner in value.items() if isinstance(inner, str)}
    name = next((texts[key] for key in texts if key in PATH_KEYS), "")
    others = (inner for key, inner in texts.items() if key not in PATH_KEYS)
    return name, any(len(each) > WRITTEN_CHARACTERS for each in others)


def _key(name: str) -> str:
    """Return an argument's name as all makers of tools would write it."""
    return name.replace("_", "").lower()
