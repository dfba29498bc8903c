"""Which entries leave the view at this call: decides, touches nothing.

Pure: turns and tokens in, `Decision`s out. No text is rendered and nothing is stored here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.entry import Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices

LEAST_FADED_TOKENS = 30
"""What fading must save at least for one content; many of them go in one edit."""
CAUTION = 0.4
"""Other contents that an edit rewrites count so much more: the calls to come are a guess."""
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
    risk: float = 0.0
    """What hiding it is expected to cost in recalls, in base input tokens."""
    stage: Stage = Stage.INDEXED
    """What it becomes."""
    faded: bool = False
    """Whether it is shortened because it has faded, and not because it is large."""

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
    balance: float = float("inf")
    """What the session has saved so far, and a little: no edit may cost more than this."""


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
        if each.due_turn <= standing.turn and each.saves >= _least(each, policy)
    ]
    arrived = [each for each in due if each.message >= standing.sent_messages]
    cached = [each for each in due if each.message < standing.sent_messages]
    decisions = [
        Decision(each.entry_id, each.stage, "on arrival: nothing is cached yet", each.saves, 0.0)
        for each in arrived
    ]
    return decisions + _worth_an_edit(cached, standing, prices)


def _least(candidate: Candidate, policy: Policy) -> int:
    least = LEAST_FADED_TOKENS if candidate.faded else policy.smallest_gain_tokens
    return max(1, least)


def _worth_an_edit(cached: list[Candidate], standing: Standing, prices: Prices) -> list[Decision]:
    """Return the batch of cached contents, from some place on, whose edit gains the most.

    An edit rewrites all that stands behind it, so whoever edits at a place edits everything due
    behind it too. The calls still to come are taken to be as many as there were (Lindy).
    """
    calls = min(HORIZON_CALLS, max(1, standing.turn))
    best_gain, best, cheapest = 0.0, 0, 0.0
    saved, full, risk = 0, 0, 0.0
    ordered = sorted(cached, key=lambda each: -each.message)
    behind = _behind(standing)
    for size, candidate in enumerate(ordered, start=1):
        saved += candidate.saves
        full += candidate.full_tokens
        risk += candidate.risk
        stands = behind[candidate.message]
        caution = CAUTION * (prices.write - prices.read) * max(0, stands - full)
        once = _once(behind[0] - stands, stands, saved, prices)
        gain = calls * prices.read * saved - once - risk - caution
        if gain > best_gain and once + risk <= standing.balance:
            best_gain, best, cheapest = gain, size, once
    batch = ordered[:best]
    reason = f"pays within {calls} calls, one edit of {len(batch)}"
    return [
        Decision(each.entry_id, each.stage, reason, each.saves, cheapest / len(batch))
        for each in batch
    ]


def _behind(standing: Standing) -> list[int]:
    """Return for each message the tokens from its start to the end of what was sent."""
    sent = standing.message_tokens[: standing.sent_messages]
    return list(itertools.accumulate(reversed(sent)))[::-1]


def _once(before: int, behind: int, saved: int, prices: Prices) -> float:
    """Return what the edit costs once, beside leaving the request as it is.

    All behind the edit is written instead of read; and what stands before it is too where it is
    less than the smallest prefix that a provider caches.
    """
    return prices.call_cost(before, before + behind - saved) - prices.call_cost(
        before + behind, before + behind
    )
