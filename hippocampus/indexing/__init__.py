"""Content in, index entry out: the lines that stay in the view when a text leaves it.

Pure and deterministic; nothing is stored, and nothing that comes later is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hippocampus.indexing.extraction import EntryLine, ExtractionContext, with_lines_before
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.kinds import KINDS
from hippocampus.indexing.plain import message_of
from hippocampus.indexing.select import Price, choose, price_of
from hippocampus.indexing.sniff import extraction_of, kind_of
from hippocampus.models import tokens

EXCERPT_PART, ROWS_PART = 3, 2
"""The part of its content that an entry weighs at most: rows are looked up, so more of them are kept."""

__all__ = ["ExtractionContext", "Index", "Price", "index", "kind_of", "price_of"]


@dataclass(frozen=True, slots=True)
class Index:
    """The entry of a text."""

    kind: str
    summary: str
    """One line that a person or a model can read."""
    key_data: dict[str, Any]
    lines: tuple[str, ...]
    """The lines in the view below the first."""
    selectors: tuple[str, ...] = ()
    """Selectors that make sense for a recall of it."""


def index(text: str, context: ExtractionContext, price: Price) -> Index:
    """Return the entry of a text at a price, in at most half of its tokens."""
    extraction = extraction_of(text, context)
    if context.is_error:
        message = [EntryLine(line, keep=True, count=0) for line in message_of(text)]
        extraction = with_lines_before(extraction, message)
    share = context.content_tokens // (
        EXCERPT_PART if KINDS[extraction.kind].is_excerpt else ROWS_PART
    )
    room = replace(price, most_tokens=min(price.most_tokens, share))
    chosen = choose(extraction, context, room.without(tokens.count(extraction.summary)))
    lines = tuple(map(as_content, (extraction.summary, *chosen)))
    return Index(
        extraction.kind, extraction.summary, extraction.key_data, lines, extraction.selectors
    )
