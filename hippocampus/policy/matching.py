"""Words, globs and patterns of a policy, matched in bounded time. Pure.

Expressions are compiled once and cached, so that policies stay plain data.
"""

from __future__ import annotations

import fnmatch
import functools
import re
import unicodedata
from importlib import resources
from typing import Any

from hippocampus import patterns

UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
)
"""Scripts whose words are not separated by spaces, or have particles attached."""
LETTER = r"[\p{L}\p{M}\p{N}_]"
TYPOGRAPHY = str.maketrans(
    {
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
        "\N{COMBINING DOT ABOVE}": None,
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{MODIFIER LETTER APOSTROPHE}": "'",
    }
)
"""Replaces typographic variants: dots on the i, and apostrophes."""
MAX_CACHED = 4_096


def fold(text: str) -> str:
    """Return a text without case, width and typographic variants, for the comparison of words.

    >>> fold("Straße") == fold("STRASSE"), fold("J\N{RIGHT SINGLE QUOTATION MARK}AI  dit")
    (True, "j'ai dit")
    """
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    folded = " ".join(plain.casefold().split())
    if folded.isascii():
        return folded
    return folded.translate(TYPOGRAPHY)


@functools.lru_cache(MAX_CACHED)
def expression(pattern: str) -> Any:
    """Return a compiled RE2 expression.

    Raises:
        ValueError: the pattern is not an RE2 expression, or needs too much memory.
    """
    try:
        return patterns.compiled(pattern, has_groups=True)
    except patterns.PatternError as wrong:
        raise ValueError(f"{pattern!r} is no RE2 expression: {wrong}") from None


def finds(pattern: str, text: str) -> bool:
    """Return whether a text has a match, or without RE2 may have one: its search does not end in time."""
    try:
        return expression(pattern).search(text) is not None
    except patterns.PatternError:
        return True


def has_word(folded: str, wanted: tuple[str, ...]) -> bool:
    """Return whether a folded text contains any of the wanted phrases as whole words.

    >>> has_word(fold("ALWAYS, I said"), ("always",)), has_word(fold("tall"), ("all",))
    (True, False)
    """
    for word in _folded(wanted):
        at = folded.find(word)
        while at >= 0:
            end = at + len(word)
            edges = (folded[at - 1 : at], word[0]), (word[-1], folded[end : end + 1])
            if not any(all(map(_is_of_spaced_word, edge)) for edge in edges):
                return True
            at = folded.find(word, at + 1)
    return False


@functools.cache
def instruction_words() -> tuple[str, ...]:
    """Return the phrases by which people ask to keep something, in all languages."""
    listed = resources.files(__package__).joinpath("instructions.txt").read_text("utf-8")
    lines = (line for line in listed.splitlines() if not line.startswith("#"))
    return tuple(word.strip() for line in lines for word in line.split(","))


@functools.lru_cache(MAX_CACHED)
def _folded(wanted: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(fold, wanted))


@functools.lru_cache(MAX_CACHED)
def _is_of_spaced_word(letter: str) -> bool:
    """Return whether a character is a letter of a script that separates words by spaces: two are of one word."""
    in_word = expression(LETTER).search(letter)
    return bool(in_word) and not expression(f"[{UNSPACED}]").search(letter)


@functools.lru_cache(MAX_CACHED)
def globs(wanted: tuple[str, ...]) -> re.Pattern[str]:
    """Return one expression whose full match is a match of any of the globs, without case.

    >>> bool(globs(("browser*", "*_snapshot")).fullmatch("take_Snapshot"))
    True
    """
    return re.compile("|".join(map(fnmatch.translate, wanted)), re.IGNORECASE)


@functools.lru_cache(MAX_CACHED)
def is_one(wanted: tuple[str, ...], name: str) -> bool:
    """Return whether a name matches any of the globs, without case."""
    return globs(wanted).fullmatch(name) is not None
