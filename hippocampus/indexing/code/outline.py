"""The one form that every outline of source code has: symbols with line numbers, nested.

Pure data; the other files read the languages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

SymbolKind = Literal["class", "type", "def", "const", "import", "test", "main", "section"]
CONTAINERS = frozenset({"class", "type", "section", "test"})
SIGNATURE_CHARACTERS = 110
MAX_SYMBOLS = 3_000
"""Further symbols are not read; `select` looks at no more lines than that."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """Something with a name on a line of the source."""

    line: int
    kind: SymbolKind
    name: str
    signature: str = ""
    """What follows the name where it is made: parameters and result, bases, a value."""
    indent: int = 0
    parent: int | None = None
    """The number of the symbol that holds this one."""


class Outline(NamedTuple):
    """The names that a source makes."""

    language: str
    symbols: list[Symbol]


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
    """Return a symbol's name after those of the two that hold it: `Outer.Inner.name`."""
    names = [symbols[number].name]
    parent = symbols[number].parent
    while parent is not None and len(names) < 3:
        names.append(symbols[parent].name)
        parent = symbols[parent].parent
    return ".".join(reversed(names))
