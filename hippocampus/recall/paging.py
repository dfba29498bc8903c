"""Splits content into the lines that a recall counts; JSON on one line is broken into many. Pure."""

from __future__ import annotations

import functools
import json
from typing import Any

from hippocampus.indexing import unwrap

LONG_LINE_CHARACTERS = 400
"""Of a longer line, a pattern returns only the text around a match; JSON on one is broken."""
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


@functools.lru_cache(maxsize=CACHED_TEXTS)
def decoded(text: str) -> Any:
    """Return the value of a JSON text, with JSON inside its strings decoded too, or None.

    The value is cached and shared: callers must not change it.
    """
    return unwrap.json_value(text)
