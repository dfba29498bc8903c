"""How tables of words are written: as text, one word after another. Nothing else is here."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())
