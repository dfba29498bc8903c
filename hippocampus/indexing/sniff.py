"""Which kind of content a text is, and the draft that the extractor of that kind makes of it.

Told from the text itself; the tool's name and arguments are hints to an extractor and decide
nothing. Wrappings come off first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.indexing import (
    binary,
    code,
    diffs,
    documents,
    html,
    listings,
    logs,
    plain,
    prose,
    schemas,
    tables,
    unwrap,
)
from hippocampus.indexing.documents import Document
from hippocampus.indexing.draft import Draft, Extractor, Hints, Line

LEAST_CONFIDENCE = 0.25
DOMINANT_SHARE = 0.5
"""A text inside a JSON document that is this much of it is read as what it is."""
DOMINANT_CHARACTERS = 1_500
SMALL_CHARACTERS = 16_000
"""Drafts of contents up to this size are kept for as many turns as it takes them to fade."""


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """An extractor and its say on whether a text is of its kind."""

    kind: str
    recognises: Callable[[str, Hints], float]
    extract: Extractor
    surest: float = 1.0
    """It is never surer than this."""


READERS = (
    _Reader("binary", lambda text, _: binary.recognises(text), binary.extract, binary.SUREST),
    _Reader("page", lambda text, _: html.recognises(text), html.extract),
    _Reader("diff", lambda text, _: diffs.recognises(text), diffs.extract),
    _Reader("log", lambda text, _: logs.recognises(text), logs.extract),
    _Reader("listing", lambda text, _: listings.recognises(text), listings.extract),
    _Reader("table", lambda text, _: tables.recognises(text), tables.extract, tables.SUREST),
    _Reader("code", code.recognises, code.extract),
    _Reader("prose", lambda text, _: prose.recognises(text), prose.extract, prose.SUREST),
)
"""In the order in which they are believed where two are equally sure."""
ASKED = sorted(enumerate(READERS), key=lambda ranked: -ranked[1].surest)
"""With their ranks in that order; who may be surest is asked first, and may spare the others."""
FALLBACK = _Reader("text", lambda _text, _hints: 0.0, plain.extract)


def draft_of(text: str, hints: Hints) -> Draft:
    """Return a content as the extractor of its kind reads it."""
    return _read(text, hints.tool, hints.arguments)


def kind_of(text: str) -> str:
    """Return the kind of a text."""
    return _read(text, "", "").kind


def _read(text: str, tool: str, arguments: str) -> Draft:
    """Read a content once for its arrival, its entry and what is left of that many turns later."""
    read = _read_small if len(text) <= SMALL_CHARACTERS else _read_large
    return read(text, tool, arguments)


def _draft(text: str, tool: str, arguments: str) -> Draft:
    hints = Hints(tool=tool, arguments=arguments)
    found = _document_of(text)
    if isinstance(found, str):
        return _draft_of_text(found, hints)
    return _draft_of_document(found, len(text), hints)


_read_small = functools.lru_cache(maxsize=128)(_draft)
_read_large = functools.lru_cache(maxsize=4)(_draft)
"""A large content's draft may take many times its size; few of them are kept."""


@functools.lru_cache(maxsize=4)
def _document_of(text: str) -> str | Document:
    """Return the document that a JSON text is, else the text; what the call said does not matter."""
    value = unwrap.json_value(text)
    if value is None or isinstance(value, str):
        return text if value is None else value
    return _read_value(value)


def _read_value(value: Any) -> Document:
    schema = schemas.read(value)
    return documents.read(value) if schema is None else Document(schema, [])


def _draft_of_document(document: Document, characters: int, hints: Hints) -> Draft:
    """Return the draft of a document; a long text in it is read too, as what it is."""
    if not document.texts:
        return document.draft
    path, longest = max(document.texts, key=lambda each: len(each[1]))
    if len(longest) < max(DOMINANT_CHARACTERS, DOMINANT_SHARE * characters):
        return document.draft
    inner = draft_of(longest, hints)
    return joined(document.draft, path, inner)


def joined(outer: Draft, path: str, inner: Draft) -> Draft:
    """Return a document's draft with the draft of the text in it, which gives it its kind."""
    first = len(outer.lines) + 1
    heading = Line(f"{path or 'text'}: {inner.summary}", 2.0, count=0)
    shifted = (
        replace(line, parent=first - 1 if line.parent is None else line.parent + first)
        for line in inner.lines
    )
    return replace(
        inner,
        summary=f"{outer.summary}; {inner.summary}",
        lines=(*outer.lines, heading, *shifted),
        key_data={**outer.key_data, **inner.key_data},
    )


def _draft_of_text(text: str, hints: Hints) -> Draft:
    stripped = unwrap.plain(text)
    dump = unwrap.numbered_dump(stripped)
    if dump is not None:
        inside, first_line = dump
        value = unwrap.json_value(inside)
        if value is not None and not isinstance(value, str):
            return _draft_of_document(_read_value(value), len(inside), hints)
        numbered = code.extract_numbered(inside, hints, first_line)
        if numbered is not None:
            return numbered
        stripped = inside
    for reader in _ranked(stripped, hints):
        draft = _extracted(reader, stripped, hints)
        if draft is not None:
            return draft
    return Draft("empty", "empty", ())


def _extracted(reader: _Reader, text: str, hints: Hints) -> Draft | None:
    """Return what a reader makes of a text; only code asks what the call said."""
    return reader.extract(text, hints) if reader.kind == "code" else _extracted_once(reader, text)


@functools.lru_cache(maxsize=8)
def _extracted_once(reader: _Reader, text: str) -> Draft | None:
    return reader.extract(text, Hints())


def _ranked(text: str, hints: Hints) -> Iterator[_Reader]:
    """Yield the readers to try, the surest first; the fallback takes what nobody knows."""
    surest = _surest(text, hints)
    if surest:
        yield surest
        sure = [(_confidence(reader, text, hints), reader) for reader in READERS]
        believed = [each for each in sure if each[0] >= LEAST_CONFIDENCE and each[1] != surest]
        yield from (reader for _, reader in sorted(believed, key=lambda each: -each[0]))
    yield FALLBACK


def _surest(text: str, hints: Hints) -> _Reader | None:
    """Return the reader that is surest; who cannot be surer than another is not asked."""
    best: tuple[float, int] = (LEAST_CONFIDENCE, -len(READERS))
    for rank, reader in ASKED:
        if (reader.surest, -rank) > best:
            best = max(best, (_confidence(reader, text, hints), -rank))
    return READERS[-best[1]] if best[1] > -len(READERS) else None


def _confidence(reader: _Reader, text: str, hints: Hints) -> float:
    """Return how sure a reader is; only code asks what the call said."""
    if reader.kind == "code":
        return reader.recognises(text, hints)
    return _confidence_without_hints(reader, text)


@functools.lru_cache(maxsize=8 * len(READERS))
def _confidence_without_hints(reader: _Reader, text: str) -> float:
    """A content is read when it arrives, when its entry is made and when that is shortened."""
    return reader.recognises(text, Hints())
