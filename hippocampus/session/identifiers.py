"""Which identifiers stand in a view, how often, and which contents name them. Pure bookkeeping."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from hippocampus.indexing.shapes import identifiers
from hippocampus.session.payload import Held

ID = re.compile(r"\b[a-z2-7]{8,12}\b")
"""What an entry's id looks like; one in five has no digit and reads as a word."""
WORD = re.compile(r"\w{4,}")
ABOUT_CHARACTERS = 400
MOST_ASKED_WORDS = 60
"""A longer message is no pointer at one content."""
CLEARLY = 1.7
"""The BM25 of a word that one of eight contents has alone; in more of them it is rarer still."""
APART = 2.0
"""The best must be so many times better than the next."""
DISTINCTIVE = 3
"""A name that more contents have points at none of them."""


@dataclass(frozen=True, slots=True)
class Elsewhere(Container[str]):
    """The identifiers that stand in the view, without one entry's own."""

    counts: Mapping[Any, int]
    own: AbstractSet[str]

    def __contains__(self, name: object) -> bool:
        return self.counts.get(name, 0) > (name in self.own)


class Names:
    """The names in a view, and the contents that have them."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        """How many texts of the view name an identifier; large full contents do not count."""
        self._holders: dict[str, list[Held]] = {}
        self._words: list[tuple[Held, set[str]]] = []
        """What each content is about: the words of its tool, its arguments and its start."""

    def show(self, names: Iterable[str]) -> None:
        """Count names that now stand in the view."""
        self.shown.update(names)

    def hide(self, names: Iterable[str]) -> None:
        """Count names that no longer stand in it."""
        self.shown.subtract(names)

    def show_only(self, named: Iterable[AbstractSet[str]]) -> None:
        """Count the names of a view afresh, from what each text of it names."""
        self.shown = Counter(name for names in named for name in names)

    def hold(self, held: Held, text: str) -> None:
        """Note which names a content has."""
        for name in identifiers(text) | {held.record.entry.id}:
            self._holders.setdefault(name, []).append(held)

    def describe(self, held: Held, text: str) -> None:
        """Note what a content is about."""
        about = f"{held.record.tool} {held.record.arguments} {text[:ABOUT_CHARACTERS]}"
        self._words.append((held, set(WORD.findall(about.lower()))))

    def meant_by(self, text: str) -> list[Held]:
        """Return the content that a user's words describe best, by BM25, where they clearly do.

        A word that most contents have says next to nothing; one that a single content has is a
        name.
        """
        asked = set(WORD.findall(text.lower()))
        if not self._words or len(asked) > MOST_ASKED_WORDS:
            return []
        shared = [(held, words & asked) for held, words in self._words]
        counts = Counter(word for _, words in shared for word in words)
        rarity = {
            word: math.log(1 + (len(shared) - n + 0.5) / (n + 0.5)) for word, n in counts.items()
        }
        scores = [sum(rarity[word] for word in words) for _, words in shared]
        best = max(range(len(scores)), key=scores.__getitem__)
        second = max((score for at, score in enumerate(scores) if at != best), default=0.0)
        clear = scores[best] >= max(CLEARLY, APART * second)
        return [shared[best][0]] if clear else []

    def cited_by(self, texts: Iterable[str]) -> list[Held]:
        """Return the contents that texts point at by an id or by a name that few contents have."""
        found: dict[int, Held] = {}
        for name in {name for text in texts for name in identifiers(text) | set(ID.findall(text))}:
            for held in self.holders_of(name):
                found[id(held)] = held
        return sorted(found.values(), key=lambda held: (held.message, held.part))

    def holders_of(self, name: str) -> Sequence[Held]:
        """Return the contents that a name points at: few have it, or it points at none."""
        holders = self._holders.get(name, ())
        return holders if len(holders) <= DISTINCTIVE else ()
