"""What a session is made with: what the sessions of one memory share, and whose session it is.

Data only.
"""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.consolidation import inputs
from hippocampus.consolidation.scheduler import ConsolidationScheduler
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.recall.sources import Sources
from hippocampus.session.summaries import Summaries
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state_dir import StateDir


@dataclass(frozen=True, slots=True)
class Means:
    """What the sessions of one memory share."""

    state: StateDir
    store: ContentStore
    policy: Policy
    prices: Prices
    encoding: str
    summaries: Summaries | None
    consolidations: ConsolidationScheduler
    loads: inputs.ContextLoadResources
    """Where a context load finds what earlier sessions left."""
    sources: Sources
    """What a recall may ask; no turn does."""


@dataclass(frozen=True, slots=True)
class Start:
    """Whose session it is, and when it starts."""

    agent: str
    context_time: float
    """In seconds since 1970."""
