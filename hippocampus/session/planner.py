"""Which old turns are told as digests since carrying them costs more: decides, touches nothing.

Pure over a view. What a digest says, and what a view must do that passes its limit, is told
elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import compaction, digest
from hippocampus.session.compaction import Folding
from hippocampus.session.digest import Span
from hippocampus.session.plan import Standing, calls_to_come
from hippocampus.session.view import View

REASON = "old turns told in short: carrying them has cost what the edit does"
SHARE = 4
"""A digest of old turns has at most a quarter of what these weigh in the view."""
LEAST_SAVED_TOKENS = 2_000
"""Digests of few turns each say less than one of many, even where no provider caches anything."""


class _Telling(NamedTuple):
    """What it means to tell a run as a digest."""

    run: Span
    room: int
    saves: int
    carried: float
    """What the tokens that it saves have cost since they could have gone, in tokens x turns."""


def newest_due(turn: int, policy: Policy) -> int:
    """Return the newest turn that may be told in short; below 0 none may."""
    return turn - policy.tell_after_turns if policy.tell_after_turns else -1


def may_pay(view: View, standing: Standing, prices: Prices, policy: Policy) -> bool:
    """Say whether `worth` may find anything: by weights alone, since most turns change nothing."""
    newest = newest_due(standing.turn, policy)
    if newest < 0 or policy.compression == "none" or view.shown_total < policy.fade_view_tokens:
        return False
    start, end = view.folded_end, view.history.end_of_turn(newest)
    saved, carried = view.history.weight_and_age(view.shown_tokens, start, end, newest)
    behind = 0 if standing.cold else sum(view.shown_tokens[end : view.sent])
    least = prices.edit_cost(behind, behind)
    gains = prices.read * saved * calls_to_come(standing.turn, policy)
    most = min(prices.read * carried, gains, standing.edits_left, standing.balance)
    return saved >= LEAST_SAVED_TOKENS and least <= most


def worth(
    view: View, standing: Standing, prices: Prices, policy: Policy, kept: Collection[int]
) -> Folding:
    """Return which turns behind the last digest to tell in short, and in how many tokens.

    Turns are due one after the other, and each edit rewrites what stands behind them. So they wait
    until carrying what could have gone has cost as much as the edit costs (ski rental): whenever
    the session ends, no more than twice the least was paid. `kept` are messages that stay.
    """
    newest = newest_due(standing.turn, policy)
    found = _tellings(view, newest, kept)
    saved = sum(each.saves for each in found)
    if saved < LEAST_SAVED_TOKENS:
        return Folding([], [])
    first = found[0].run.start
    behind = 0 if standing.cold else sum(view.shown_tokens[first : view.sent])
    costs = prices.edit_cost(behind, sum(view.shown_tokens[first:]) - saved)
    carried = prices.read * sum(each.carried for each in found)
    gains = prices.read * saved * calls_to_come(standing.turn, policy)
    if costs > min(carried, gains, standing.edits_left, standing.balance):
        return Folding([], [])
    return Folding([each.run for each in found], [each.room for each in found])


def _tellings(view: View, newest: int, kept: Collection[int]) -> list[_Telling]:
    """Return what may be told of the turns behind the last digest, and saves something."""
    start = max(digest.opening_end(view.history.raw), view.folded_end)
    end = view.history.end_of_turn(newest)
    closed = [start + at for at in digest.boundaries(view.history.raw[start:end])]
    last = max((at for at in closed if at <= view.sent), default=start)

    def stays(number: int) -> bool:
        message = view.history.raw[number]
        return number in kept or message.role == "system" or digest.is_said_by_user(message)

    held = compaction.rounds_of(filter(stays, range(start, last)), closed)
    runs = digest.spans_of(start, last, held.__contains__)
    runs = [run for run in runs if compaction.is_worth(view, run)]
    told = [_telling(view, run, newest) for run in runs]
    return [each for each in told if each.saves > 0]


def _telling(view: View, run: Span, newest: int) -> _Telling:
    weights = view.shown_tokens[run.start : run.end]
    weight = sum(weights)
    room = min(2 * digest.MOST_TOKENS, max(digest.LEAST_TOKENS, weight // SHARE))
    saves = weight - room - compaction.FRAME_TOKENS
    due = (newest - view.history.turns[number] for number in range(run.start, run.end))
    carried = sum(tokens * turns for tokens, turns in zip(weights, due, strict=True))
    return _Telling(run, room, saves, carried * saves / weight)
