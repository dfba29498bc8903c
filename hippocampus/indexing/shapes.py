"""What a single value looks like: an identifier, an address, a date, a number, words. Pure."""

from __future__ import annotations

import functools
import re
from typing import Literal

Shape = Literal["id", "url", "path", "date", "number", "flag", "empty", "words", "text"]

UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
HASH = re.compile(r"(?=.*\d)(?=.*[a-fA-F])[0-9a-fA-F]{7,128}")
DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?|\d\d:\d\d(?::\d\d\S*)?")
URL = re.compile(r"[a-z][a-z0-9+.-]{1,12}://\S+")
PATH = re.compile(r"~?/?[\w@.+-]+(?:/[\w@.+-]+)+/?|[\w-]+\.[a-z][a-z0-9]{0,4}")
CODED = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@#-]*")
TELLING = re.compile(r"[0-9_:@#]|[a-z][A-Z]|\w\.\w|\w-\w")
OPAQUE = re.compile(r"[A-Za-z0-9+/_=-]{40,}")
"""Long and without a word in it: encoded bytes, which are not typed again."""
SHORT_CHARACTERS = 80
MAX_ID_CHARACTERS = 80
REMEMBERED_CHARACTERS = 500
"""The names of texts up to this size are kept for a while."""

IDENTIFIER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./:@#-]{4,120}[A-Za-z0-9_]")
PUNCTUATION = "./:@#-"
"""What an identifier may have inside, and not at its ends."""
BLANKS = bytes(
    code if re.match(rf"[\w{PUNCTUATION}]", chr(code), re.ASCII) else ord(" ")
    for code in range(256)
)
"""A table with a blank for every byte that no identifier has."""
MIN_CHARACTERS, MAX_CHARACTERS = 6, 122
NAMED = re.compile(r"[0-9_/]|[a-z][A-Z]|\w\.\w")


def identifiers(text: str) -> frozenset[str]:
    """Return what a text names exactly: ids, paths, names in code, figures, dates."""
    small = len(text) <= REMEMBERED_CHARACTERS
    return _remembered(text) if small else _just_remembered(text)


def _identifiers(text: str) -> frozenset[str]:
    """Return what `IDENTIFIER` finds that `NAMED` matches, without a regular expression for most words."""
    split = text.encode("ascii", "replace").translate(BLANKS).decode("ascii").split()
    found: set[str] = set()
    for word in set(split):
        if len(word) < MIN_CHARACTERS or (word.isalpha() and word.islower()):
            continue
        name = word.strip(PUNCTUATION)
        if len(word) > MAX_CHARACTERS:
            found.update(filter(NAMED.search, IDENTIFIER.findall(word)))
        elif len(name) >= MIN_CHARACTERS and ("_" in name or "/" in name or NAMED.search(name)):
            found.add(name)
    return frozenset(found)


_just_remembered = functools.lru_cache(maxsize=8)(_identifiers)
_remembered = functools.lru_cache(maxsize=2_048)(_identifiers)
"""Messages are searched again when a payload leaves, and a line when its entry shrinks."""


def shape_of(value: object) -> Shape:
    """Return what a scalar looks like."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, bool):
        return "flag"
    if isinstance(value, int | float):
        return "number"
    text = str(value)
    return "text" if len(text) > 4 * SHORT_CHARACTERS else _shape_of_text(text)


@functools.lru_cache(maxsize=2_048)
def _shape_of_text(text: str) -> Shape:
    """Cached: few values of a column differ, and their shapes are needed three times."""
    for shape, pattern in _PATTERNS:
        if pattern.fullmatch(text):
            return shape
    if len(text) <= MAX_ID_CHARACTERS and CODED.fullmatch(text) and TELLING.search(text):
        return "id"
    return "words" if len(text) <= SHORT_CHARACTERS else "text"


_PATTERNS: tuple[tuple[Shape, re.Pattern[str]], ...] = (
    ("id", UUID),
    ("date", DATE),
    ("number", re.compile(r"-?\d+(?:\.\d+)?")),
    ("id", HASH),
    ("url", URL),
    ("path", PATH),
    ("text", OPAQUE),
)
