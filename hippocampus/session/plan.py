"""Which edits pay, and so which entries leave the view at this call: decides, touches nothing.

Pure: turns and tokens in, `Decision`s out. No text is rendered and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]

FORCED = "the view passed its limit: the weakest go first"
ROOMY_SHARE = 0.75
"""The share of its limit to which a forced view shrinks."""


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
    """What it becomes."""
    spans: tuple[tuple[int, int], ...] = ()
    """The spans of messages that digests replace; none is one payload."""
    carried: float = 0.0
    """The tokens that it would have saved in the calls since it was due, summed over them."""
    kind: str = ""
    """The kind of its content."""

    @property
    def saves(self) -> int:
        """Return the tokens that each call saves once it is indexed."""
        return self.full_tokens - self.indexed_tokens

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
    """What each message of the view weighs, before anything is decided."""
    balance: float = float("inf")
    """What the session has saved so far, and a little: no edit may cost more than this."""
    limit_tokens: int = 0
    """What the view may weigh; 0 is no limit."""
    cold: bool = False
    """Whether the provider has forgotten the last request, so that an edit rewrites nothing."""
    standing_tokens: Sequence[int] | None = None
    """The tokens of the last request up to each cache mark of ours; None reads any prefix."""


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
    """Return what to commit now: arrivals at once, older content where the edit pays or must be.

    `candidates` are due. `fold` are the spans that digests may replace: where these save more than
    the payloads in them, they take their place.
    """
    due = [
        each
        for each in candidates
        if policy.is_worth_shortening(each.full_tokens, each.indexed_tokens, each.kind)
    ]
    sent = 0 if given.cold else given.sent_messages
    arrived = [each for each in due if each.message >= sent]
    cached = [each for each in due if each.message < sent]
    calls = calls_to_come(given.turn)
    if fold and _gains_more(fold, filter(fold.holds, cached), calls * prices.read):
        cached = [fold, *(each for each in cached if not fold.holds(each))]
    batch = _worth_an_edit(cached, given, prices)
    edits = "1 edit" if len(batch.chosen) == 1 else f"{len(batch.chosen)} edits together"
    reason = f"pays over the {calls} calls expected to come, with {edits}"
    is_folded = fold is not None and fold in batch.chosen
    decisions = [
        Decision(each.entry_id, each.stage, _reason(given), each.saves, 0.0)
        for each in arrived
        if not (is_folded and fold and fold.holds(each))
    ]
    decisions += [
        Decision(each.entry_id, each.stage, reason, each.saves, batch.costs / len(batch.chosen))
        for each in batch.chosen
        if each is not fold
    ]
    if not is_folded:
        decisions += _forced(due, decisions, given, prices)
    return Plan(decisions, is_folded)


def _gains_more(fold: Candidate, inside: Iterable[Candidate], token: float) -> bool:
    """Return whether digests gain more than the payloads in their spans.

    `token` is what a token is worth that no call carries any more.
    """
    gain = token * fold.saves - fold.risk
    return gain > sum(token * each.saves - each.risk for each in inside)


def _reason(given: PlanInput) -> str:
    return "the cache is cold" if given.cold else "on arrival: it is not cached yet"


def calls_to_come(turn: int) -> int:
    """Return how many calls are taken to follow: as many as there were (Lindy)."""
    return max(1, turn)


def _forced(
    due: list[Candidate], decided: list[Decision], given: PlanInput, prices: Prices
) -> list[Decision]:
    """Return what else must be shortened so that the view keeps its limit, the weakest first.

    It makes room for some turns to come, since each edit rewrites what stands behind it. Where what
    is due cannot, nothing is: old turns have to go.
    """
    if not given.limit_tokens:
        return []
    weight = sum(given.message_tokens) - sum(each.saves for each in decided)
    if weight <= given.limit_tokens:
        return []
    excess = weight - ROOMY_SHARE * given.limit_tokens
    chosen = {each.entry_id for each in decided}
    forced: list[Candidate] = []
    for each in sorted(due, key=attrgetter("risk", "message")):
        if excess > 0 and each.entry_id not in chosen:
            forced.append(each)
            excess -= each.saves
    if excess > 0:
        return []
    once = _tails(sorted(forced, key=attrgetter("message"), reverse=True), given, prices).once
    costs = max(0.0, float(once[-1])) / len(forced)
    return [Decision(each.entry_id, each.stage, FORCED, each.saves, costs) for each in forced]


class _Batch(NamedTuple):
    """Edits that are made at once, and what they cost together."""

    chosen: list[Candidate]
    costs: float


def _worth_an_edit(cached: list[Candidate], given: PlanInput, prices: Prices) -> _Batch:
    """Return the batch of cached candidates, from some place on, whose edit gains the most.

    An edit rewrites all that is behind it, so an edit at a place takes everything due behind it
    along. It waits until carrying what could have gone has cost as much as the edit does (ski
    rental): whenever the session ends, no more than twice the least was paid. The balance covers it,
    and its risk too, unless carrying has cost as much as both.
    """
    if not cached:
        return _Batch([], 0.0)
    import numpy as np

    calls = calls_to_come(given.turn)
    ordered = sorted(cached, key=attrgetter("message"), reverse=True)
    tails = _tails(ordered, given, prices)
    carried = np.fromiter((each.carried for each in ordered), np.float64, len(ordered)).cumsum()
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
    """The cost of the edit over that of leaving the request as it is."""


def _tails(ordered: list[Candidate], given: PlanInput, prices: Prices) -> _Tails:
    """Return what each batch saves and costs.

    All behind the edit is written instead of read; and what stands before it is too where it is
    less than the smallest prefix that a provider caches.
    """
    import numpy as np

    def column(values: list[int]) -> Counts:
        return np.fromiter(values, np.int64, len(values))

    sent = np.asarray(given.message_tokens[: given.sent_messages], np.int64)
    total = int(sent.sum())
    before = (sent.cumsum() - sent)[column([each.message for each in ordered])]
    full = column([each.full_tokens for each in ordered]).cumsum()
    saved = full - column([each.indexed_tokens for each in ordered]).cumsum()
    risk = np.fromiter([each.risk for each in ordered], np.float64, len(ordered)).cumsum()
    kept = before
    if given.standing_tokens is not None:
        marks = column(sorted({0, *given.standing_tokens}))
        kept = marks[np.searchsorted(marks, before, "right") - 1]
    cached = np.where(kept >= prices.smallest_prefix_tokens, kept, 0.0)
    written = prices.write * (total - saved - cached)
    once = prices.read * cached + written - prices.call_cost(total, total)
    return _Tails(saved, risk, once)
