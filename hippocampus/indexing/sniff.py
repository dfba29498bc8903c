"""Which kind of content a text is, and the extraction that the extractor of that kind makes of it.

Decided from the text itself; the tool's name and arguments are context to an extractor and decide
nothing. Wrappings come off first. A new kind is a line of `READERS`, and its name in `policy.words.Kind`.
"""

from __future__ import annotations

import functools
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.formats.reads import file_read
from hippocampus.indexing import code, documents, grids, html, listings, logs, plain, unwrap
from hippocampus.indexing.documents import JsonReading
from hippocampus.indexing.excerpt import WORDLESS, is_notice
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    ExtractionContext,
    Extractor,
    kept,
)
from hippocampus.indexing.lines import counted, cut, lines_in, shifted, with_lines_before
from hippocampus.indexing.output import Output, output_of

LOG = logging.getLogger("hippocampus")
MIN_CONFIDENCE = 0.25
HEADING_WEIGHT, EXIT_WEIGHT, NOTE_WEIGHT = 6.0, 3.0, 0.15
EXIT = re.compile(
    r"(?i)\bexit(?:ed|ing)?(?: with| status| code){0,3}[ :=]{1,4}(-?\d+)\b"
    r"|\breturned? (?:code|non-zero exit status)[ :=]{0,4}(-?\d+)|^make.*\bError (\d+)"
)
HTTP_STATUS = re.compile(r"\bHTTP/[\d.]{1,4} [1-5]\d\d\b")
NOTE_CHARACTERS, MAX_NOTES = 220, 12
DOMINANT_SHARE = 0.5
"""A text inside a JSON document that is this much of it is read by its own kind."""
DOMINANT_CHARACTERS = 1_500


class _KindReader(NamedTuple):
    """A kind of content: how sure it is of a text, and its extractor."""

    kind: str
    recognises: Callable[[str, str], float]
    """Takes a text and the name of its file."""
    extract: Extractor | None = None
    """Without one, a text of the kind is a plain excerpt."""


READERS = (
    _KindReader("binary", plain.is_binary),
    _KindReader("page", html.recognises, html.extract),
    _KindReader("diff", plain.is_diff),
    _KindReader("log", logs.recognises),
    _KindReader("listing", listings.recognises, listings.extract),
    _KindReader("table", grids.recognises, grids.extract),
    _KindReader("code", code.is_code),
    _KindReader("config", code.is_config),
    _KindReader("prose", plain.is_prose),
)
"""In the order in which they are believed where two are equally sure."""


def extraction_of(text: str, context: ExtractionContext) -> Extraction:
    """Return a text as the extractor of its kind reads it."""
    file = context.file or file_read(context.tool, context.arguments)
    return _read(text, file, context.arguments)


def kind_of(text: str) -> str:
    """Return the kind of a text."""
    return _read(text, "", "").kind


@kept
def _read(text: str, file: str, arguments: str) -> Extraction:
    try:
        found = _document_of(text)
        if isinstance(found, str):
            return _extract_text(found, file, arguments)
        return _extract_document(found, len(text), file, arguments)
    except Exception:  # one text that an extractor cannot read does not cost a session its memory
        LOG.exception("a text of %d characters is read without its form", len(text))
        summary = f"{counted(lines_in(text), 'line')}, {counted(len(text), 'character')}"
        return plain.extract(text) or Extraction("empty", summary, ())


@kept
def _document_of(text: str) -> str | JsonReading:
    """Return the document of a JSON text, else the text; the arguments of the call do not matter."""
    value, words = unwrap.json_and_words(text)
    if value is None or isinstance(value, str):
        return text if value is None else "\n".join([*words, value])
    document = documents.read(value)
    return replace(document, extraction=with_notes(document.extraction, words))


def with_notes(extraction: Extraction, notes: Sequence[str]) -> Extraction:
    """Return an extraction that opens with the notes of the tool around the content."""
    lines: list[EntryLine] = []
    for line in (line for note in notes for line in note.split("\n")[:MAX_NOTES]):
        if not WORDLESS.fullmatch(line):
            # A failed exit matters, and an HTTP status; that all went well is what one expects.
            found = EXIT.search(line)
            failed = found is not None and any(code and code != "0" for code in found.groups())
            weight = EXIT_WEIGHT if failed or HTTP_STATUS.search(line) else NOTE_WEIGHT
            lines.append(EntryLine(cut(line, NOTE_CHARACTERS), weight, is_notice(line), count=0))
    return with_lines_before(extraction, lines) if lines else extraction


def _extract_document(
    document: JsonReading, characters: int, file: str, arguments: str
) -> Extraction:
    """Return the extraction of a document; a long text in it is read too, by its own kind."""
    if not document.texts:
        return document.extraction
    path, longest = max(document.texts, key=lambda each: len(each[1]))
    if len(longest) < max(DOMINANT_CHARACTERS, DOMINANT_SHARE * characters):
        return document.extraction
    inner = _extract_text(longest, file, arguments)
    outer = documents.without_text(document.extraction, path)
    heading = EntryLine(f"{path or 'text'}: {inner.summary}", HEADING_WEIGHT, count=0)
    at = len(outer.lines)
    return replace(
        inner,
        summary=f"{outer.summary}; {inner.summary}",
        lines=(*outer.lines, heading, *shifted(inner.lines, at + 1, at)),
        key_data=outer.key_data | inner.key_data,
    )


def _extract_text(text: str, file: str, arguments: str) -> Extraction:
    """Return the extraction of a text without what its tool printed around it."""
    output = output_of(unwrap.plain(text), arguments)
    if output.is_numbered or output.notes:
        found = _document_of(output.body)
        if not isinstance(found, str):
            document = _extract_document(found, len(output.body), file, arguments)
            return with_notes(document, output.notes)
    return with_notes(_extract_body(output, file), output.notes)


def _extract_body(output: Output, file: str) -> Extraction:
    """Return the extraction of a body; a page whose lines a tool has numbered is read as its source."""
    body, first = output.body, output.first_number
    sure = [
        # Only the readers of code depend on the file's name.
        (_confidence_of(reader, body, file if reader.kind in ("code", "config") else ""), reader)
        for reader in READERS
        if not (output.is_numbered and reader.kind == "page")
    ]
    for confidence, reader in sorted(sure, key=lambda found: -found[0]):
        if confidence >= MIN_CONFIDENCE and (found := _extracted(body, reader, first)):
            return found
    return plain.extract(body, first) or Extraction("empty", "empty", ())


@functools.lru_cache(maxsize=8 * len(READERS))
def _confidence_of(reader: _KindReader, text: str, file: str) -> float:
    """A text is read when it arrives, when its entry is made and when that is shortened."""
    return reader.recognises(text, file)


@kept
def _extracted(text: str, reader: _KindReader, first_number: int) -> Extraction | None:
    if reader.extract is None:
        return plain.extract(text, first_number, reader.kind)
    return reader.extract(text, first_number)
