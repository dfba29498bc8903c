"""A committed change of the view, with its reason. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.entries.entry import Stage


@dataclass(frozen=True, slots=True)
class Decision:
    """One change in the view, with its reason."""

    entry_id: str
    stage: Stage
    reason: str
    saves: int
    """The tokens that a later call no longer sends."""
    costs: float
    """The one-time cost of the change, in base input tokens; 0 where nothing was cached."""
