"""The one form that every outline of source code has: symbols with line numbers, nested.

Pure data; how a language is read stands in the other files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from hippocampus.indexing.lines import cut

SymbolKind = Literal["class", "type", "def", "const", "import", "test", "main", "section"]
HEADER = re.compile(
    r"\s*+(?:/\*+|//+!?|#!?|--(?=[ \t])|;+|<!--|\"\"\"|''')[ \t]*+(?P<words>[^\n]{4,200})?"
)
NO_TITLE = re.compile(
    r"(?i)\bcopyright\b|\blicen[cs]ed?\b|\bSPDX-|\ball rights reserved\b|\bgenerated\b.*\bby\b|\bdo not edit\b|"
    r"^(?:eslint|prettier|@?ts-|jshint|noqa|pylint|mypy|type:|vim:|-\*-|region)"
)
"""A comment for lawyers or tools, which does not describe the source."""
CONTAINERS = frozenset({"class", "type", "section", "test"})
SIGNATURE_CHARACTERS = 110
MOST_SYMBOLS = 3_000
"""Symbols behind these are not read; `select` looks at no more lines than that."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something with a name that stands on a line of the source."""

    line: int
    kind: SymbolKind
    name: str
    signature: str = ""
    """What follows the name where it is made: parameters and result, bases, a value."""
    indent: int = 0
    parent: int | None = None
    """The number of the symbol that holds this one."""


class Outline(NamedTuple):
    """What an outline of one source knows."""

    language: str
    symbols: list[Symbol]
    title: str = ""
    """The first sentence of the source's own documentation."""


def nested(symbols: Iterable[Symbol]) -> list[Symbol]:
    """Return the symbols with their parents, from their indentation."""
    placed: list[Symbol] = []
    open_at: list[int] = []
    for symbol in symbols:
        while open_at and placed[open_at[-1]].indent >= symbol.indent:
            open_at.pop()
        parent = open_at[-1] if open_at else None
        placed.append(replace(symbol, parent=parent))
        if symbol.kind in CONTAINERS or symbol.kind == "def":
            open_at.append(len(placed) - 1)
    return placed


def qualified(symbols: list[Symbol], number: int) -> str:
    """Return a symbol's name behind those of the two that hold it: `Outer.Inner.name`."""
    names = [symbols[number].name]
    parent = symbols[number].parent
    while parent is not None and len(names) < 3:
        names.append(symbols[parent].name)
        parent = symbols[parent].parent
    return ".".join(reversed(names))


def title_of(text: str) -> str:
    """Return the words of the comment that opens a source."""
    for line in text[:600].split("\n")[:4]:
        match = HEADER.match(line)
        words = (match["words"] or "").strip("*/ #\"'") if match else ""
        if NO_TITLE.search(words):
            return ""
        if " " in words and not line.startswith("#!") and words[0].isalnum():
            return cut(words, SIGNATURE_CHARACTERS)
    return ""
