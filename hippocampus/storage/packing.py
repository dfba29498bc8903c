"""Bytes packed with zstandard or gzip, and unpacked in small steps within a bound.

Bytes in, bytes out; which file they are in is not known here.
"""

from __future__ import annotations

import zlib

import zstandard

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
GZIP_WINDOW_BITS = 31
"""zlib's number for a gzip header and the largest window."""
MAX_SMALL_BYTES = 1 << 26
"""What any file may unpack to, 64 MiB; a larger one is bounded by `MAX_RATIO`."""
MAX_RATIO = 256
"""A file may unpack to this many times its size; conversations reach 5 to 50."""
STEP_BYTES = 512
"""Packed bytes a step: one zstandard step yields at most 16 MiB, as 4 bytes can repeat 128 KiB."""


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
    """Return the bytes of all zstandard frames or gzip members.

    Raises:
        DamagedError: one is cut short or damaged, or they unpack to more than `max_bytes`.

    """
    most, whole, rest = max_bytes(len(content)), bytearray(), memoryview(content)
    try:
        while rest:
            unpacker = (
                zlib.decompressobj(GZIP_WINDOW_BITS)
                if content.startswith(GZIP)
                else zstandard.ZstdDecompressor().decompressobj()
            )
            while not unpacker.eof:
                step, rest = rest[:STEP_BYTES], rest[STEP_BYTES:]
                if not step:
                    raise DamagedError("it ends in the middle of a frame")
                whole += unpacker.decompress(step)
                if len(whole) > most:
                    raise DamagedError(
                        f"it unpacks to over {MAX_SMALL_BYTES >> 20} MiB and {MAX_RATIO} times its size"
                    )
            rest = memoryview(content)[len(content) - len(rest) - len(unpacker.unused_data) :]
    except (zlib.error, zstandard.ZstdError) as failure:
        raise DamagedError(str(failure)) from failure
    return bytes(whole)
