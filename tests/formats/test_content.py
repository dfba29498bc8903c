"""Contents: text out of any block form, and what an image weighs by its own header."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hippocampus.formats.conversation import text_of, without_envelope
from hippocampus.formats.images import image_size, image_tokens

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 300, 200)
GIF = b"GIF89a" + struct.pack("<HH", 300, 200)
APP0 = b"\xff\xe0\x00\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0"
JPEG = b"\xff\xd8" + APP0 + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 200, 300) + b"\x03" * 10
LOSSY = b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\x30\x01\0\x9d\x01\x2a" + struct.pack("<HH", 300, 200)
LOSSLESS = b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f" + struct.pack("<I", 299 | 199 << 14) + b"\0" * 8
EXTENDED = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0" + b"\x2b\x01\0" + b"\xc7\0\0"
IMAGES = [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED]


@pytest.mark.parametrize("data", IMAGES, ids=["png", "gif", "jpeg", "vp8", "vp8l", "vp8x"])
def test_an_image_tells_its_size_in_its_header(data: bytes) -> None:
    assert image_size(data) == (300, 200)
    encoded = base64.b64encode(data).decode()
    block = {"type": "image", "source": {"type": "base64", "data": encoded}}
    assert image_tokens(block) == 300 * 200 // 750
    assert image_tokens({"image_url": {"url": f"data:image/x;base64,{encoded}"}}) == 85 + 170
    assert image_tokens({"type": "input_image", "image_url": f"data:;base64,{encoded}"}) == 255


@given(st.sampled_from(IMAGES), st.integers(0, 40), st.binary(max_size=40))
def test_a_damaged_header_is_no_error(data: bytes, end: int, tail: bytes) -> None:
    size = image_size(data[:end] + tail)
    assert size is None or len(size) == 2


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "url", "url": "https://x.test/a.png"}},
        {"type": "image", "source": {"data": "%%%"}},
        {"type": "image", "source": {"data": base64.b64encode(b"text").decode()}},
        {"type": "image"},
    ],
    ids=repr,
)
def test_an_image_whose_size_is_unknown_weighs_the_most(block: dict[str, object]) -> None:
    assert image_tokens(block) == 1_600


@pytest.mark.parametrize(
    ("size", "detail", "weight"),
    [
        ((1024, 1024), "high", 765),  # the example in OpenAI's documentation
        ((2048, 4096), "high", 1105),  # and its second one
        ((4096, 8192), "low", 85),
        (None, "auto", 765),
    ],
)
def test_openai_counts_tiles(size: tuple[int, int] | None, detail: str, weight: int) -> None:
    url = "https://x.test/a.png"
    if size:
        data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", *size)
        url = f"data:image/png;base64,{base64.b64encode(data).decode()}"
    assert (
        image_tokens({"type": "image_url", "image_url": {"url": url, "detail": detail}}) == weight
    )
    assert image_tokens({"type": "input_image", "image_url": url, "detail": detail}) == weight


def test_large_images_are_scaled_down_and_tiny_ones_weigh_one() -> None:
    for size, weight in (((9_000, 9_000), 1_600), ((1, 1), 1)):
        data = PNG[:16] + struct.pack(">II", *size)
        source = {"data": base64.b64encode(data).decode()}
        assert image_tokens({"type": "image", "source": source}) == weight


def test_text_comes_out_of_every_block_form() -> None:
    kinds = ("text", "input_text", "output_text")
    assert text_of([{"type": kind, "text": kind} for kind in kinds]) == "\n".join(kinds)
    assert text_of([{"type": "text"}, {"type": "image"}, "odd", None]) == ""
    assert text_of("plain") == "plain"
    assert text_of(None) == text_of({"text": "x"}) == ""


@given(st.text())
def test_an_envelope_comes_off_and_nothing_else_does(text: str) -> None:
    import json

    wrapped = json.dumps({"type": "text", "text": text}, separators=(",", ":"))
    assert without_envelope(wrapped) == text
    other = json.dumps({"type": "image", "text": text}, separators=(",", ":"))
    assert without_envelope(other) == other
