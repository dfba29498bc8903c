"""The old turns that digests may replace, as the plan weighs them. Decides nothing; pure.

The text of a digest is in `digest`, the compaction of a view over its limit in `compaction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hippocampus.entries.entry import Stage
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import compaction, digest
from hippocampus.session.digest import Span
from hippocampus.session.payloads import Payloads
from hippocampus.session.plan import Candidate, calls_to_come
from hippocampus.session.view import View

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

REASON = "old turns became digests: carrying them has cost as much as the edit"
MIN_SAVED_TOKENS = 2_000
"""Digests of few turns each have less than one of many, even where no provider caches anything."""


def foldable(view: View, payloads: Payloads, prices: Prices, policy: Policy) -> list[Candidate]:
    """Return the spans of weak turns that digests may replace with a saving.

    None where the savings of all of them could not pay for the edit: most turns end there.
    """
    import numpy as np

    off = policy.compression == "none" or not policy.digest_below
    if off or view.shown_total < policy.fade_view_tokens:
        return []
    turn, raw = view.history.turn, view.history.raw
    start = digest.opening_end(raw)
    weights = np.array(view.shown_tokens[: view.sent], np.int64)
    cold_from = payloads.cold_from(view.history.turns[: view.sent], policy)
    cold_from[:start] = np.inf
    for fold in view.folds:
        cold_from[slice(*fold)] = np.inf
    cold = cold_from <= turn
    behind = weights[::-1].cumsum()[::-1]
    saved = np.where(cold, weights, 0)[::-1].cumsum()[::-1] * (1 - 1 / digest.SHARE)
    gains = calls_to_come(turn) * prices.read * saved
    pays = gains > (prices.write - prices.read) * (behind - saved)
    if not (pays & (saved >= MIN_SAVED_TOKENS)).any():
        return []
    closed = [at for at in digest.boundaries(raw[: view.sent + 1]) if at <= view.sent]
    last = max(closed, default=0)

    def stays(number: int) -> bool:
        message = raw[number]
        return not cold[number] or message.role == "system" or digest.is_said_by_user(message)

    staying = compaction.rounds_of(filter(stays, range(start, last)), closed)
    spans = digest.spans_of(start, last, staying.__contains__)
    spans = [span for span in spans if compaction.is_worth(view, span)]
    found = (_candidate(span, weights, turn - cold_from) for span in spans)
    return [each for each in found if each.saves > 0]


def _candidate(
    span: Span, weights: npt.NDArray[np.int64], due: npt.NDArray[np.float64]
) -> Candidate:
    """Return a span as the plan weighs it; `due` has for each message the turns since it was."""
    own = weights[slice(*span)]
    weight = int(own.sum())
    budget = digest.budget_of(weight)
    left = min(weight, budget + compaction.FRAME_TOKENS)
    carried = float((own * due[slice(*span)]).sum()) * (1 - left / max(1, weight))
    return Candidate(
        "", span.start, weight, left, 0, stage=Stage.DORMANT, end=span.end, carried=carried
    )
