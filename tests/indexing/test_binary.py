"""Bytes are told by their kind, size, pixels and hash, wherever they stand."""

from __future__ import annotations

import base64
import hashlib
import random
import struct
import sys
from pathlib import Path

import pytest

from hippocampus.indexing import binary
from hippocampus.indexing.binary.blobs import kind_of_bytes, marked
from hippocampus.indexing.extraction import Extraction, ExtractionContext

NOISE = random.Random(3).randbytes(4_000)
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + NOISE
GIF = b"GIF89a" + struct.pack("<HH", 32, 16) + NOISE
WAV = b"RIFF\0\0\0\0WAVEfmt " + NOISE


def read(text: str) -> Extraction:
    extraction = binary.extract(text, ExtractionContext())
    assert extraction is not None
    return extraction


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (PNG, "PNG image, 640×480 pixels"),
        (GIF, "GIF image, 32×16 pixels"),
        (WAV, "WAV audio"),
        (NOISE, "binary data"),
    ],
    ids=["png", "gif", "wav", "noise"],
)
def test_base64_is_told_by_what_it_holds(data: bytes, told: str) -> None:
    for text in (encoded(data), base64.encodebytes(data).decode(), f'"{encoded(data)}"'):
        extraction = read(text)
        assert binary.recognises(text) > 0.8
        assert extraction.summary == f"{told}, {len(data):,} bytes, sha256 {digest(data)}"
        assert extraction.lines == ()


def test_a_data_address_is_told_with_its_pixels() -> None:
    extraction = read("data:image/png;base64," + encoded(PNG))
    assert extraction.key_data == {
        "kind": "PNG image",
        "bytes": len(PNG),
        "sha256": digest(PNG),
        "width": 640,
        "height": 480,
    }


def test_an_unknown_kind_is_told_by_its_declared_type() -> None:
    assert read("data:font/odd;base64," + encoded(NOISE)).summary.startswith(
        "font/odd, 4,000 bytes"
    )


def test_a_blob_inside_text_becomes_a_mark_and_the_text_stays() -> None:
    text = f'{{"id": "x-1", "data": "{encoded(PNG)}", "name": "foo"}}\nlast line'
    extraction = read(text)
    assert [line.text for line in extraction.lines] == [
        f'{{"id": "x-1", "data": "‹PNG image, 640×480 pixels, {len(PNG):,} bytes, sha256 {digest(PNG)}›", "name": "foo"}}',
        "last line",
    ]


def test_wrapped_base64_ends_where_its_lines_end() -> None:
    text, blobs = marked(f"before\n{base64.encodebytes(NOISE[:900]).decode()}end")
    assert [(blob.size, blob.digest) for blob in blobs] == [(900, digest(NOISE[:900]))]
    assert text == f"before\n{blobs[0].label()}\nend"


def test_hexadecimal_is_decoded() -> None:
    assert read(NOISE.hex()).key_data["sha256"] == digest(NOISE)


@pytest.mark.parametrize(
    "text",
    [
        "word " * 300,
        "a" * 900,
        "/usr/lib/python/site" * 40,
        "snake_case_name_" * 60,
        "1234567890" * 50 + "1",
    ],
)
def test_words_and_paths_are_no_blobs(text: str) -> None:
    assert marked(text) == (text, [])


def test_bytes_read_as_text_tell_kind_hash_and_readable_strings() -> None:
    data = Path(sys.executable).resolve().read_bytes()[:60_000]
    text = data.decode("utf-8", "surrogateescape")
    extraction = read(text)
    assert binary.recognises(text) > 0.5
    assert extraction.key_data["sha256"] == digest(data)
    assert extraction.summary.startswith(kind_of_bytes(data) or "binary data")
    assert all(line.text in text or line.weight < 0.1 for line in extraction.lines)


def test_ordinary_text_is_not_taken_for_bytes() -> None:
    assert binary.recognises(Path(__file__).read_text()) < 0.5
    assert binary.extract("A plain sentence.\n", ExtractionContext()) is None


def test_encoded_text_is_told_by_its_lines() -> None:
    text = "# Guide für alle\n\n" + "".join(f"step {at}: run job-{at}\n" for at in range(40))
    extraction = read(encoded(text.encode()))
    assert extraction.summary.startswith(f"text, {len(text.encode()):,} bytes")
    assert [line.text for line in extraction.lines][:2] == ["# Guide für alle", "step 0: run job-0"]
    assert len(extraction.lines) == 41
