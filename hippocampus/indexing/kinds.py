"""The kinds of content: how each is recognised and extracted, what its entries weigh, and which one a text is.

A new kind is a row of `KINDS`, and its function in the file of its form. A text is recognised by itself; of the
call's arguments only the line from which a file is read is used. Wrappings come off first.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from hippocampus.formats.tool_calls import says_it_failed
from hippocampus.indexing import code, grids, html, json_documents, listings, plain, unwrap
from hippocampus.indexing.extraction import (
    WORDLESS,
    EntryLine,
    Extraction,
    ExtractionContext,
    Extractor,
    LaterLines,
    cut,
    ends_of,
    is_notice,
    kept_by_hash,
    numbered_from,
    with_lines_before,
)
from hippocampus.indexing.unwrap import asked_line, output_of

LOG = logging.getLogger("hippocampus")
T = TypeVar("T")
MIN_CONFIDENCE = 0.25
SMALL_CHARACTERS = 16_000
FAILED_WEIGHT, NOTE_WEIGHT = 3.0, 0.15
HTTP_STATUS = re.compile(r"\bHTTP/[\d.]{1,4} [1-5]\d\d\b")
NOTE_CHARACTERS, MAX_NOTES = 220, 12


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


def kind_of(text: str) -> str:
    """Return the kind of a text."""
    return extraction_of(text, ExtractionContext()).kind


def extraction_of(text: str, context: ExtractionContext) -> Extraction:
    """Return a text as the extractor of its kind reads it."""
    read = read_small if len(text) <= SMALL_CHARACTERS else read_large
    return read(text, asked_line(context.arguments))


def _read(text: str, asked: int) -> Extraction:
    def safely(read: Callable[[], T], otherwise: Callable[[], T]) -> T:
        # One text that an extractor cannot read does not cost a session its memory.
        try:
            return read()
        except Exception:
            LOG.exception("a text of %d characters is read without its form", len(text))
            return otherwise()

    plainly = functools.partial(plain.extract, text)
    found = safely(lambda: _document_of(text, asked) or _extract_text(text, asked), plainly)
    # Lines that are read at their first use may fail only then.
    lines = LaterLines(lambda: safely(lambda: tuple(found.lines), lambda: tuple(plainly().lines)))
    return replace(found, lines=lines)


read_small, read_large = (functools.lru_cache(maxsize=size)(_read) for size in (64, 4))
"""A text is read once for its kind, its entry and the shorter entry.

Small texts are kept for as many turns as it takes them to fade; the reading of a large text may take
many times its size, and few are kept.
"""


def _document_of(text: str, asked: int) -> Extraction | None:
    """Return the extraction of a JSON text; one that is mostly a text is that text, after the rest."""
    value, words = unwrap.json_and_words(text)
    if value is None:
        return None
    if isinstance(value, str):
        return with_notes(_extract_text(value, asked), words)
    longest, rest, _ = unwrap.parted(value, len(text))
    found = json_documents.read(rest)
    if longest:
        inner = _extract_text(longest, asked)
        inner = replace(
            inner,
            summary=f"{found.summary}; {inner.summary}",
            key_data=found.key_data | inner.key_data,
        )
        found = with_lines_before(inner, found.lines)
    return with_notes(found, words)


def with_notes(extraction: Extraction, notes: Sequence[str]) -> Extraction:
    """Return an extraction that opens with the notes of the tool around the content."""
    lines: list[EntryLine] = []
    for line in ends_of([line for note in notes for line in note.split("\n")[:MAX_NOTES]]):
        if not WORDLESS.fullmatch(line):
            # That all went well is what one expects.
            failed = says_it_failed(line) or HTTP_STATUS.search(line)
            weight = FAILED_WEIGHT if failed else NOTE_WEIGHT
            lines.append(EntryLine(cut(line, NOTE_CHARACTERS), weight, is_notice(line), count=0))
    return with_lines_before(extraction, lines) if lines else extraction


def _extract_text(text: str, asked: int) -> Extraction:
    """Return the extraction of a text without what its tool printed around it."""
    output = output_of(unwrap.plain(text), asked)
    found = _document_of(output.body, asked) if output.body != text else None
    if found is None:
        extractors = (
            kind.extract or functools.partial(plain.extract, kind=kind.name)
            for kind in _kinds_of(output.body, is_numbered=output.is_numbered)
        )
        read = (extract(output.body) for extract in (*extractors, plain.extract))
        found = next(filter(None, read))
        if (first := output.first_number) != 1:  # its lines have other numbers in their file
            selectors = (
                re.sub(r"\d+", lambda line: str(int(line[0]) + first - 1), selector)
                if selector.startswith("lines=")
                else selector
                for selector in found.selectors
            )
            lines = LaterLines(functools.partial(numbered_from, first, found.lines))
            found = replace(found, lines=lines, selectors=tuple(selectors))
    return with_notes(found, output.notes)


@kept_by_hash
def _kinds_of(body: str, *, is_numbered: bool) -> list[ContentKind]:
    """Return the kinds that a body may be of, the surest first.

    A page with line numbers of a tool is read as its source.
    """
    sure = [
        (kind.recognises(body), kind)
        for kind in KINDS.values()
        if kind.recognises and not (is_numbered and kind.name == "page")
    ]
    surest = sorted(sure, key=lambda found: -found[0])
    return [kind for confidence, kind in surest if confidence >= MIN_CONFIDENCE]
