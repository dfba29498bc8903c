"""Bytes packed with zstandard, bzip2, gzip or zip, with or without texts that they repeat, and unpacked within a bound.

Bytes in, bytes out; which file they are in is not known here.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator

import zstandard

GZIP = b"\x1f\x8b"
ZSTD = b"\x28\xb5\x2f\xfd"
BZIP2 = b"BZh"
ZIP = b"PK\x03\x04"
ZIP_ZSTD = 93
"""The zip format's number for zstandard, which Python reads from 3.14 on."""
ZIP_HEADER_BYTES = 30
"""The bytes before the name of a member; the last four are the lengths of name and extra."""
GZIP_WINDOW_BITS = 31
"""zlib's number for a gzip header and the largest window."""
MAX_SMALL_BYTES = 1 << 26
"""What any file may unpack to, 64 MiB; a larger one is bounded by `MAX_RATIO`."""
MAX_RATIO = 256
"""A file may unpack to this many times its size; conversations reach 5 to 50."""
CUT_SHORT = "it ends in the middle of a frame"
STEP_BYTES = 512
"""Packed bytes a step: one zstandard step yields at most 16 MiB, as 4 bytes can repeat 128 KiB."""
MAX_TEXT_CHARACTERS = 1 << 18
"""A longer text is not packed small, so that no text of a damaged ledger unpacks to much more."""
RAW_WINDOW_BITS = -15
"""zlib's number for no header and the largest window."""
WORDS_OF_ENTRIES = (
    "expires retrievable associations critical manual memory message markdown command digest "
    " lines, records, fields, more values \u2026 recall: path= query= "
    ' lines=[1, ] | pattern="(?i)error|fail") turn tokens \u00b7 log] \u00b7 json] \u00b7 code] \u00b7 text]\n'
    '{"id": "", "type": "tool_result", "source": {"type": "", "ref": "", "turn": 1, "retrievable": '
    'true}, "summary": "", "key_data": {"lines": 1, "span": ""}, "strength": 1.0, "decay": {"rate": '
    '0.1, "floor": 0.0, "last_access": 1}, "modifiers": {"priority": "normal", "encoding": "auto", '
    '"associations": []}, "lifecycle": {"created": 1, "expires": null, "persist": false}}'
)
"""The dictionary of short texts. They are read with it: it may never change."""


class DamagedError(ValueError):
    """Packed bytes end early, were altered, or unpack to more than their bound."""


def packed(content: bytes, level: int, parts: bytes = b"") -> bytes:
    """Return bytes as one zstandard frame with a checksum, which refers to `parts` for repeated bytes.

    >>> unpacked(packed(b"one ", 3) + packed(b"two", 9))
    b'one two'
    >>> parts = dictionary([b"one line" * 9])
    >>> unpacked(packed(b"one line" * 9, 3, parts), parts) == b"one line" * 9
    True
    """
    parameters = zstandard.ZstdCompressionParameters.from_level(
        level, source_size=len(content), dict_size=len(parts), write_checksum=True
    )
    return zstandard.ZstdCompressor(compression_params=parameters, dict_data=_raw(parts)).compress(
        content
    )


_as_json = json.JSONEncoder(ensure_ascii=False).encode


def dictionary(parts: Iterable[bytes]) -> bytes:
    """Return payloads in the two forms that are repeated: the bytes, and strings of JSON.

    Stored frames are read with it: its results may never change.
    """
    found = bytearray()
    for part in parts:
        text = part.decode("utf-8", "replace")
        found += part + _as_json(text).encode()
    return bytes(found)


def packed_text(text: str, near: str = "") -> bytes:
    """Return a short text packed with the words of entries, and with `near`, which it may repeat.

    >>> text_of(packed_text("2 lines of abcd2345", "abcd2345"), "abcd2345")
    '2 lines of abcd2345'
    """
    level = 9 if len(text) < MAX_TEXT_CHARACTERS else 0
    # At 8, its default, the memory of a packer takes longer to get than the text to pack.
    packer = zlib.compressobj(
        level, wbits=RAW_WINDOW_BITS, memLevel=7, zdict=(WORDS_OF_ENTRIES + near).encode()
    )
    return packer.compress(text.encode()) + packer.flush()


