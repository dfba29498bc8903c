"""Bytes in place of text: images, audio, archives, base64, and what control characters betray.

Nothing of the bytes stands in an entry but their kind, size, pixels, hash and readable strings. Pure.
"""

from __future__ import annotations

import re

from hippocampus.indexing.binary.blobs import (
    DATA_URL,
    Blob,
    blob_of,
    decoded,
    kind_of_bytes,
    marked,
    text_in,
)
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted
from hippocampus.indexing.thin import thinned

SUREST = 0.95
SAMPLE_CHARACTERS = 8_000
UNPRINTABLE = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffd]")
UNPRINTABLE_ASCII = bytes(code for code in range(128) if UNPRINTABLE.match(chr(code)))
SHARE = 0.05
"""From here on unprintable characters mean bytes."""
READABLE = re.compile(r"[\x20-\x7e]{6,}")
WORDY = re.compile(r"[A-Za-z0-9]{3,}[ ./:@_-]?[A-Za-z0-9]{2,}")
MOST_STRINGS = 300
HEAD_LINES = 12
SHOWN_CHARACTERS = 200
STRING_CHARACTERS = 2_000_000
"""Readable strings are looked for up to here."""


def recognises(text: str) -> float:
    """Return how surely a text is bytes, as they are or encoded."""
    sample = text[:SAMPLE_CHARACTERS]
    if not sample.strip():
        return 0.0
    if DATA_URL.match(sample.lstrip()):
        return SUREST
    share = _unprintable_share(sample)
    if share >= SHARE or "\x00" in sample[:1_000]:
        return SUREST if share >= SHARE else 0.6
    if kind_of_bytes(_bytes_of(sample[:300]), sure=False) and not sample.lstrip().startswith(
        ("<", "-")
    ):
        return 0.6
    return _encoded_share(text, sample)


def _encoded_share(text: str, sample: str) -> float:
    """Return the share of a sample that is encoded bytes, where it is most of it."""
    tail = text[-SAMPLE_CHARACTERS:] if len(text) > SAMPLE_CHARACTERS else ""
    bare, blobs = marked(sample)
    rest, more = marked(tail)
    if not blobs and not more:
        return 0.0
    left = len(bare) + len(rest) - sum(len(blob.label()) for blob in (*blobs, *more))
    share = 1 - left / max(1, len(sample) + len(tail))
    return min(SUREST, share) if share > 0.5 else 0.0


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read bytes into their kind and size, and a text with encoded bytes into its other lines."""
    del context
    whole = _whole(text)
    if whole is not None:
        return _extraction(blob_of(*whole), _text_lines(whole[0]))
    if _unprintable(text):
        blob = blob_of(_bytes_of(text))
        return _extraction(blob, _strings(text), len(text))
    bare, blobs = marked(text)
    return _around(bare, blobs) if blobs else None


def _unprintable_share(sample: str) -> float:
    """Return the share of a sample's characters that no text has."""
    if sample.isascii():
        printable = len(sample.encode("ascii").translate(None, UNPRINTABLE_ASCII))
        return (len(sample) - printable) / max(1, len(sample))
    return len(UNPRINTABLE.findall(sample)) / len(sample)


def _unprintable(text: str) -> bool:
    sample = text[:SAMPLE_CHARACTERS]
    share = _unprintable_share(sample)
    return share >= SHARE or (
        bool(kind_of_bytes(_bytes_of(sample[:300]), sure=False)) and share > 0
    )


def _whole(text: str) -> tuple[bytes, str] | None:
    """Return the bytes that a whole text encodes, and the type that a `data:` address names."""
    bare = text.strip().strip("\"'")
    opening = DATA_URL.match(bare)
    data = decoded(bare[opening.end() :] if opening else bare)
    return (data, (opening[1] or "") if opening else "") if data else None


def _text_lines(data: bytes) -> tuple[EntryLine, ...]:
    """Return the lines of encoded text, decoded."""
    filled = [line.strip() for line in text_in(data).split("\n") if line.strip()]
    rendered = [
        EntryLine(line[: 2 * SHOWN_CHARACTERS], 1.0 if at < HEAD_LINES else 0.5)
        for at, line in enumerate(filled)
    ]
    return thinned(rendered, MOST_STRINGS)


def _bytes_of(text: str) -> bytes:
    """Return the bytes that a text was made of: as Latin-1, with surrogate escapes, or in UTF-8."""
    try:
        return (
            text.encode("latin-1")
            if ord(max(text, default="\0")) < 256
            else text.encode("utf-8", "surrogateescape")
        )
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _extraction(blob: Blob, strings: tuple[EntryLine, ...], characters: int = 0) -> Extraction:
    size = f"{blob.size:,} bytes" if not characters else f"{counted(characters, 'character')}"
    pixels = f"{blob.pixels[0]}×{blob.pixels[1]} pixels" if blob.pixels else ""
    parts = [blob.kind, *([pixels] if pixels else []), size, f"sha256 {blob.digest}"]
    facts = {"kind": blob.kind, "bytes": blob.size, "sha256": blob.digest}
    if blob.pixels:
        facts |= {"width": blob.pixels[0], "height": blob.pixels[1]}
    return Extraction("binary", ", ".join(parts), thinned(strings), facts, (), "strings")


def _strings(text: str) -> tuple[EntryLine, ...]:
    """Return the readable runs of some bytes, as `strings` does, each once."""
    found = dict.fromkeys(READABLE.findall(text[:STRING_CHARACTERS]))
    rendered = [
        run.strip()[:SHOWN_CHARACTERS] for run in found if WORDY.search(run[:SHOWN_CHARACTERS])
    ]
    lines = [EntryLine(run, 0.6) for run in rendered[:MOST_STRINGS]]
    behind = len(found) - len(lines)
    return (
        (*lines, EntryLine(f"… {behind:,} more", 0.01, count=behind))
        if behind > 0
        else tuple(lines)
    )


def _around(bare: str, blobs: list[Blob]) -> Extraction:
    """Return the lines of a text with marks in place of its encoded bytes."""
    lines = [
        EntryLine(_around_mark(line), 1.5 if "‹" in line and "sha256" in line else 0.8)
        for line in bare.split("\n")
        if line.strip()
    ]
    total = sum(blob.size for blob in blobs)
    kinds = ", ".join(dict.fromkeys(blob.kind for blob in blobs[:20]))
    summary = f"text with {counted(len(blobs), 'encoded blob')}: {kinds}, {total:,} bytes"
    facts = {"blobs": len(blobs), "bytes": total, "sha256": [blob.digest for blob in blobs[:20]]}
    return Extraction("binary", summary, thinned(lines), facts, ('pattern="…"',))


def _around_mark(line: str) -> str:
    """Return a line cut, but for its first mark."""
    at = line.find("‹")
    if len(line) <= 2 * SHOWN_CHARACTERS or at < 0:
        return line.strip()[: 2 * SHOWN_CHARACTERS]
    start = max(0, at - SHOWN_CHARACTERS)
    return line[start : at + SHOWN_CHARACTERS].strip()
