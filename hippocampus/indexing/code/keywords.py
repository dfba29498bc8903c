"""An outline by keywords and indentation, for every language and for sources that do not parse.

Linear: one pattern walks over the text, and takes nothing back.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from hippocampus.indexing.code.languages import KINDS, Language
from hippocampus.indexing.code.outline import (
    MAX_SYMBOLS,
    SIGNATURE_CHARACTERS,
    Outline,
    Symbol,
    nested,
)
from hippocampus.indexing.lines import cut

TAB_WIDTH = 4
SIGNATURE_END = re.compile(r"[ \t]*(?:\{|:|=>|=|do|;|,)?[ \t]*$")
LOCAL_KINDS = frozenset({"const", "import"})
"""Inside a function these are its own business."""


def outline(text: str, language: Language) -> Outline:
    """Return the outline of a source."""
    found = nested(islice(_symbols(text, language), MAX_SYMBOLS))
    return Outline(language.name, _of_the_file(found))


def _symbols(text: str, language: Language) -> Iterator[Symbol]:
    line = 1
    seen_to = 0
    for match in language.makers.finditer(text):
        line += text.count("\n", seen_to, match.start())
        seen_to = match.start()
        group = match.lastgroup or ""
        if group not in KINDS:
            continue
        name = match.group(group).strip().strip('"`')
        signature = _signature(text, match.end(group))
        yield Symbol(
            line, KINDS[group], name, signature, len(match["indent"].expandtabs(TAB_WIDTH))
        )


def _signature(text: str, start: int) -> str:
    """Return what follows a name, over its line's end where parentheses are still open."""
    end = text.find("\n", start, start + 2 * SIGNATURE_CHARACTERS)
    piece = text[start : end if end >= 0 else start + 2 * SIGNATURE_CHARACTERS]
    if piece.count("(") > piece.count(")"):
        longer = text[start : start + 3 * SIGNATURE_CHARACTERS]
        closing = longer.find(")")
        piece = longer[: closing + 1] if closing >= 0 else piece
    return SIGNATURE_END.sub("", cut(piece, SIGNATURE_CHARACTERS).lstrip("\"'`\\"))


def _of_the_file(symbols: list[Symbol]) -> list[Symbol]:
    """Leave out the constants and imports inside functions, keeping the parents' numbers right."""
    kept: list[Symbol] = []
    moved: dict[int, int] = {}
    for number, symbol in enumerate(symbols):
        holder = symbols[symbol.parent].kind if symbol.parent is not None else ""
        if symbol.kind in LOCAL_KINDS and holder == "def":
            continue
        moved[number] = len(kept)
        parent = moved.get(symbol.parent) if symbol.parent is not None else None
        kept.append(replace(symbol, parent=parent))
    return kept