def text_of(content: bytes, near: str = "") -> str:
    """Return the text that `packed_text` was given.

    Raises:
        DamagedError: the bytes are damaged, or unpack to more than such a text has.
    """
    most = max(4 * MAX_TEXT_CHARACTERS, len(content))
    unpacker = zlib.decompressobj(RAW_WINDOW_BITS, (WORDS_OF_ENTRIES + near).encode())
    try:
        text = unpacker.decompress(content, most)
    except zlib.error as failure:
        raise DamagedError(str(failure)) from failure
    if not unpacker.eof:
        raise DamagedError("it is cut short, or unpacks to more than was packed")
    return text.decode()


def _raw(parts: bytes) -> zstandard.ZstdCompressionDict | None:
    kind = zstandard.DICT_TYPE_RAWCONTENT
    return zstandard.ZstdCompressionDict(parts, dict_type=kind) if parts else None


def packed_small(content: bytes) -> bytes:
    """Return bytes packed with bzip2: in less space than zstandard's, and forty times slower to read.

    >>> unpacked(packed_small(b"one"))
    b'one'
    """
    try:
        import bz2
    except ImportError:  # a Python that was compiled without its library
        return packed(content, 11)
    return bz2.compress(content)


def is_packed(content: bytes) -> bool:
    """Return whether bytes are a zstandard frame, or packed with bzip2."""
    return content.startswith((ZSTD, BZIP2))


def max_bytes(packed_bytes: int) -> int:
    """Return the bytes that a file of this size may unpack to."""
    return max(MAX_SMALL_BYTES, MAX_RATIO * packed_bytes)


def unpacked(content: bytes, parts: bytes = b"", most: int = sys.maxsize) -> bytes:
    """Return the bytes of all zstandard frames or gzip members, packed with `parts`, or of bzip2's.

    Raises:
        DamagedError: one is cut short or damaged, or they unpack to more than `max_bytes` or `most` bytes.
    """
    most, whole, rest = min(most, max_bytes(len(content))), bytearray(), memoryview(content)
    too_large = f"it unpacks to over {MAX_SMALL_BYTES >> 20} MiB and {MAX_RATIO} times its size"
    try:
        if content.startswith(BZIP2):  # no steps: a few of its bytes may be megabytes
            import bz2

            stream = bz2.BZ2Decompressor()
            whole += stream.decompress(content, most + 1)
            if len(whole) > most or not stream.eof:
                raise DamagedError(too_large if len(whole) > most else CUT_SHORT)
            return bytes(whole)
        while rest:
            unpacker = (
                zlib.decompressobj(GZIP_WINDOW_BITS)
                if content.startswith(GZIP)
                else zstandard.ZstdDecompressor(dict_data=_raw(parts)).decompressobj()
            )
            while not unpacker.eof:
                step, rest = rest[:STEP_BYTES], rest[STEP_BYTES:]
                if not step:
                    raise DamagedError(CUT_SHORT)
                whole += unpacker.decompress(step)
                if len(whole) > most:
                    raise DamagedError(too_large)
            rest = memoryview(content)[len(content) - len(rest) - len(unpacker.unused_data) :]
    except (zlib.error, zstandard.ZstdError, OSError, ImportError) as failure:
        raise DamagedError(str(failure)) from failure
    return bytes(whole)


def unzipped(content: bytes, suffix: str) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the bytes of the members of a zip file that end in `suffix`, in its order.

    Raises:
        DamagedError: the file or a member is damaged, or they unpack to more than `max_bytes`.
    """
    left = max_bytes(len(content))
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as file:
            for member in file.infolist():
                if member.filename.endswith(suffix):
                    if member.compress_type == ZIP_ZSTD:
                        data = unpacked(_packed_member(content, member))
                    else:
                        with file.open(member) as opened:
                            data = opened.read(left + 1)
                    left -= len(data)
                    if left < 0:
                        raise DamagedError(f"its members unpack to over {MAX_RATIO} times its size")
                    yield member.filename, data
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as failure:
        raise DamagedError(str(failure)) from failure


def _packed_member(content: bytes, member: zipfile.ZipInfo) -> bytes:
    start = member.header_offset + ZIP_HEADER_BYTES
    lengths = content[start - 4 : start]
    start += int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")
    return content[start : start + member.compress_size]
