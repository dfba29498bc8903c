"""Unpacks gzip and zstandard in small steps, so that a small file cannot fill the memory.

Bytes in, bytes out; no file is opened here.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator

import zstandard

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
GZIP_WINDOW_BITS = 31
"""zlib's number for a gzip header and the largest window."""
STEP_BYTES = 512
"""Packed bytes a step: one zstandard step yields at most 16 MiB, as 4 bytes can repeat 128 KiB."""
MAX_RATIO = 100
"""Unpacked bytes for each packed one; recordings reach 50 at zstandard's highest level."""
ALWAYS_ALLOWED_BYTES = 4 * 2**20
"""Unpacked bytes that are allowed at any ratio."""


class UnpackingError(ValueError):
    """Packed data is damaged, ends early, or unpacks to far more than a recording would."""


def unpack(data: bytes) -> bytes:
    """Return what gzip members or zstandard frames hold; other data is returned as it is.

    Raises:
        UnpackingError: the data is damaged, or holds more than 100 times its size and 4 MiB.

    """
    if data.startswith(GZIP):
        pieces = _pieces(data, zstd=False)
    elif data.startswith(ZSTD):
        pieces = _pieces(data, zstd=True)
    else:
        return data
    limit = max(ALWAYS_ALLOWED_BYTES, MAX_RATIO * len(data))
    unpacked = bytearray()
    try:
        for piece in pieces:
            unpacked += piece
            if len(unpacked) > limit:
                raise UnpackingError(
                    f"its {len(data):,} bytes unpack to more than {limit:,}, far more than a "
                    "recording does; if you trust the file, unpack it and pass the unpacked one"
                )
    except (zlib.error, zstandard.ZstdError) as failure:
        raise UnpackingError(f"its packed data is damaged: {failure}") from failure
    return bytes(unpacked)


def _pieces(data: bytes, *, zstd: bool) -> Iterator[bytes]:
    """Yield the content of one member or frame after the other."""
    rest = memoryview(data)
    while rest:
        unpacker = (
            zstandard.ZstdDecompressor().decompressobj()
            if zstd
            else zlib.decompressobj(GZIP_WINDOW_BITS)
        )
        for start in itertools.count(step=STEP_BYTES):
            step = rest[start : start + STEP_BYTES]
            if not step:
                raise UnpackingError("its packed data ends early")
            yield unpacker.decompress(step)
            if unpacker.eof:
                rest = rest[start + len(step) - len(unpacker.unused_data) :]
                break
