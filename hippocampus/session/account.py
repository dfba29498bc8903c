"""What a session has cost so far, and what it would have cost without us. Pure; no clock.

An edit of the past is a bet on the calls still to come; it may cost no more than what was won
before, and a little. So whoever bets wrong loses little (ski rental). And all edits together stay a
small share of what was paid, so that what was sent is mostly read again as it was.
"""

from __future__ import annotations

from hippocampus.prices import Prices
from hippocampus.session.view import Window

STAKE = 0.03
"""The share of the raw cost so far that may be lost on bets."""
EDITS_SHARE = 0.1
"""The share of what the session has paid that edits of the past may make up."""


class Account:
    """Sums in base input tokens: everything sent as it is, our views, and the edits in these."""

    def __init__(
        self, raw_cost: float = 0.0, sent_cost: float = 0.0, edit_cost: float = 0.0
    ) -> None:
        self.raw_cost = raw_cost
        self.sent_cost = sent_cost
        self.edit_cost = edit_cost

    @property
    def balance(self) -> float:
        """Return what an edit may cost: what was saved so far, and a small stake."""
        return self.raw_cost * (1 + STAKE) - self.sent_cost

    @property
    def edits_left(self) -> float:
        """Return what may be written again, so that edits stay a small share of all that was paid.

        What is forced counts, so that after it nothing else is edited for a while.
        """
        return EDITS_SHARE * self.sent_cost - self.edit_cost

    def add(self, window: Window, prices: Prices, sent_before: int) -> None:
        """Add a call: the list and its view as they stand now, and what of it was sent before.

        `sent_before` is what the messages of the last request weighed, before anything was changed.
        """
        raw, shown = window.raw_total, window.shown_total
        fresh = sum(window.raw_tokens[window.sent :])
        changed = sum(window.shown_tokens[window.unchanged :])
        self.raw_cost += prices.call_cost(raw - fresh, raw)
        self.sent_cost += prices.call_cost(shown - changed, shown)
        self.edit_cost += prices.edit_cost(sent_before - (shown - changed), changed)
