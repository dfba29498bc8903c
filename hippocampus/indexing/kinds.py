"""The kinds of content: how each is recognised and extracted, and what its entries weigh.

A new kind is a row of `KINDS`, and its function in the file of its form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from hippocampus.indexing import code, grids, html, listings, plain
from hippocampus.indexing.extraction import Extractor


class ContentKind(NamedTuple):
    """A kind of content."""

    name: str
    recognises: Callable[[str], float] | None = None
    """How sure it is that a text is of the kind; None where the extraction of another form names it."""
    extract: Extractor | None = None
    """Without one, a text of the kind is a plain excerpt."""
    bias: float = 0.0
    """Added to the bias of the chance of its lines: negative, they are needed less often."""
    aggressive_tokens: int | None = None
    """The most tokens of an entry with the compression `aggressive`, after section 6.3 of the protocol; None
    is that of any kind."""
    is_excerpt: bool = False
    """Whether it is read in full while it is new, and its entry reminds of it."""
    is_reading: bool = False
    """Whether a large text of the kind counts as read where the agent asked for it, in replays."""


KINDS = {
    kind.name: kind
    for kind in (
        ContentKind("binary", plain.is_binary),
        ContentKind("page", html.recognises, html.extract, aggressive_tokens=450, is_reading=True),
        ContentKind("diff", plain.is_diff),
        ContentKind("log", plain.is_log, plain.extract_log, bias=-0.4),
        ContentKind("listing", listings.recognises, listings.extract, bias=-1.2),
        ContentKind("table", grids.recognises, grids.extract),
        ContentKind("code", code.is_code, aggressive_tokens=200, is_excerpt=True, is_reading=True),
        ContentKind("config", code.is_config, is_excerpt=True),
        ContentKind("prose", plain.is_prose, is_excerpt=True, is_reading=True),
        ContentKind("hits", bias=-0.8),
        ContentKind("commits"),
        ContentKind("json", aggressive_tokens=300),
        ContentKind("schema", aggressive_tokens=800),
        ContentKind("arguments"),
        ContentKind("empty"),
        ContentKind("text", is_excerpt=True),
    )
}
"""In the order in which they are believed where two are equally sure; `text` is what none recognises."""
