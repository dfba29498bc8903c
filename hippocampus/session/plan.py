"""Decides which edits pay, and so which entries leave the view at this call.

Pure: turns and tokens in, `Decision`s out. No text is rendered and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.entries.entry import Decision, Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session.turn_rules import CONSTANTS

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]

FORCED = "the view passed its limit: the weakest go first"


class Candidate(NamedTuple):
    """A payload that may become shorter in the view, or a span that a digest may replace."""

    entry_id: str
    message: int
    """The number of its message in the view."""
    full_tokens: int
    indexed_tokens: int
    risk: float = 0.0
    """What hiding it is expected to cost in recalls, in base input tokens."""
    stage: Stage = Stage.INDEXED
    """Its next stage."""
    spans: tuple[tuple[int, int], ...] = ()
    """The spans of messages that digests replace; none is one payload."""
    carried: float = 0.0
    """The tokens that it would have saved in the calls since it was due, summed over them."""
    kind: str = ""
    """The kind of its content."""

    @property
    def saves(self) -> int:
        """Return the tokens that a call saves once it is indexed."""
        return self.full_tokens - self.indexed_tokens

    def decided(self, reason: str, costs: float) -> Decision:
        """Return the decision to edit it now."""
        return Decision(self.entry_id, self.stage, reason, self.saves, costs)

    def holds(self, other: Candidate) -> bool:
        """Return whether a digest replaces the message of another."""
        return any(start <= other.message < end for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class PlanInput:
    """The view and the sums before this call."""

    turn: int
    sent_messages: int
    """How many leading messages of the view were in the last request."""
    message_tokens: Sequence[int]
    """The tokens of the messages of the view, before anything is decided."""
    balance: float = float("inf")
    """What the session has saved so far, and a little: no edit may cost more than this."""
    limit_tokens: int = 0
    """The tokens that the view may have; 0 is no limit."""
    cold: bool = False
    """Whether the provider has forgotten the last request, so that an edit rewrites nothing."""
    mark_tokens: Sequence[int] | None = None
    """The tokens of the last request up to our cache marks; None reads any prefix."""


class Plan(NamedTuple):
    """What to commit at a call: payloads to shorten, and whether digests replace the spans of the fold."""

    decisions: list[Decision]
    is_folded: bool


def plan(
    candidates: Sequence[Candidate],
    fold: Candidate | None,
    given: PlanInput,
    prices: Prices,
    policy: Policy,
) -> Plan:
    """Return what to commit now: arrivals at once, older content where the edit pays or is forced.

    `candidates` are due. `fold` are the spans that digests may replace: where these save more than
    the payloads in them, they are edited instead.
    """
    due = [
        candidate
        for candidate in candidates
        if policy.is_worth_shortening(
            candidate.full_tokens, candidate.indexed_tokens, candidate.kind
        )
    ]
    sent = 0 if given.cold else given.sent_messages
    arrived = [candidate for candidate in due if candidate.message >= sent]
    cached = [candidate for candidate in due if candidate.message < sent]
    calls = calls_to_come(given.turn)
    # A digest and the payloads in it exclude each other: the batch may have only what gains more.
    token = calls * prices.read
    inside = (token * other.saves - other.risk for other in cached if fold and fold.holds(other))
    if fold and token * fold.saves - fold.risk > sum(inside):
        cached = [fold, *(candidate for candidate in cached if not fold.holds(candidate))]
    batch = _worth_an_edit(cached, given, prices)
    edits = "1 edit" if len(batch.chosen) == 1 else f"{len(batch.chosen)} edits together"
    reason = f"pays over the {calls} calls expected to come, with {edits}"
    is_folded = fold is not None and fold in batch.chosen
    free = "the cache is cold" if given.cold else "on arrival: it is not cached yet"
    decisions = [
        candidate.decided(free, 0.0)
        for candidate in arrived
        if not (is_folded and fold and fold.holds(candidate))
    ]
    edited = [candidate for candidate in batch.chosen if candidate is not fold]
    decisions += [one.decided(reason, batch.costs / len(batch.chosen)) for one in edited]
    if not is_folded:
        decisions += _forced(due, decisions, given, prices)
    return Plan(decisions, is_folded)


def calls_to_come(turn: int) -> int:
    """Return how many calls are taken to follow: as many as there were (Lindy)."""
    return max(1, turn)


def _forced(
    due: list[Candidate], decided: list[Decision], given: PlanInput, prices: Prices
) -> list[Decision]:
    """Return the further edits that the limit of the view requires, the weakest payloads first.

    They make room for some turns to come, since an edit rewrites all that comes after it. Where all
    due payloads are not enough, none is edited: old turns have to leave instead.
    """
    if not given.limit_tokens:
        return []
    weight = sum(given.message_tokens) - sum(decision.saves for decision in decided)
    if weight <= given.limit_tokens:
        return []
    excess = weight - CONSTANTS.roomy_share * given.limit_tokens
    chosen = {decision.entry_id for decision in decided}
    forced: list[Candidate] = []
    for candidate in sorted(due, key=attrgetter("risk", "message")):
        if excess > 0 and candidate.entry_id not in chosen:
            forced.append(candidate)
            excess -= candidate.saves
    if excess > 0:
        return []
    once = _tails(sorted(forced, key=attrgetter("message"), reverse=True), given, prices).once
    costs = max(0.0, float(once[-1])) / len(forced)
    return [candidate.decided(FORCED, costs) for candidate in forced]


class _Batch(NamedTuple):
    """Edits that are made at once, and their cost together."""

    chosen: list[Candidate]
    costs: float


def _worth_an_edit(cached: list[Candidate], given: PlanInput, prices: Prices) -> _Batch:
    """Return the batch of cached candidates, from some message on, that gains the most.

    An edit rewrites all that comes after it, so it takes along every candidate after it. It waits
    until carrying these has cost as much as the edit does (ski rental): whenever the session ends,
    at most twice the least possible cost was paid. The balance has to cover the edit, and its risk
    too, unless carrying has cost as much as both.
    """
    if not cached:
        return _Batch([], 0.0)
    import numpy as np

    calls = calls_to_come(given.turn)
    ordered = sorted(cached, key=attrgetter("message"), reverse=True)
    tails = _tails(ordered, given, prices)
    carried = np.fromiter(
        (candidate.carried for candidate in ordered), np.float64, len(ordered)
    ).cumsum()
    gain = calls * prices.read * tails.saved - tails.once - tails.risk
    spent = prices.read * carried
    gain[tails.once > np.minimum(spent, given.balance)] = 0.0
    gain[tails.once + tails.risk > np.maximum(spent, given.balance)] = 0.0
    best = int(gain.argmax())
    if gain[best] <= 0:
        return _Batch([], 0.0)
    return _Batch(ordered[: best + 1], max(0.0, float(tails.once[best])))


class _Tails(NamedTuple):
    """The savings and costs of editing the newest payload, the newest two, and so on."""

    saved: Counts
    risk: Floats
    once: Floats
    """The cost of the edit over that of an unchanged request."""


def _tails(ordered: list[Candidate], given: PlanInput, prices: Prices) -> _Tails:
    """Return the savings and costs of the batches.

    The tokens after the edit are written instead of read, and so are those before it where they are
    fewer than the smallest prefix that a provider caches.
    """
    import numpy as np

    def column(values: list[int]) -> Counts:
        return np.fromiter(values, np.int64, len(values))

    sent = np.asarray(given.message_tokens[: given.sent_messages], np.int64)
    total = int(sent.sum())
    before = (sent.cumsum() - sent)[column([candidate.message for candidate in ordered])]
    full = column([candidate.full_tokens for candidate in ordered]).cumsum()
    saved = full - column([candidate.indexed_tokens for candidate in ordered]).cumsum()
    risk = np.fromiter([candidate.risk for candidate in ordered], np.float64, len(ordered)).cumsum()
    kept = before
    if given.mark_tokens is not None:
        marks = column(sorted({0, *given.mark_tokens}))
        kept = marks[np.searchsorted(marks, before, "right") - 1]
    kept = kept - kept % max(1, prices.step_tokens)
    cached = np.where(kept >= prices.smallest_prefix_tokens, kept, 0.0)
    written = prices.write * (total - saved - cached)
    once = prices.read * cached + written - prices.call_cost(total, total)
    return _Tails(saved, risk, once)
