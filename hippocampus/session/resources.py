"""The arguments of a session: what the sessions of one memory share, and the session's owner. Data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import OWN_MARKS
from hippocampus.recall.sources import Sources
from hippocampus.session.consolidator import Consolidator
from hippocampus.session.observer import Observer
from hippocampus.session.open_sessions import OpenFiles
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state import StateStore

DEADLINE_SECONDS = 0.25
END_SECONDS = 2.0
"""How long the end of a session waits for locked files, and as long again for its consolidation."""


@dataclass(frozen=True, slots=True)
class Resources:
    """The stores, the policy and the prices that the sessions of one memory share."""

    state: StateStore
    store: ContentStore
    policy: Policy
    prices: Prices
    consolidator: Consolidator
    sources: Sources
    """The sources that a recall may ask; no turn does."""
    marks: int = OWN_MARKS
    """The cache marks that a session may add to a view."""
    tail_mark: bool = False
    """Whether requests get a mark at their end after the view was made."""
    deadline_seconds: float = DEADLINE_SECONDS
    """How long a call waits for a store that others hold, before its list is sent as it is."""
    observers: Sequence[Observer] = ()
    open_files: OpenFiles = field(default_factory=OpenFiles)
    """The sessions that have their files open."""
    disk_problems: dict[str, float] = field(default_factory=dict)
    """When problems of the directory were logged, in monotonic seconds."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The owner of a session, and when it started."""

    agent: str
    context_time: float
    """In seconds since 1970."""
