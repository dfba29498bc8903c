"""MinHash: how much two texts have in common, estimated from 64 numbers each. Pure.

Over words and over shingles of three characters together, so that it sees scripts without spaces
and small changes in words. The estimate is of Jaccard's index of those sets.
"""

from __future__ import annotations

import re
import zlib
from typing import Any

import numpy as np

from hippocampus.facts.words import UNSPACED, normalised, words

VALUES = 64
SHINGLE = 3
UNSPACED_SHINGLE = 2
MARKED = zlib.crc32(b"~")
"""Where the hash of a shingle starts, so that none is that of a word."""
PRIME = np.uint64((1 << 31) - 1)

Signature = np.ndarray[Any, np.dtype[np.uint32]]

_SEEDS = np.random.default_rng(20260209).integers(
    1, (1 << 31) - 1, size=(2, VALUES), dtype=np.uint64
)
_UNSPACED = re.compile(f"[{UNSPACED}]")


def features(text: str) -> list[int]:
    """Return a hash of each distinct word and shingle of a text."""
    parts = set(words(text))
    joined = re.sub(r"[\W_]+", " ", normalised(text)).strip()
    size = UNSPACED_SHINGLE if _UNSPACED.search(joined) else SHINGLE
    places = range(max(1, len(joined) - size + 1))
    if joined.isascii():
        line = joined.encode()
        shingles = {line[i : i + size] for i in places}
    else:
        shingles = {joined[i : i + size].encode() for i in places}
    hashes = [zlib.crc32(shingle, MARKED) for shingle in shingles]
    return hashes + [zlib.crc32(part.encode()) for part in parts]


def signatures(texts: list[str]) -> Signature:
    """Return one signature a text, as rows."""
    sets = [features(text) for text in texts]
    flat = np.fromiter((h for hashes in sets for h in hashes), dtype=np.uint64) % PRIME
    starts = np.cumsum([0, *(len(hashes) for hashes in sets[:-1])])
    if not len(texts):
        return np.zeros((0, VALUES), dtype=np.uint32)
    columns = [
        np.minimum.reduceat((flat * multiplier + offset) % PRIME, starts)
        for multiplier, offset in zip(*_SEEDS, strict=True)
    ]
    return np.stack(columns, axis=1).astype(np.uint32)


def similarities(one: Signature, others: Signature) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the estimated share that one text has in common with each of others."""
    return np.asarray((others == one).mean(axis=1))


def similarity(one: str, other: str) -> float:
    """Return the estimated share that two texts have in common.

    >>> similarity("the cat sat", "the cat sat")
    1.0
    """
    pair = signatures([one, other])
    return float(similarities(pair[0], pair[1:])[0])
