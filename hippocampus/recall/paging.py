"""A content as the lines by which a recall counts it; JSON on one line is broken into many. Pure."""

from __future__ import annotations

import functools
import itertools
import json
from typing import Any

from hippocampus.formats import json_text
from hippocampus.indexing import unwrap

LONG_LINE_CHARACTERS = 400
ESCAPED_JSON = ('{\\"', "[\\", "{\\\\")
"""What a text holds in which JSON stands inside strings."""
BANNER_CHARACTERS = 4_000
REMEMBERED = 4
"""So many contents are kept as they were last read: a model asks for one several times."""


def pages(text: str) -> list[str]:
    """Return the lines of a text as a recall counts them; JSON on one line is broken first."""
    return paged(text).split("\n")


@functools.lru_cache(maxsize=REMEMBERED)
def paged(text: str) -> str:
    """Return a text whose lines can be paged: itself, or its JSON with one item on each line.

    The lines of a text inside JSON are lines here too.
    """
    if text.count("\n", 0, -1) > 1 or len(text) < LONG_LINE_CHARACTERS:
        return text
    value = decoded(text)
    if not isinstance(value, dict | list):
        return value if isinstance(value, str) else text
    dumped = json.dumps(value, ensure_ascii=False, separators=(",\n", ": "))
    return dumped.replace("\\n", "\n")


def first_number(text: str) -> int:
    r"""Return the number of the first line: 1, or in a part of a file with line numbers its own.

    >>> first_number("  40\tdef one():\n  41\t    return 1")
    40
    """
    lines = text[:BANNER_CHARACTERS].split("\n")[: unwrap.BANNER_LINES + 1]
    for at, (line, following) in enumerate(itertools.pairwise(lines)):
        match, after = unwrap.NUMBERED.match(line), unwrap.NUMBERED.match(following)
        if match and after and int(after[1]) == int(match[1]) + 1:
            return max(1, int(match[1]) - at)
    return 1


@functools.lru_cache(maxsize=REMEMBERED)
def decoded(text: str) -> Any:
    """Return the JSON value that a text is, JSON inside its strings read too, or nothing.

    The value is shared by all who ask for it: it may not be changed.
    """
    if any(sign in text for sign in ESCAPED_JSON):
        return unwrap.json_value(text)
    try:
        return json.loads(text) if text.lstrip()[:1] in ("{", "[") else unwrap.json_value(text)
    except json_text.UNREADABLE:
        return unwrap.json_value(text)
