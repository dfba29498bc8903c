"""The arguments of tool calls: one order of keys, and the file that a call names. Pure."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hippocampus.formats import json_text

PATH_KEYS = frozenset(
    ("path", "file", "filename", "filepath", "absolutepath", "notebookpath", "targetfile")
)
"""The argument names that tools use for the file that they read or write, as `_key` has them."""
TEXT_KEYS = frozenset(("content", "contents", "filetext", "text"))
"""The argument names of a text that becomes a whole file."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and an argument longer than this writes the file."""


_written_sorted = json.JSONEncoder(sort_keys=True).encode


def leaves_in(value: Any) -> Iterator[Any]:
    """Yield the scalars in a JSON value in their order, without the names in it."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from leaves_in(inner)
    else:
        yield value


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    return (leaf for leaf in leaves_in(value) if isinstance(leaf, str))


@functools.lru_cache(maxsize=8)
def fields_in(arguments: str) -> Mapping[str, Any] | None:
    """Return the arguments of a call by name, which no caller may change; None if they are no object."""
    value = json_text.read(arguments)
    return value if isinstance(value, dict) else None


@functools.lru_cache(maxsize=8)
def lines_in(arguments: str) -> frozenset[str]:
    """Return the lines of the texts that a call's arguments have."""
    texts = texts_in(json_text.read(arguments, arguments))
    return frozenset(line for text in texts for line in text.split("\n"))


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
    given = fields_in(arguments) or {}
    texts = {_key(name): inner for name, inner in given.items() if isinstance(inner, str)}
    name = next((texts[key] for key in texts if key in PATH_KEYS), "")
    others = (inner for key, inner in texts.items() if key not in PATH_KEYS)
    return name, any(len(text) > WRITTEN_CHARACTERS for text in others)


def file_key(path: str) -> str:
    """Return the last part of a path, as paths of all systems are written."""
    return re.split(r"[/\\]", path)[-1].lower()


def is_one_file(path: str, other: str) -> bool:
    """Return whether two paths may name one file: one ends as the other, relative to some folder.

    >>> is_one_file("/srv/site/src/a.py", "src/a.py"), is_one_file("src/a.py", "lib/a.py")
    (True, False)
    """
    one, two = (name.replace("\\", "/").removeprefix("./").lower() for name in (path, other))
    return one == two or one.endswith("/" + two) or two.endswith("/" + one)


def gives_text(arguments: str) -> bool:
    """Return whether a call that names a file has a text for it, however short: as a whole, or an edit.

    >>> gives_text('{"path": "a.py", "old_string": "x", "new_string": "y"}')
    True
    """
    keys = {_key(name) for name in fields_in(arguments) or ()}
    return not keys.isdisjoint(TEXT_KEYS) or any(key.startswith(("newt", "news")) for key in keys)


def writes_whole(arguments: str) -> bool:
    """Return whether a call gives a file a new text as a whole: it replaces nothing.

    >>> writes_whole('{"path": "a.py", "content": "x = 1"}')
    True
    """
    keys = {_key(name) for name in fields_in(arguments) or ()} - PATH_KEYS
    return bool(keys) and keys <= TEXT_KEYS and bool(file_of(arguments)[0])


def _key(name: str) -> str:
    """Return an argument's name as all makers of tools would write it."""
    return name.replace("_", "").lower()
