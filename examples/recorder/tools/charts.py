"""A bar chart as PNG, written with the standard library alone."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from recorder.tools import Picture, ToolError

HEIGHT = 120
BAR = 24
GAP = 8
WHITE = b"\xff\xff\xff"
BLUE = b"\x2b\x6c\xb0"


def draw_chart(title: str, values: dict[str, float]) -> Picture:
    """Draw one bar a value, the tallest as high as the chart."""
    if not values or max(values.values()) <= 0:
        message = "a chart needs at least one value above zero"
        raise ToolError(message)
    heights = [round(HEIGHT * value / max(values.values())) for value in values.values()]
    width = GAP + len(heights) * (BAR + GAP)
    rows = b"".join(_row(heights, HEIGHT - line) for line in range(HEIGHT))
    caption = f"{title}: {width}x{HEIGHT} px, bars from left: {', '.join(values)}"
    return Picture(caption, b"".join(_png(width, rows)))


def _row(heights: list[int], level: int) -> bytes:
    bars = ((BLUE if height >= level else WHITE) * BAR + WHITE * GAP for height in heights)
    return b"\x00" + WHITE * GAP + b"".join(bars)


def _png(width: int, rows: bytes) -> Iterator[bytes]:
    yield b"\x89PNG\r\n\x1a\n"
    yield _chunk(b"IHDR", struct.pack(">IIBBBBB", width, HEIGHT, 8, 2, 0, 0, 0))
    yield _chunk(b"IDAT", zlib.compress(rows, 9))
    yield _chunk(b"IEND", b"")


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + checksum
