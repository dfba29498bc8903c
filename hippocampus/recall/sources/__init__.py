"""Live re-fetch: what was captured may be had again from where it came, in a declared order.

Degrades as section 7.3 of the protocol says: the full content, else the stored copy, else the
summary with a stale mark, else a clear loss. What is asked, and when, is a session's decision.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from hippocampus.recall.sources import comparing, files
from hippocampus.recall.sources.asking import ask
from hippocampus.recall.sources.comparing import difference
from hippocampus.recall.sources.custom import Source, Sources
from hippocampus.recall.sources.plan import Fetched, SourcePlan, Unavailable, Wanted, plan_of
from hippocampus.recall.sources.tools import RepeatableTools

__all__ = [
    "PROTOCOL_PERCENT",
    "Captured",
    "Fetched",
    "Outcomes",
    "RepeatableTools",
    "Source",
    "SourcePlan",
    "Sources",
    "Unavailable",
    "Wanted",
    "difference",
    "fetch",
    "known_sources",
    "plan_of",
]
PROTOCOL_PERCENT = {"full": 89, "partial": 8, "failed": 3}
"""What section 12.2 of the protocol reports."""


class Captured(NamedTuple):
    """What is at hand of a content: its stored copy, where it still is, and its summary."""

    read: Callable[[], str | None]
    summary: str
    clean: Callable[[str], str] = str
    """Takes out of a live content what may not come in."""


def known_sources(tools: RepeatableTools | None = None) -> Sources:
    """Return the sources that come with the package: `file`, `http` and `tool`."""
    sources = Sources()
    sources.add("file", files.fetch)
    sources.add("http", _http)
    sources.add("tool", (tools or RepeatableTools()).fetch)
    return sources


def _http(wanted: Wanted, plan: SourcePlan) -> str:
    """Ask an address; what speaks to the network is loaded only by who does."""
    from hippocampus.recall.sources import web

    return web.fetch(wanted, plan)


def fetch(wanted: Wanted, captured: Captured, plan: SourcePlan, sources: Sources) -> Fetched:
    """Return the best that is to be had of a content; never raises for a source's failure."""
    tried: list[str] = []
    for name in plan.order:
        try:
            source = sources.find(name)
            present = captured.clean(ask(functools.partial(source, wanted, plan), plan))
        except Unavailable as reason:
            tried.append(f"{name}: {reason}")
            continue
        return _compared(present, captured.read(), name, tuple(tried))
    return _fallen_back(captured, plan, tuple(tried))


def _compared(present: str, stored: str | None, name: str, tried: tuple[str, ...]) -> Fetched:
    """Return the captured text where the source still holds it, as the model has seen it."""
    if stored is None:
        return Fetched("full", present, name, tried=tried)
    same = comparing.is_part if name == "file" else comparing.is_same
    if present == stored or same(stored, present):
        return Fetched("full", stored, name, tried=tried)
    return Fetched("full", present, name, True, comparing.difference(stored, present), tried)  # noqa: FBT003 - a field


def _fallen_back(captured: Captured, plan: SourcePlan, tried: tuple[str, ...]) -> Fetched:
    for fallback in plan.fallbacks:
        if fallback == "stored" and (stored := captured.read()) is not None:
            return Fetched("full", stored, "store", tried=tried)
        if fallback == "summary" and captured.summary:
            told = f"{captured.summary}\n(stale: only the summary is left; do not rely on it)"
            return Fetched("partial", told, "summary", tried=tried)
    return Fetched("failed", "", "nothing", tried=tried)


class Outcomes:
    """How often a recall had the full content, its summary only, or nothing."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, outcome: str) -> None:
        """Count one."""
        self._counts[outcome] += 1

    def counts(self) -> dict[str, int]:
        """Return the counts of `full`, `partial` and `failed`."""
        return {name: self._counts[name] for name in PROTOCOL_PERCENT}

    def percent(self) -> dict[str, float]:
        """Return each in percent of all; all zero where nothing was counted."""
        total = self._counts.total()
        return {
            name: round(100 * count / total, 1) if total else 0.0
            for name, count in self.counts().items()
        }
