"""The arguments of tool calls: one order of keys for comparison, and the file that a call names.

Pure functions over JSON texts; no messages or entries.
"""

from __future__ import annotations

import json

from hippocampus.formats import json_text

PATH_KEYS = ("path", "file_path", "filename", "file", "filepath", "target_file")
"""The argument names that tools use for the file that they read or write."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and an argument longer than this writes the file."""


_written_sorted = json.JSONEncoder(sort_keys=True).encode


def normal(arguments: str) -> str:
    """Return arguments with their keys sorted, so that equal arguments are equal texts."""
    try:
        return _written_sorted(json.loads(arguments))
    except json_text.UNREADABLE:
        return arguments


def file_of(arguments: str) -> tuple[str, bool]:
    """Return the file that a call names (empty for none), and whether the call writes it."""
    value = json_text.read(arguments)
    if not isinstance(value, dict):
        return "", False
    name = next((value[key] for key in PATH_KEYS if isinstance(value.get(key), str)), "")
    others = (inner for key, inner in value.items() if key not in PATH_KEYS)
    return name, any(isinstance(each, str) and len(each) > WRITTEN_CHARACTERS for each in others)
