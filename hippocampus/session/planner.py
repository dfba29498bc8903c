"""The old turns that digests may replace, as the plan weighs them. Decides nothing; pure.

The text of a digest is in `digest`, the compaction of a view over its limit in `compaction`.
"""

from __future__ import annotations

import bisect
from typing import NamedTuple

from hippocampus.entries.entry import Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import compaction, digest
from hippocampus.session.compaction import CompactionPlan
from hippocampus.session.constants import CONSTANTS
from hippocampus.session.digest import Room
from hippocampus.session.payloads import Payloads
from hippocampus.session.plan import Candidate, calls_to_come
from hippocampus.session.view import View

REASON = "old turns became digests: carrying them has cost as much as the edit"
READ_AHEAD_TURNS = 25
"""Each turn reads for digests the results of one turn, this long ago: none of them is weak enough yet, and
few are left to read in the turn that makes a digest."""
MIN_SAVED_TOKENS = 2_000
"""Digests of few turns each have less than one of many, even where no provider caches anything."""


class Fold(NamedTuple):
    """The old turns that digests may replace together, as the plan weighs them, and the digests."""

    candidate: Candidate
    digests: CompactionPlan


def foldable(view: View, payloads: Payloads, prices: Prices, policy: Policy) -> Fold | None:
    """Return the weak turns that digests may replace, with those that digests replace already.

    None where the savings could not pay for the edit: most turns end there.
    """
    off = policy.compression == "none" or not policy.digest_below
    if off or not view.sent or view.shown_total < policy.fade_view_tokens:
        return None
    import numpy as np

    turn, turns, raw = view.history.turn, view.history.turns, view.history.raw
    ahead = turn - READ_AHEAD_TURNS
    first, last = bisect.bisect_left(turns, ahead), bisect.bisect_right(turns, ahead)
    digest.read_ahead(view.history.quotable_range(first, last))
    start = digest.opening_end(raw)
    weights = np.array(view.shown_tokens[: view.sent], np.int64)
    cold_from = payloads.cold_from(view.history.turns[: view.sent], policy)
    cold_from[:start] = np.inf
    for fold in view.folds:
        cold_from[slice(*fold)] = turn
    cold = cold_from <= turn
    gone = cold.copy()
    for fold in view.folds:
        gone[slice(*fold)] = False
    first = int(cold.argmax())
    saved = int(weights[gone].sum()) * (1 - CONSTANTS.digest_share)
    written = int(weights[first:].sum()) - saved
    gains = calls_to_come(turn) * prices.read * saved
    if saved < MIN_SAVED_TOKENS or gains <= (prices.write - prices.read) * written:
        return None
    closed = view.history.closed[: bisect.bisect_right(view.history.closed, view.sent)]
    last = max(closed, default=0)

    own = view.history.own
    hot = (np.flatnonzero(~cold[start:last]) + start).tolist()
    staying = [*hot, *own[bisect.bisect_left(own, start) : bisect.bisect_left(own, last)]]
    spans = digest.spans_between(start, last, staying, closed)
    spans = [span for span in spans if compaction.is_worth(view, span)]
    if not spans:
        return None
    replaced = np.concatenate([np.arange(*span) for span in spans])
    weight = int(weights[replaced].sum())
    raws = [sum(view.history.tokens[slice(*span)]) for span in spans]
    hot_tokens = payloads.hot_tokens(spans, turn)
    together = digest.room_of(sum(raws))
    rooms = [Room(max(digest.MIN_TOKENS, together.steps * raw // sum(raws))) for raw in raws]
    rooms[-1] = Room(rooms[-1].steps, hot_tokens + together.files)
    left = sum(room.total + compaction.FRAME_TOKENS for room in rooms)
    if left >= weight:
        return None
    carried = float((weights * (turn - cold_from))[replaced].sum()) * (1 - left / weight)
    candidate = Candidate(
        "",
        spans[0].start,
        weight,
        left,
        0,
        stage=Stage.DORMANT,
        spans=tuple(spans),
        carried=carried,
    )
    return Fold(candidate, CompactionPlan(spans, rooms))
