"""Custom sources: registered by a decorator, or by an entry point `hippocampus.sources`.

A source takes the request and the plan, and returns the content or raises `Unavailable`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import metadata
from typing import Any

from hippocampus.errors import nearest
from hippocampus.recall.sources.plan import FetchRequest, SourcePlan, Unavailable

GROUP = "hippocampus.sources"
Source = Callable[[FetchRequest, SourcePlan], Any]
"""Returns text, or a value that JSON can represent; it may be a coroutine function."""


class Sources:
    """The sources that a memory knows, by name."""

    def __init__(self) -> None:
        self._named: dict[str, Source] = {}

    def __call__(self, name: str) -> Callable[[Source], Source]:
        """Register a function as a source: `@sources("tickets")`."""

        def named(source: Source) -> Source:
            self.add(name, source)
            return source

        return named

    def add(self, name: str, source: Source) -> None:
        """Register a source; a later one of the same name replaces it."""
        self._named[name] = source

    def find(self, name: str) -> Source:
        """Return a source by its name: a registered one, else one from an installed package.

        Raises:
            Unavailable: there is none; the error lists the nearest names.

        """
        if name in self._named:
            return self._named[name]
        brought = {each.name: each for each in metadata.entry_points(group=GROUP)}
        if name not in brought:
            near = ", ".join(nearest(name, [*self._named, *brought])) or "none"
            raise Unavailable(f"there is no source {name!r}; like it: {near}")
        try:
            self._named[name] = brought[name].load()
        except Exception as failure:  # a third-party package may raise anything at import
            raise Unavailable(f"the source {name!r} cannot be loaded: {failure}") from failure
        return self._named[name]
