"""Texts that a database accepts, and the length of an id's mark. Imports nothing."""

from __future__ import annotations

MARK_CHARACTERS = 2


def storable(text: str) -> str:
    r"""Return a text that a database accepts: lone surrogates are escaped, as in JSON.

    >>> storable("caf\u00e9 \udce9")
    'caf\xe9 \\udce9'
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text
