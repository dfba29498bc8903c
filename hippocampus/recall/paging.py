"""Splits content into the lines that a recall counts; JSON on one line is broken into many. Pure."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

from hippocampus.formats import json_text
from hippocampus.indexing import unwrap

LONG_LINE_CHARACTERS = 400
ESCAPED_JSON = ('{\\"', "[\\", "{\\\\")
"""Occur in a text with JSON inside strings."""
BANNER_CHARACTERS = 4_000
CACHED_TEXTS = 4
"""How many paged texts are cached: a model recalls the same one several times."""


def pages(text: str) -> list[str]:
    """Return the lines of a text as a recall counts them; JSON on one line is broken first."""
    return paged(text).split("\n")


@functools.lru_cache(maxsize=CACHED_TEXTS)
def paged(text: str) -> str:
    """Return a text with lines to page: the text itself, or its JSON with one item a line.

    Lines of strings inside the JSON are lines too.
    """
    if text.count("\n", 0, -1) > 1 or len(text) < LONG_LINE_CHARACTERS:
        return text
    value = decoded(text)
    if not isinstance(value, dict | list):
        return value if isinstance(value, str) else text
    dumped = json.dumps(value, ensure_ascii=False, separators=(",\n", ": "))
    return dumped.replace("\\n", "\n")


def first_number(text: str) -> int:
    r"""Return the number of the first line: 1, or its own in a part of a file with line numbers.

    >>> first_number("  40\tdef one():\n  41\t    return 1")
    40
    """
    lines = text[:BANNER_CHARACTERS].split("\n")[: unwrap.BANNER_LINES + 1]
    for at, (line, following) in enumerate(itertools.pairwise(lines)):
        match, after = unwrap.NUMBERED.match(line), unwrap.NUMBERED.match(following)
        if match and after and int(after[1]) == int(match[1]) + 1:
            return max(1, int(match[1]) - at)
    return 1


@functools.lru_cache(maxsize=CACHED_TEXTS)
def decoded(text: str) -> Any:
    """Return the value of a JSON text, with JSON inside its strings decoded too, or None.

    The value is cached and shared: callers must not change it.
    """
    if any(sign in text for sign in ESCAPED_JSON):
        return unwrap.json_value(text)
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else unwrap.json_value(text)
    except json_text.UNREADABLE:
        return unwrap.json_value(text)
