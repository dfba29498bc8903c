"""Which payloads a text points at, by the identifiers and the words that it has. Values; pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

from hippocampus.entries.entry import Record
from hippocampus.indexing.shapes import identifiers

ID = re.compile(r"\b[a-z2-7]{8,12}\b")
"""What an entry's id looks like; one in five has no digit and reads as a word."""
WORD = re.compile(r"\w{4,}")
ABOUT_CHARACTERS = 400
MAX_ASKED_WORDS = 60
"""A longer message is no pointer at one payload."""
CLEAR_SCORE = 1.7
"""The BM25 of a word that one of eight payloads has alone; in more of them it is rarer still."""
CLEAR_RATIO = 2.0
"""The best must score so many times more than the next."""
MAX_HOLDERS = 3
"""A name that more payloads have points at none of them."""

V = TypeVar("V", int, tuple[int, ...])
Holders = dict[str, tuple[int, ...]]
"""By a name or a word, the numbers of the payloads that have it."""


@dataclass(frozen=True, slots=True)
class Sums(Generic[V]):
    """A mapping whose values are summed as it grows: a value, so that an older version stays.

    It is held in parts of doubling size, newest last, so that an addition to a mapping of any size costs
    its size alone (log-structured merge).
    """

    parts: tuple[Mapping[str, V], ...] = ()

    def plus(self, added: Mapping[str, V]) -> Sums[V]:
        """Return the mapping with values added to those it has."""
        if not added:
            return self
        layers: list[Mapping[str, V]] = list(self.parts)
        last = added
        while layers and len(layers[-1]) <= 2 * len(last):
            merged = dict(layers.pop())
            for key, value in last.items():
                merged[key] = merged[key] + value if key in merged else value
            last = merged
        layers.append(last)
        return Sums(tuple(layers))

    def get(self, key: str, default: V) -> V:
        """Return the sum of the values of a key."""
        total = default
        for part in self.parts:
            if key in part:
                total = total + part[key]
        return total


@dataclass(frozen=True, slots=True)
class Elsewhere(Container[str]):
    """The identifiers that stand in the view outside of one entry."""

    counts: Sums[int]
    own: AbstractSet[str]

    def __contains__(self, name: object) -> bool:
        return self.counts.get(str(name), 0) > (name in self.own)


@dataclass(frozen=True, slots=True)
class IdentifierIndex:
    """The payloads of a list by the identifiers and the words that they have; numbered as they came."""

    holders: Sums[tuple[int, ...]] = Sums()
    words: Sums[tuple[int, ...]] = Sums()
    described: int = 0
    """How many payloads have words: results do."""

    def plus(self, names: Holders, words: Holders, described: int) -> IdentifierIndex:
        """Return the index with the names and the words of more payloads, as `describe` adds them."""
        return IdentifierIndex(self.holders.plus(names), self.words.plus(words), described)

    def growing(self, names: Holders, words: Holders) -> IdentifierIndex:
        """Return the index with two mappings that are still being filled."""
        return IdentifierIndex(
            Sums((*self.holders.parts, names)), Sums((*self.words.parts, words)), self.described
        )

    def cited_by(self, texts: Iterable[str]) -> set[int]:
        """Return the payloads that texts point at by an id, or by a name that few payloads have."""
        names = {name for text in texts for name in identifiers(text) | set(ID.findall(text))}
        return {number for name in names for number in self.holders_of(name)}

    def holders_of(self, name: str) -> Sequence[int]:
        """Return the payloads that a name points at: few have it, or it points at none."""
        holders = self.holders.get(name, ())
        return holders if len(holders) <= MAX_HOLDERS else ()

    def meant_by(self, text: str, described: int) -> int | None:
        """Return the payload that a user's words describe best, by BM25, where they clearly do.

        A word that most payloads have counts next to nothing; one that a single payload has is a
        name.
        """
        asked = set(WORD.findall(text.lower()))
        if not described or len(asked) > MAX_ASKED_WORDS:
            return None
        scores: Counter[int] = Counter()
        for word in sorted(asked):
            having = self.words.get(word, ())
            n = len(having)
            rarity = math.log(1 + (described - n + 0.5) / (n + 0.5))
            for number in having:
                scores[number] += rarity  # type: ignore[assignment]
        if not scores:
            return None
        best = min(scores, key=lambda number: (-scores[number], number))
        second = max((score for number, score in scores.items() if number != best), default=0.0)
        return best if scores[best] >= max(CLEAR_SCORE, CLEAR_RATIO * second) else None


def add_holder(holders: Holders, number: int, names: AbstractSet[str]) -> None:
    """Note that a payload has some names."""
    single = (number,)
    for name in names:
        holders[name] = holders[name] + single if name in holders else single


def describe(words: Holders, number: int, record: Record, text: str) -> None:
    """Note what a payload is about: the words of its tool, its arguments and its start."""
    about = f"{record.tool} {record.arguments} {text[:ABOUT_CHARACTERS]}"
    add_holder(words, number, set(WORD.findall(about.lower())))
