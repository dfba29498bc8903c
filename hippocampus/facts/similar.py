"""How alike two texts are by their words and shingles, and whether they differ in what matters. Pure.

scriptling estimates Jaccard's index by MinHash; the few texts that are compared here are compared exactly.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from hippocampus.facts.languages import language_of, pattern
from hippocampus.facts.words import UNSPACED_SIGN, normalised, words
from hippocampus.storage.facts.models import Memory

SHINGLE, UNSPACED_SHINGLE = 3, 2
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def features(text: str) -> set[str]:
    """Return the distinct words of a text, and its runs of three characters, marked by a space."""
    joined = re.sub(r"[\W_]+", " ", normalised(text)).strip()
    size = UNSPACED_SHINGLE if UNSPACED_SIGN.search(joined) else SHINGLE
    shingles = {f" {joined[i : i + size]}" for i in range(max(1, len(joined) - size + 1))}
    return shingles.union(words(text))


def jaccard(one: set[str], other: set[str]) -> float:
    """Return the share that two sets have in common."""
    return len(one & other) / len(one | other)


def similarities(text: str, others: Mapping[int, Memory]) -> dict[int, float]:
    """Return the share of words and shingles that a text has in common with each memory."""
    own = features(text)
    return {row: jaccard(own, features(memory.content)) for row, memory in others.items()}


def differ(one: str, other: str) -> bool:
    """Return whether two texts differ in a number, a name or a denial.

    >>> differ("Ann has 2 cats", "Ann has 3 cats"), differ("Ann likes tea", "Ann likes tea!")
    (True, False)
    """
    return _marks(one) != _marks(other)


def _marks(text: str) -> tuple[Counter[str], frozenset[str], bool]:
    found = words(text)
    negation = pattern(language_of(text, found).negation)
    denies = negation.search(text.replace("\u2019", "'")) is not None
    names = frozenset(word.casefold() for word in re.findall(r"(?<!^)\b[A-ZÀ-ÞА-ЯЁ][\w-]+", text))
    return Counter(_NUMBER.findall(text)), names, denies
