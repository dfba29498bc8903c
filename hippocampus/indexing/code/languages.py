"""The signs of each programming language, which `languages.txt` lists."""

from __future__ import annotations

import re
from typing import NamedTuple

from hippocampus.patterns import table


class Language(NamedTuple):
    """One language, or a family that is written alike."""

    name: str
    extensions: tuple[str, ...]
    marks: re.Pattern[str]
    """Found in most lines of it, and in few of others."""


_TABLE = table(__package__, "languages.txt")
_FLOW = "|".join(_TABLE.pop("flow"))
"""Marks of a function's inside, for parts of a file that name nothing."""


def _language(head: str, marks: list[str]) -> Language:
    name, *extensions = head.split()
    return Language(name, tuple(extensions), re.compile("|".join(marks).replace("<flow>", _FLOW)))


*LANGUAGES, SOME_LANGUAGE = (_language(head, marks) for head, marks in _TABLE.items())
BY_EXTENSION = {
    extension: language
    for language in (*LANGUAGES, SOME_LANGUAGE)
    for extension in language.extensions
}
