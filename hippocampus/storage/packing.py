"""Bytes packed with zstandard, and unpacked within a bound.

Bytes in, bytes out; which file they are in is not known here.
"""

from __future__ import annotations

import zstandard

MAX_SMALL_BYTES = 1 << 26
"""What any file may unpack to, 64 MiB; a larger one is bounded by `MAX_RATIO`."""
MAX_RATIO = 256
"""A file may unpack to this many times its size; conversations reach 5 to 30."""
PIECE_BYTES = 1 << 10
"""The bytes that are unpacked at once: a hostile piece unpacks to 32 MiB at most."""


class DamagedError(ValueError):
    """Packed bytes end early, were altered, or unpack to more than their bound."""


def packed(content: bytes, level: int) -> bytes:
    """Return bytes as one zstandard frame with a checksum.

    >>> unpacked(packed(b"one ", 3) + packed(b"two", 9))
    b'one two'
    """
    return zstandard.ZstdCompressor(level=level, write_checksum=True).compress(content)


def max_bytes(packed_bytes: int) -> int:
    """Return the bytes that a file of this size may unpack to."""
    return max(MAX_SMALL_BYTES, MAX_RATIO * packed_bytes)


def unpacked(content: bytes) -> bytes:
    """Return the bytes of all zstandard frames.

    Raises:
        DamagedError: a frame is cut short or damaged, or unpacks to more than `max_bytes`.

    """
    left, parts, at = max_bytes(len(content)), [], 0
    try:
        while at < len(content):
            frame = zstandard.ZstdDecompressor().decompressobj()
            while not frame.eof:
                piece = content[at : at + PIECE_BYTES]
                parts.append(_bounded(frame.decompress(piece), piece, left))
                left -= len(parts[-1])
                at += len(piece)
            at -= len(frame.unused_data)
    except zstandard.ZstdError as failure:
        raise DamagedError(str(failure)) from failure
    return b"".join(parts)


def _bounded(part: bytes, piece: bytes, left: int) -> bytes:
    if not piece:
        raise DamagedError("it ends in the middle of a frame")
    if len(part) > left:
        raise DamagedError(
            f"it unpacks to over {MAX_SMALL_BYTES >> 20} MiB and {MAX_RATIO} times its size"
        )
    return part
