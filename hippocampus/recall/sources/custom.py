"""Sources that others write: named by a decorator, or by an entry point `hippocampus.sources`.

A source takes what is wanted and the plan, and returns its content or raises `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import Any

from hippocampus.errors import nearest
from hippocampus.recall.sources.plan import SourcePlan, Unavailable, Wanted

GROUP = "hippocampus.sources"
Source = Callable[[Wanted, SourcePlan], Any]
"""Returns text, or what can be said as JSON; it may be a coroutine."""


class Sources:
    """The sources that a memory knows, by name."""

    def __init__(self) -> None:
        self._named: dict[str, Source] = {}

    def __call__(self, name: str) -> Callable[[Source], Source]:
        """Name a function as a source: `@sources("tickets")`."""

        def named(source: Source) -> Source:
            self.add(name, source)
            return source

        return named

    def add(self, name: str, source: Source) -> None:
        """Name a source; the last of a name counts."""
        self._named[name] = source

    def find(self, name: str) -> Source:
        """Return a source by its name: one that was added, else one that a package brings.

        Raises:
            Unavailable: there is none; the nearest names are told.

        """
        if name in self._named:
            return self._named[name]
        brought = {each.name: each for each in metadata.entry_points(group=GROUP)}
        if name not in brought:
            near = ", ".join(nearest(name, [*self._named, *brought])) or "none"
            raise Unavailable(f"there is no source {name!r}; like it: {near}")
        try:
            self._named[name] = brought[name].load()
        except Exception as failure:  # a package of someone else: whatever it raises at import
            raise Unavailable(f"the source {name!r} cannot be loaded: {failure}") from failure
        return self._named[name]
