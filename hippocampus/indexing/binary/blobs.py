"""Encoded bytes in text: base64 and hexadecimal runs, `data:` addresses, and what they hold.

Pure; a mark has the kind by its magic bytes, the size, the pixels and a hash.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass

from hippocampus.formats.content import image_size

DATA_URL = re.compile(
    r"data:([a-z0-9.+-]{1,40}/[a-z0-9.+-]{1,80})?(?:;[a-z0-9=.-]{1,60}){0,4};base64,", re.IGNORECASE
)
RUN = re.compile(
    r"(?<![A-Za-z0-9+/_-])(?:(?:[A-Za-z0-9+/_-]{60,}\r?\n){3,}[A-Za-z0-9+/_-]*|[A-Za-z0-9+/_-]{256,})={0,2}"
)
LEAST_CHARACTERS = 256
LEAST_LINE = 60
"""An encoded run has a line that long, without a space in it."""
SAMPLE_CHARACTERS = 600
HASH_DIGITS = 12
CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
HEX = re.compile(r"[0-9a-fA-F\s]+")
MAGIC: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF8", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (0, b"BM", "BMP image"),
    (0, b"II*\x00", "TIFF image"),
    (0, b"MM\x00*", "TIFF image"),
    (0, b"\x00\x00\x01\x00", "ICO image"),
    (4, b"ftypavif", "AVIF image"),
    (4, b"ftypheic", "HEIC image"),
    (4, b"ftypM4A", "M4A audio"),
    (4, b"ftyp", "MP4 video"),
    (0, b"\x1aE\xdf\xa3", "WebM or Matroska video"),
    (0, b"ID3", "MP3 audio"),
    (0, b"\xff\xfb", "MP3 audio"),
    (0, b"OggS", "Ogg audio"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"%PDF", "PDF document"),
    (0, b"PK\x03\x04", "ZIP archive"),
    (0, b"\x1f\x8b", "gzip data"),
    (0, b"BZh", "bzip2 data"),
    (0, b"\xfd7zXZ", "xz data"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data"),
    (0, b"7z\xbc\xaf", "7z archive"),
    (257, b"ustar", "tar archive"),
    (0, b"\x7fELF", "ELF binary"),
    (0, b"MZ", "Windows binary"),
    (0, b"\xca\xfe\xba\xbe", "Java class"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O binary"),
    (0, b"\x00asm", "WebAssembly"),
    (0, b"SQLite format 3", "SQLite database"),
    (0, b"wOF2", "WOFF2 font"),
    (0, b"wOFF", "WOFF font"),
    (0, b"<svg", "SVG image"),
    (0, b"-----BEGIN", "PEM text"),
)
OPENINGS = tuple(magic for at, magic, _ in MAGIC if at == 0)
LATER = tuple((magic, at) for at, magic, _ in MAGIC if at)
WEAK = frozenset({b"BM", b"MZ", b"\xff\xfb", b"BZh", b"ID3"})
"""Too short to identify bytes without another sign."""


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes that stand encoded in a text."""

    kind: str
    size: int
    digest: str
    """The first digits of their SHA-256."""
    pixels: tuple[int, int] | None

    def label(self) -> str:
        """Return the blob as a mark."""
        pixels = f", {self.pixels[0]}×{self.pixels[1]} pixels" if self.pixels else ""
        return f"‹{self.kind}{pixels}, {self.size:,} bytes, sha256 {self.digest}›"


def kind_of_bytes(data: bytes, *, sure: bool = True) -> str:
    """Return what bytes hold by their first ones, or nothing; weak signs count only when sure."""
    if not data.startswith(OPENINGS) and not any(data.startswith(*each) for each in LATER):
        return ""
    for at, magic, kind in MAGIC:
        if data[at : at + len(magic)] == magic and (sure or magic not in WEAK):
            return kind
    return ""


def blob_of(data: bytes, named: str = "") -> Blob:
    """Return the kind, size and hash of some bytes."""
    kind = kind_of_bytes(data) or named or ("text" if _is_text(data) else "binary data")
    digest = hashlib.sha256(data).hexdigest()[:HASH_DIGITS]
    pixels = image_size(data) if kind.endswith("image") else None
    return Blob(kind, len(data), digest, pixels)


def _is_text(data: bytes) -> bool:
    return bool(text_in(data[:SAMPLE_CHARACTERS]))


def text_in(data: bytes) -> str:
    """Return the text that bytes are in UTF-8, or nothing; a character cut at the end is left off."""
    for cut_off in range(4):
        try:
            text = data[: len(data) - cut_off].decode()
        except UnicodeDecodeError:
            continue
        return "" if CONTROLS.search(text[:SAMPLE_CHARACTERS]) else text
    return ""


def decoded(text: str) -> bytes | None:
    """Return the bytes of an encoded run, or nothing where it reads as words or does not decode."""
    sample = text[:SAMPLE_CHARACTERS]
    if len(text) >= LEAST_CHARACTERS and HEX.fullmatch(sample) and HEX.fullmatch(text):
        return _from_hex("".join(text.split()))
    mixed = (
        any(map(str.islower, sample))
        and any(map(str.isupper, sample))
        and any(map(str.isdigit, sample))
    )
    if not mixed or sample.count("/") + sample.count("-") + sample.count("_") > len(sample) / 6:
        return None
    flat = "".join(text.split()).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(flat + "=" * (-len(flat) % 4), validate=True)
    except (binascii.Error, ValueError):
        return None


def _one_run(text: str) -> tuple[str, str]:
    """Part wrapped lines of one width, the last of them shorter, from what follows them."""
    lines = text.split("\n")
    width = len(lines[0])
    end = next((at for at, line in enumerate(lines) if len(line) != width), len(lines))
    run = lines[: end + (end < len(lines) and len(lines[end]) < width)]
    if sum(map(len, run)) % 4 == 1:
        run = lines[:end]
    return "\n".join(run), "".join(f"\n{line}" for line in lines[len(run) :])


def _from_hex(text: str) -> bytes | None:
    distinct = len(set(text[:SAMPLE_CHARACTERS]))
    return bytes.fromhex(text) if len(text) % 2 == 0 and distinct > 4 else None


def marked(text: str) -> tuple[str, list[Blob]]:
    """Return a text with each long encoded run replaced by a mark, and what was replaced."""
    if max(map(len, text.split()), default=0) < LEAST_LINE:
        return text, []
    blobs: list[Blob] = []

    def mark(match: re.Match[str]) -> str:
        opening = DATA_URL.search(text, max(0, match.start() - 200), match.start())
        run, rest = _one_run(match[0])
        data = decoded(run)
        if data is None:
            return match[0]
        named = opening[1] if opening and opening.end() == match.start() and opening[1] else ""
        blobs.append(blob_of(data, named))
        return blobs[-1].label() + rest

    return RUN.sub(mark, text), blobs
