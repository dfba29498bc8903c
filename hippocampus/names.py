"""Which identifiers stand in a view, how often, and which contents name them. Pure bookkeeping."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from hippocampus.held import Held
from hippocampus.indexing.shapes import identifiers

ID = re.compile(r"\b[a-z2-7]{8,12}\b")
"""What an entry's id looks like; one in five has no digit and reads as a word."""
DISTINCTIVE = 3
"""A name that more contents have points at none of them."""


@dataclass(frozen=True, slots=True)
class Elsewhere(Container[str]):
    """The identifiers that stand in the view, without one entry's own."""

    counts: Counter[str]
    own: set[str]

    def __contains__(self, name: object) -> bool:
        return self.counts.get(cast("str", name), 0) > (name in self.own)


class Names:
    """The names in a view, and the contents that have them."""

    def __init__(self) -> None:
        self.shown: Counter[str] = Counter()
        """How many texts of the view name an identifier; large full contents do not count."""
        self._holders: dict[str, list[Held]] = {}

    def show(self, names: Iterable[str]) -> None:
        """Count names that now stand in the view."""
        self.shown.update(names)

    def hide(self, names: Iterable[str]) -> None:
        """Count names that no longer stand in it."""
        self.shown.subtract(names)

    def show_only(self, texts: Iterable[str]) -> None:
        """Count the names of a view afresh."""
        self.shown = Counter(name for text in texts for name in identifiers(text))

    def hold(self, held: Held, text: str) -> None:
        """Note which names a content has."""
        for name in identifiers(text) | {held.record.entry.id}:
            self._holders.setdefault(name, []).append(held)

    def keep_before(self, kept: int) -> None:
        """Forget the contents of messages from a number on."""
        for name, holders in list(self._holders.items()):
            self._holders[name] = [held for held in holders if held.message < kept]

    def cited_by(self, texts: Iterable[str]) -> list[Held]:
        """Return the contents that texts point at by an id or by a name that few contents have."""
        found: dict[int, Held] = {}
        for name in {name for text in texts for name in identifiers(text) | set(ID.findall(text))}:
            for held in self._distinct(name):
                found[id(held)] = held
        return sorted(found.values(), key=lambda held: (held.message, held.part))

    def _distinct(self, name: str) -> Iterator[Held]:
        holders = self._holders.get(name, ())
        return iter(holders if len(holders) <= DISTINCTIVE else ())
