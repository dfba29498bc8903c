"""Which entries leave the view at this call: decides, touches nothing.

Pure: turns and tokens in, `Decision`s out. No text is rendered and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.entry import Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices

HORIZON_CALLS = 200
"""The calls still to come are never taken to be more than this."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A content that stands in full in the view and may become an index entry."""

    entry_id: str
    message: int
    """The number of its message in the view."""
    full_tokens: int
    indexed_tokens: int
    due_turn: int
    """The first turn at which it may be shortened."""

    @property
    def saves(self) -> int:
        """Return the tokens that each call saves once it is indexed."""
        return self.full_tokens - self.indexed_tokens


@dataclass(frozen=True, slots=True)
class Standing:
    """How the view stands before this call."""

    turn: int
    sent_messages: int
    """How many leading messages of the view were in the last request."""
    message_tokens: Sequence[int]
    """What each message of the view weighs, before anything is decided."""


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


def plan(
    candidates: Sequence[Candidate], standing: Standing, prices: Prices, policy: Policy
) -> list[Decision]:
    """Return what to commit now: arrivals at once, older content where the edit pays."""
    due = [
        each
        for each in candidates
        if each.due_turn <= standing.turn and each.saves >= max(1, policy.smallest_gain_tokens)
    ]
    arrived = [each for each in due if each.message >= standing.sent_messages]
    cached = [each for each in due if each.message < standing.sent_messages]
    decisions = [
        Decision(each.entry_id, Stage.INDEXED, "on arrival: nothing is cached yet", each.saves, 0.0)
        for each in arrived
    ]
    return decisions + _worth_an_edit(cached, standing, prices)


def _worth_an_edit(cached: list[Candidate], standing: Standing, prices: Prices) -> list[Decision]:
    """Return the batch of cached contents, from some place on, whose edit gains the most.

    An edit rewrites all that stands behind it, so whoever edits at a place edits everything due
    behind it too. The calls still to come are taken to be as many as there were (Lindy).
    """
    calls = min(HORIZON_CALLS, max(1, standing.turn))
    best_gain, best = 0.0, 0
    saved = 0
    ordered = sorted(cached, key=lambda each: -each.message)
    for size, candidate in enumerate(ordered, start=1):
        saved += candidate.saves
        gain = calls * prices.read * saved - _once(candidate, saved, standing, prices)
        if gain > best_gain:
            best_gain, best = gain, size
    batch = ordered[:best]
    if not batch:
        return []
    once = _once(batch[-1], sum(each.saves for each in batch), standing, prices)
    reason = f"pays within {calls} calls, one edit of {len(batch)}"
    return [
        Decision(each.entry_id, Stage.INDEXED, reason, each.saves, once / len(batch))
        for each in batch
    ]


def _once(first: Candidate, saved: int, standing: Standing, prices: Prices) -> float:
    """Return what the edit costs once: all behind it is written instead of read."""
    behind = sum(standing.message_tokens[first.message : standing.sent_messages])
    return prices.write * (behind - saved) - prices.read * behind
