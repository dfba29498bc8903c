"""What the arguments of a call say: the same call in another order, and the file that it names.

Pure functions over JSON texts; nothing here knows about messages or entries.
"""

from __future__ import annotations

import json

from hippocampus.formats import json_text

PATH_KEYS = ("path", "file_path", "filename", "file", "filepath", "target_file")
"""Argument names under which tools of all makers name the file that they read or write."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and so much other text writes the file."""


def normal(arguments: str) -> str:
    """Return arguments so that the same ones in another order are the same text."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except json_text.UNREADABLE:
        return arguments


def file_of(arguments: str) -> tuple[str, bool]:
    """Return the file that a call names, and whether the call brings text to write into it."""
    value = json_text.read(arguments)
    if not isinstance(value, dict):
        return "", False
    name = next((value[key] for key in PATH_KEYS if isinstance(value.get(key), str)), "")
    others = (inner for key, inner in value.items() if key not in PATH_KEYS)
    return name, any(isinstance(each, str) and len(each) > WRITTEN_CHARACTERS for each in others)
