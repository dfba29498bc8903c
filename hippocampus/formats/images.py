"""The tokens of images, by the rules that their providers document, and their sizes. Pure."""

from __future__ import annotations

import base64
import math
import struct
from typing import Any

PIXELS_PER_TOKEN = 750
"""Anthropic: pixels a token (vision documentation: width x height / 750)."""
MAX_IMAGE_TOKENS = 1_600
"""Anthropic: the most tokens of an image; larger ones are scaled down."""
TILE_PIXELS, TILE_TOKENS, BASE_TOKENS = 512, 170, 85
"""OpenAI: an image is cut into tiles of 512 pixels, 170 tokens each, plus 85 for the whole."""
LONG_SIDE_PIXELS, SHORT_SIDE_PIXELS = 2_048, 768
"""OpenAI: an image is scaled down to these sides before it is cut."""
IMAGE_KEYS = {
    "input_image": "image_url",
    "computer_screenshot": "image_url",
    "image_generation_call": "result",
}
"""OpenAI: by the type of a JSON object, the key that holds its image."""
HEAD_CHARACTERS = 65_536
"""The start of an image in base64, enough for every header and most JPEG frames."""
HEADERS = {b"\x89PNG": struct.Struct(">16x2I"), b"GIF8": struct.Struct("<6x2H")}
"""By its first bytes, where an image's header has width and height."""
WEBP = struct.Struct("<26x2H")
WEBP_SIDES, WEBP_MASK = (24, 27), 0x3FFF
"""Where an extended image has its sides, in three bytes each, and the bits of a side in the other forms."""
JPEG = struct.Struct(">5x2H")
"""Height and width in the segment of a frame."""
JPEG_MARK = 0xFF
"""Begins a segment; its type follows."""
JPEG_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""The types of frames."""
UNSEEN_PIXELS = (1_024, 1_024)
"""The size assumed for an image of unknown size, such as one given by URL."""


def image_tokens(block: dict[str, Any]) -> int:
    """Return the tokens of an image block, by the rule that its provider documents.

    Anthropic: width x height / 750, at most 1,600. OpenAI (`image_url`): 85 tokens, and 170 for
    each tile of 512 pixels once the image is scaled to 2,048 by 768; `detail: low` is 85.
    """
    source, address = block.get("source"), block.get("image_url")
    url = address.get("url") if isinstance(address, dict) else address
    data = str(url).partition(";base64,")[2]
    size = size_of(source.get("data") if isinstance(source, dict) else data)
    if "image_url" not in block:
        return pixel_tokens(size)
    width, height = size or UNSEEN_PIXELS
    detail = (address if isinstance(address, dict) else block).get("detail")
    if detail == "low" or not width or not height:
        return BASE_TOKENS
    scale = min(1.0, LONG_SIDE_PIXELS / max(width, height), SHORT_SIDE_PIXELS / min(width, height))
    tiles = math.ceil(width * scale / TILE_PIXELS) * math.ceil(height * scale / TILE_PIXELS)
    return BASE_TOKENS + TILE_TOKENS * tiles


def pixel_tokens(size: tuple[int, int] | None) -> int:
    """Return Anthropic's tokens for an image; the most where its size is unknown."""
    if size is None:
        return MAX_IMAGE_TOKENS
    return max(1, min(MAX_IMAGE_TOKENS, size[0] * size[1] // PIXELS_PER_TOKEN))


def without_images(value: Any) -> tuple[Any, int]:
    """Return an OpenAI JSON value without its images, and the images' tokens."""
    if isinstance(value, list):
        pairs = [without_images(inner) for inner in value]
        return [inner for inner, _ in pairs], sum(tokens for _, tokens in pairs)
    if not isinstance(value, dict):
        return value, 0
    key = IMAGE_KEYS.get(str(value.get("type")))
    if key:
        address = value.get(key) or ""
        image = {"image_url": f"data:;base64,{address}"} if key == "result" else {key: address}
        return {**value, key: ""}, image_tokens({"image_url": "", **value, **image})
    bare: dict[str, Any] = {}
    total = 0
    for name, inner in value.items():
        bare[name], tokens = without_images(inner)
        total += tokens
    return bare, total


def size_of(data: object) -> tuple[int, int] | None:
    """Return width and height of an image that a list holds as bytes or in base64."""
    if isinstance(data, str):
        head = data[:HEAD_CHARACTERS]
        try:
            data = base64.b64decode(head + "=" * (-len(head) % 4))
        except ValueError:
            return None
    return image_size(data) if isinstance(data, bytes) else None


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height in pixels of a PNG, GIF, JPEG or WebP, read from its header."""
    for start, form in HEADERS.items():
        if data.startswith(start) and len(data) >= form.size:
            width, height = form.unpack_from(data)
            return width, height
    if data[8:15] == b"WEBPVP8" and len(data) >= WEBP.size:
        if data[15:16] == b"X":
            width, height = (int.from_bytes(data[at : at + 3], "little") for at in WEBP_SIDES)
            return 1 + width, 1 + height
        if data[15:16] == b"L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & WEBP_MASK), 1 + (bits >> 14 & WEBP_MASK)
        width, height = WEBP.unpack_from(data)
        return width & WEBP_MASK, height & WEBP_MASK
    at = 2
    while data.startswith(b"\xff\xd8") and at + JPEG.size <= len(data) and data[at] == JPEG_MARK:
        if data[at + 1] in JPEG_FRAMES:
            height, width = JPEG.unpack_from(data, at)
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None
