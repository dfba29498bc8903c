"""Which entries leave the view at this call: decides, touches nothing.

Pure: turns and tokens in, `Decision`s out. No text is rendered and nothing is stored here.
"""

from __future__ import annotations

from collections.abc import Sequence
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
LEAST_FADED_TOKENS = 30
"""What fading must save at least for one content; many of them go in one edit."""
CAUTION = 0.4
"""A factor on other payloads that an edit rewrites: the calls to come are a guess."""
SCARCITY = 1.0
"""A factor on tokens that are written again: edits are rationed, and a later one may gain more."""
LEAST_SHARE = 0.25
"""What an entry must save of its content: one that keeps nearly all breaks it up for nothing."""


class Candidate(NamedTuple):
    """A payload that may become shorter in the view."""

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
class PlanInput:
    """The view and the sums before this call."""

    turn: int
    sent_messages: int
    """How many leading messages of the view were in the last request."""
    message_tokens: Sequence[int]
    """What each message of the view weighs, before anything is decided."""
    balance: float = float("inf")
    """What the session has saved so far, and a little: no edit may cost more than this."""
    edits_left: float = float("inf")
    """The cached tokens that may be written again, in base input tokens, unless the limit forces more."""
    limit_tokens: int = 0
    """What the view may weigh; 0 is no limit."""
    cold: bool = False
    """Whether the provider has forgotten the last request, so that an edit rewrites nothing."""
    rewritten_from: int | None = None
    """The first message that another edit of this call rewrites."""

    @property
    def cached_messages(self) -> int:
        """Return how many leading messages an edit would take out of the cache."""
        sent = 0 if self.cold else self.sent_messages
        return sent if self.rewritten_from is None else min(sent, self.rewritten_from)


def first_open(due: Sequence[int], given: PlanInput, prices: Prices) -> int:
    """Return the first message of which a plan may shorten anything, `due` being those that could.

    Any edit of the cached part rewrites all that is behind the last of these. Where that
    alone is more than edits may cost, none of their next texts need be written to be weighed.
    """
    sent = given.cached_messages
    last = max((number for number in due if number < sent), default=sent)
    over = given.limit_tokens and sum(given.message_tokens) > given.limit_tokens
    behind = sum(given.message_tokens[last + 1 : sent])
    return sent if prices.edit_cost(behind, behind) > given.edits_left and not over else 0


def plan(
    candidates: Sequence[Candidate], given: PlanInput, prices: Prices, policy: Policy
) -> list[Decision]:
    """Return what to commit now: arrivals at once, older content where the edit pays or must be."""
    due = _due(candidates, given.turn, policy)
    sent = given.cached_messages
    decisions = [
        Decision(each.entry_id, each.stage, _reason(each, given), each.saves, 0.0)
        for each in due
        if each.message >= sent
    ]
    if given.rewritten_from is None:  # two edits in one call would be one, from the first on
        cached = [each for each in due if each.message < sent]
        gone = sum(each.saves for each in decisions)
        arrived = sum(given.message_tokens[sent:]) - gone
        decisions += _worth_an_edit(cached, given, prices, policy, arrived)
    return decisions + _forced(due, decisions, given, prices)


def _reason(candidate: Candidate, given: PlanInput) -> str:
    """Return why a payload that is not cached is shortened."""
    if given.cold:
        return "the cache is cold"
    if candidate.message >= given.sent_messages:
        return "on arrival: nothing is cached yet"
    return "behind another edit: it is written again anyway"


def calls_to_come(turn: int, policy: Policy) -> int:
    """Return how many calls are taken to follow: as many as there were (Lindy), within bounds."""
    return min(policy.horizon_calls, max(1, turn))


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


def _due(candidates: Sequence[Candidate], turn: int, policy: Policy) -> list[Candidate]:
    """Return what may be shortened at a turn and saves enough."""
    least = (max(1, policy.smallest_gain_tokens), LEAST_FADED_TOKENS)
    return [
        each
        for each in candidates
        if each.due_turn <= turn
        and each.saves >= max(least[each.faded], LEAST_SHARE * each.full_tokens)
    ]


def _worth_an_edit(
    cached: list[Candidate],
    given: PlanInput,
    prices: Prices,
    policy: Policy,
    arrived_tokens: int,
) -> list[Decision]:
    """Return the batch of cached payloads, from some place on, whose edit gains the most.

    An edit rewrites all that is behind it, so an edit at a place takes everything due behind it
    along. What edits may cost is scarce, so that each has to gain what it costs again.
    """
    if not cached:
        return []
    import numpy as np

    calls = calls_to_come(given.turn, policy)
    ordered = sorted(cached, key=attrgetter("message"), reverse=True)
    tails = _tails(ordered, given, prices)
    lost = (prices.write - prices.read) * CAUTION * tails.others
    written = np.minimum(tails.behind, tails.behind - tails.saved + arrived_tokens)
    edits = (prices.write - prices.read) * np.maximum(0.0, written)
    gain = calls * prices.read * tails.saved - tails.once - tails.risk - lost - SCARCITY * edits
    gain[(tails.once + tails.risk > given.balance) | (edits > given.edits_left)] = 0.0
    best = int(gain.argmax())
    if gain[best] <= 0:
        return []
    batch = ordered[: best + 1]
    reason = f"pays over the {calls} calls expected to come; {len(batch)} shortened at once"
    costs = float(tails.once[best]) / len(batch)
    return [
        Decision(each.entry_id, each.stage, reason, each.full_tokens - each.indexed_tokens, costs)
        for each in batch
    ]


class _Tails(NamedTuple):
    """The savings and costs of editing the newest payload, the newest two, and so on."""

    saved: Counts
    risk: Floats
    behind: Counts
    """The tokens of the last request from the first of them on."""
    others: Floats
    """The tokens of other payloads that are rewritten."""
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
    cached = np.where(before >= prices.smallest_prefix_tokens, before, 0.0)
    written = prices.write * (total - saved - cached)
    once = prices.read * cached + written - prices.call_cost(total, total)
    others = np.maximum(0.0, total - before - full)
    return _Tails(saved, risk, total - before, others, once)
