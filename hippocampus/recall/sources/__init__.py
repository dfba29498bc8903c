"""Fetches content again from its sources, in the order that the policy declares.

Degrades as section 7.3 of the protocol demands: the full content, else the stored copy, else the
summary with a note that it is stale, else a clear failure. The session decides on the fetch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from hippocampus.policy.rules import Refetch
from hippocampus.recall.sources import comparison, files
from hippocampus.recall.sources.plan import (
    FetchRequest,
    FetchResult,
    Unavailable,
)
from hippocampus.recall.sources.registry import RepeatableTools, Source, Sources, call_bounded

__all__ = [
    "PROTOCOL_PERCENT",
    "FetchRequest",
    "FetchResult",
    "RepeatableTools",
    "Source",
    "Sources",
    "StoredCopy",
    "Unavailable",
    "fetch",
    "known_sources",
]
PROTOCOL_PERCENT = {"full": 89, "partial": 8, "failed": 3}
"""The shares that section 12.2 of the protocol reports."""


class StoredCopy(NamedTuple):
    """The stored copy of some content, and its summary."""

    read: Callable[[], str | None]
    """Returns the stored text, or None where it is lost."""
    summary: str
    clean: Callable[[str], str] = str
    """Redacts a live content."""


def known_sources(tools: RepeatableTools | None = None) -> Sources:
    """Return the package's sources: `file`, `http` and `tool`."""
    sources = Sources()
    sources.add("file", files.fetch)
    sources.add("http", _http)
    sources.add("tool", (tools or RepeatableTools()).fetch)
    return sources


def _http(request: FetchRequest, plan: Refetch) -> str:
    """Fetch from a URL; the network modules are loaded at the first use."""
    from hippocampus.recall.sources import web

    return web.fetch(request, plan)


def fetch(request: FetchRequest, copy: StoredCopy, plan: Refetch, sources: Sources) -> FetchResult:
    """Return the best available version of some content; a source's failure never raises."""
    tried: list[str] = []
    for name in plan.asked:
        try:
            source = sources.find(name)
            present = copy.clean(call_bounded(functools.partial(source, request, plan), plan))
        except Unavailable as reason:
            tried.append(f"{name}: {reason}")
            continue
        stored = copy.read()
        if stored is None:
            return FetchResult("full", present, name, tried=tuple(tried))
        same = comparison.is_part if name == "file" else comparison.is_same
        if present == stored or same(stored, present):  # so that the model reads the same text
            return FetchResult("full", stored, name, tried=tuple(tried))
        differs = comparison.difference(stored, present)
        return FetchResult("full", present, name, True, differs, tuple(tried))  # noqa: FBT003 - a field
    for fallback in plan.fallbacks:
        if fallback == "stored" and (stored := copy.read()) is not None:
            return FetchResult("full", stored, "store", tried=tuple(tried))
        if fallback == "summary" and copy.summary:
            text = f"{copy.summary}\n(stale: only the summary is left; do not rely on it)"
            return FetchResult("partial", text, "summary", tried=tuple(tried))
    return FetchResult("failed", "", "nothing", tried=tuple(tried))
