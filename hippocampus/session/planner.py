"""The old turns that digests replace because carrying them costs more. Decides alone; pure.

The text of a digest is in `digest`, the compaction of a view over its limit in `compaction`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import compaction, digest
from hippocampus.session.compaction import CompactionPlan
from hippocampus.session.digest import Span
from hippocampus.session.plan import PlanInput, calls_to_come
from hippocampus.session.view import View

REASON = "old turns became digests: carrying them has cost as much as the edit"
SHARE = 4
"""A digest of old turns has at most a quarter of their tokens in the view."""
MIN_SAVED_TOKENS = 2_000
"""Digests of few turns each have less than one of many, even where no provider caches anything."""


class _Candidate(NamedTuple):
    """A span that a digest may replace."""

    span: Span
    budget_tokens: int
    saves: int
    carried: float
    """The tokens that it saves times the turns since they could have gone."""


def newest_due(turn: int, policy: Policy) -> int:
    """Return the newest turn that a digest may replace; below 0 none may."""
    return turn - policy.tell_after_turns if policy.tell_after_turns else -1


def may_pay(view: View, given: PlanInput, prices: Prices, policy: Policy) -> bool:
    """Return whether `worth` may find anything: by weights alone, since most turns change nothing."""
    newest = newest_due(given.turn, policy)
    if newest < 0 or policy.compression == "none" or view.shown_total < policy.fade_view_tokens:
        return False
    start, end = view.folded_end, view.history.end_of_turn(newest)
    saved, carried = view.history.weight_and_age(view.shown_tokens, start, end, newest)
    behind = 0 if given.cold else sum(view.shown_tokens[end : view.sent])
    least = prices.edit_cost(behind, behind)
    gains = prices.read * saved * calls_to_come(given.turn, policy)
    most = min(prices.read * carried, gains, given.edits_left, given.balance)
    return saved >= MIN_SAVED_TOKENS and least <= most


def worth(
    view: View, given: PlanInput, prices: Prices, policy: Policy, kept: Collection[int]
) -> CompactionPlan:
    """Return the turns behind the last digest that digests should replace, and their budgets.

    Turns are due one after the other, and each edit rewrites what stands behind them. So they wait
    until carrying what could have gone has cost as much as the edit costs (ski rental): whenever
    the session ends, no more than twice the least was paid. `kept` are messages that stay.
    """
    newest = newest_due(given.turn, policy)
    found = _candidates(view, newest, kept)
    saved = sum(each.saves for each in found)
    if saved < MIN_SAVED_TOKENS:
        return CompactionPlan([], [])
    first = found[0].span.start
    behind = 0 if given.cold else sum(view.shown_tokens[first : view.sent])
    costs = prices.edit_cost(behind, sum(view.shown_tokens[first:]) - saved)
    carried = prices.read * sum(each.carried for each in found)
    gains = prices.read * saved * calls_to_come(given.turn, policy)
    if costs > min(carried, gains, given.edits_left, given.balance):
        return CompactionPlan([], [])
    return CompactionPlan([each.span for each in found], [each.budget_tokens for each in found])


def _candidates(view: View, newest: int, kept: Collection[int]) -> list[_Candidate]:
    """Return the spans behind the last digest that a digest may replace with a saving."""
    start = max(digest.opening_end(view.history.raw), view.folded_end)
    end = view.history.end_of_turn(newest)
    closed = [start + at for at in digest.boundaries(view.history.raw[start:end])]
    last = max((at for at in closed if at <= view.sent), default=start)

    def stays(number: int) -> bool:
        message = view.history.raw[number]
        return number in kept or message.role == "system" or digest.is_said_by_user(message)

    staying = compaction.rounds_of(filter(stays, range(start, last)), closed)
    spans = digest.spans_of(start, last, staying.__contains__)
    spans = [span for span in spans if compaction.is_worth(view, span)]
    found = [_candidate(view, span, newest) for span in spans]
    return [each for each in found if each.saves > 0]


def _candidate(view: View, span: Span, newest: int) -> _Candidate:
    weights = view.shown_tokens[span.start : span.end]
    weight = sum(weights)
    budget_tokens = min(2 * digest.MAX_TOKENS, max(digest.MIN_TOKENS, weight // SHARE))
    saves = weight - budget_tokens - compaction.FRAME_TOKENS
    due = (newest - view.history.turns[number] for number in range(span.start, span.end))
    carried = sum(tokens * turns for tokens, turns in zip(weights, due, strict=True))
    return _Candidate(span, budget_tokens, saves, carried * saves / weight)
