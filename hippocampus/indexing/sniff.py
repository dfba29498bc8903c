"""Which kind of content a text is, and the extraction that the extractor of that kind makes of it.

SignRule from the text itself; the tool's name and arguments are context to an extractor and decide
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
from hippocampus.indexing.documents import JsonDocument
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext, Extractor

LEAST_CONFIDENCE = 0.25
DOMINANT_SHARE = 0.5
"""A text inside a JSON document that is this much of it is read as what it is."""
DOMINANT_CHARACTERS = 1_500
SMALL_CHARACTERS = 16_000
"""Extractions of contents up to this size are kept for as many turns as it takes them to fade."""


@dataclass(frozen=True, slots=True, eq=False)
class _KindReader:
    """A kind of content: how sure it is of a text, and its extractor."""

    kind: str
    recognises: Callable[[str, ExtractionContext], float]
    extract: Extractor
    surest: float = 1.0
    """It is never surer than this."""


READERS = (
    _KindReader("binary", lambda text, _: binary.recognises(text), binary.extract, binary.SUREST),
    _KindReader("page", lambda text, _: html.recognises(text), html.extract),
    _KindReader("diff", lambda text, _: diffs.recognises(text), diffs.extract),
    _KindReader("log", lambda text, _: logs.recognises(text), logs.extract),
    _KindReader("listing", lambda text, _: listings.recognises(text), listings.extract),
    _KindReader("table", lambda text, _: tables.recognises(text), tables.extract, tables.SUREST),
    _KindReader("code", code.recognises, code.extract),
    _KindReader("prose", lambda text, _: prose.recognises(text), prose.extract, prose.SUREST),
)
"""In the order in which they are believed where two are equally sure."""
ASKED = sorted(enumerate(READERS), key=lambda ranked: -ranked[1].surest)
"""With their ranks in that order; the one with the highest bound comes first and may make the others unnecessary."""
FALLBACK = _KindReader("text", lambda _text, _hints: 0.0, plain.extract)


def extraction_of(text: str, context: ExtractionContext) -> Extraction:
    """Return a content as the extractor of its kind reads it."""
    return _read(text, context.tool, context.arguments)


def kind_of(text: str) -> str:
    """Return the kind of a text."""
    return _read(text, "", "").kind


def _read(text: str, tool: str, arguments: str) -> Extraction:
    """Read a content once for its arrival, its entry and what is left of that many turns later."""
    read = _read_small if len(text) <= SMALL_CHARACTERS else _read_large
    return read(text, tool, arguments)


def _extraction(text: str, tool: str, arguments: str) -> Extraction:
    context = ExtractionContext(tool=tool, arguments=arguments)
    found = _document_of(text)
    if isinstance(found, str):
        return _extract_text(found, context)
    return _extract_document(found, len(text), context)


_read_small = functools.lru_cache(maxsize=128)(_extraction)
_read_large = functools.lru_cache(maxsize=4)(_extraction)
"""A large content's extraction may take many times its size; few of them are kept."""


@functools.lru_cache(maxsize=4)
def _document_of(text: str) -> str | JsonDocument:
    """Return the document of a JSON text, else the text; the arguments of the call do not matter."""
    value = unwrap.json_value(text)
    if value is None or isinstance(value, str):
        return text if value is None else value
    return _read_value(value)


def _read_value(value: Any) -> JsonDocument:
    schema = schemas.read(value)
    return documents.read(value) if schema is None else JsonDocument(schema, [])


def _extract_document(
    document: JsonDocument, characters: int, context: ExtractionContext
) -> Extraction:
    """Return the extraction of a document; a long text in it is read too, as what it is."""
    if not document.texts:
        return document.extraction
    path, longest = max(document.texts, key=lambda each: len(each[1]))
    if len(longest) < max(DOMINANT_CHARACTERS, DOMINANT_SHARE * characters):
        return document.extraction
    inner = extraction_of(longest, context)
    return joined(document.extraction, path, inner)


def joined(outer: Extraction, path: str, inner: Extraction) -> Extraction:
    """Return a document's extraction with the extraction of the text in it, which gives it its kind."""
    first = len(outer.lines) + 1
    heading = EntryLine(f"{path or 'text'}: {inner.summary}", 2.0, count=0)
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


def _extract_text(text: str, context: ExtractionContext) -> Extraction:
    stripped = unwrap.plain(text)
    dump = unwrap.numbered_dump(stripped)
    if dump is not None:
        inside, first_line = dump
        value = unwrap.json_value(inside)
        if value is not None and not isinstance(value, str):
            return _extract_document(_read_value(value), len(inside), context)
        numbered = code.extract_numbered(inside, context, first_line)
        if numbered is not None:
            return numbered
        stripped = inside
    for reader in _ranked(stripped, context):
        extraction = _extracted(reader, stripped, context)
        if extraction is not None:
            return extraction
    return Extraction("empty", "empty", ())


def _extracted(reader: _KindReader, text: str, context: ExtractionContext) -> Extraction | None:
    """Return the extraction by one reader; only code depends on the arguments of the call."""
    return reader.extract(text, context) if reader.kind == "code" else _extracted_once(reader, text)


@functools.lru_cache(maxsize=8)
def _extracted_once(reader: _KindReader, text: str) -> Extraction | None:
    return reader.extract(text, ExtractionContext())


def _ranked(text: str, context: ExtractionContext) -> Iterator[_KindReader]:
    """Yield the readers to try, the surest first; the fallback takes every text."""
    surest = _surest(text, context)
    if surest:
        yield surest
        sure = [(_confidence(reader, text, context), reader) for reader in READERS]
        believed = [each for each in sure if each[0] >= LEAST_CONFIDENCE and each[1] != surest]
        yield from (reader for _, reader in sorted(believed, key=lambda each: -each[0]))
    yield FALLBACK


def _surest(text: str, context: ExtractionContext) -> _KindReader | None:
    """Return the surest reader; one that cannot be surer than another is not run."""
    best: tuple[float, int] = (LEAST_CONFIDENCE, -len(READERS))
    for rank, reader in ASKED:
        if (reader.surest, -rank) > best:
            best = max(best, (_confidence(reader, text, context), -rank))
    return READERS[-best[1]] if best[1] > -len(READERS) else None


def _confidence(reader: _KindReader, text: str, context: ExtractionContext) -> float:
    """Return how sure a reader is; only code depends on the arguments of the call."""
    if reader.kind == "code":
        return reader.recognises(text, context)
    return _confidence_without_hints(reader, text)


@functools.lru_cache(maxsize=8 * len(READERS))
def _confidence_without_hints(reader: _KindReader, text: str) -> float:
    """A content is read when it arrives, when its entry is made and when that is shortened."""
    return reader.recognises(text, ExtractionContext())
