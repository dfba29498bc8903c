"""The packed form of an archive: zstandard frames, one behind the other, each with a checksum.

Bytes in, bytes out; which file they stand in is not known here.
"""

from __future__ import annotations

import zstandard

LEVEL = 9
"""How hard an archive is packed; no turn waits for it."""


class DamagedError(ValueError):
    """What is packed ends early, or is not what was packed."""


def packed(content: bytes) -> bytes:
    """Return a content as one frame.

    >>> unpacked(packed(b"one ") + packed(b"two"))
    b'one two'
    """
    return zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compress(content)


def unpacked(content: bytes) -> bytes:
    """Return what all frames hold.

    Raises:
        DamagedError: a frame is cut short or damaged.

    """
    parts = []
    while content:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            parts.append(frame.decompress(content))
        except zstandard.ZstdError as failure:
            raise DamagedError(str(failure)) from failure
        if not frame.eof:
            raise DamagedError("it ends in the middle of a frame")
        content = frame.unused_data
    return b"".join(parts)
