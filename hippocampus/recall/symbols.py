"""The source of a symbol in code, by `name` or `Outer.name`. Pure; nothing is parsed twice."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

import re2

from hippocampus.indexing.code import outline_of
from hippocampus.indexing.code.outline import Symbol, qualified
from hippocampus.indexing.output import without_numbers
from hippocampus.recall.fitting import NumberedLine
from hippocampus.recall.patterns import matching
from hippocampus.recall.sections import indent_of

NAME = re.compile(r"[\w$:.<>#-]{1,200}(?:\(\))?")
MAKING = (
    r"^\s*(?:[\w@<>\[\]]+\s+){0,4}(?:def|class|func|fn|function|struct|enum|interface|type|trait|"
    r"impl|module|const|let|var|CREATE TABLE|create table)\s+(?:\([^)]*\)\s*)?%s\b"
)
"""The definition of a name, for sources without an outline."""
MAX_SOURCE_CHARACTERS = 200_000
"""A larger source gets no outline."""
CLOSING = re.compile(r"\s*[)\]]")


def find(text: str, path: str) -> list[NumberedLine]:
    """Return the lines of a symbol's definition."""
    name = path.strip().removesuffix("()")
    if not NAME.fullmatch(name):
        return []
    lines = text.split("\n")
    symbols = _symbols(text)
    last = name.rsplit(".", 1)[-1]
    starts = [
        symbol.line - 1
        for at, symbol in enumerate(symbols)
        if symbol.kind != "import"
        and symbol.name == last
        and (symbol.name == name or qualified(symbols, at).endswith(name))
    ]
    if not starts:
        wanted = MAKING % re2.escape(last.rsplit("::", 1)[-1])
        starts = [each.number - 1 for each in matching(text, wanted)]
    return [
        shown
        for start in starts
        if start < len(lines)
        for shown in _whole(lines, _bare(text), start)
    ]


@functools.lru_cache(maxsize=2)
def _bare(text: str) -> list[str]:
    """Return the lines of a source without the line numbers of a dump."""
    return without_numbers(text).split("\n")


def names(text: str) -> Sequence[str]:
    """Return the names of the symbols in a source, outer ones first."""
    found = _symbols(text)
    made = [at for at, symbol in enumerate(found) if symbol.kind not in ("import", "main")]
    made.sort(key=lambda at: found[at].parent is not None)
    return [qualified(found, at) for at in made]


@functools.lru_cache(maxsize=2)
def _symbols(text: str) -> list[Symbol]:
    """Return the symbols of a source, each with its line in the text."""
    if len(text) > MAX_SOURCE_CHARACTERS:
        return []
    outline = outline_of("\n".join(_bare(text)))
    return outline.symbols if outline else []


def _whole(lines: Sequence[str], bare: Sequence[str], start: int) -> list[NumberedLine]:
    """Return the lines of a definition, from its decorators to its last indented line."""
    indent = indent_of(bare[start])
    first = start
    while (
        first and bare[first - 1].lstrip().startswith("@") and indent_of(bare[first - 1]) == indent
    ):
        first -= 1
    end = start + 1
    while end < len(bare) and (
        not bare[end].strip()
        or indent_of(bare[end]) > indent
        or (
            indent_of(bare[end]) == indent
            and (CLOSING.match(bare[end]) is not None or bare[end].strip() == "{")
        )
    ):
        end += 1
    if end < len(bare) and bare[end].lstrip().startswith(("}", "end")):
        end += 1
    while end > start + 1 and not bare[end - 1].strip():
        end -= 1
    return [NumberedLine(number + 1, lines[number]) for number in range(first, end)]
