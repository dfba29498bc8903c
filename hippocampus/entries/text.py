"""Texts as a database takes them, and the letters that open its ids; nothing is loaded for it."""

from __future__ import annotations

MARK_CHARACTERS = 2


def storable(text: str) -> str:
    r"""Return a text as a database takes it: a lone surrogate is written out, as in JSON.

    >>> storable("caf\u00e9 \udce9")
    'caf\xe9 \\udce9'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
