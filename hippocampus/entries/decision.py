"""A committed change of the view, with its reason. Data only."""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.entries.entry import Stage


@dataclass(frozen=True, slots=True)
class Decision:
    """One change in the view, and why."""

    entry_id: str
    stage: Stage
    reason: str
    saves: int
    """Tokens that each later call does not send."""
    costs: float
    """What the change costs once, in base input tokens; 0 where nothing was cached yet."""
