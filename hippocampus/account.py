"""What a session has cost so far, and what it would have cost without us. Pure; no clock.

An edit of the past is a bet on the calls still to come; it may cost no more than what was won
before, and a little. So whoever bets wrong loses little (ski rental).
"""

from __future__ import annotations

from hippocampus.prices import Prices
from hippocampus.window import Window

STAKE = 0.03
"""The share of the raw cost so far that may be lost on bets."""


class Account:
    """Two sums in base input tokens: everything sent as it is, and our views."""

    def __init__(self, raw_cost: float = 0.0, sent_cost: float = 0.0) -> None:
        self.raw_cost = raw_cost
        self.sent_cost = sent_cost

    @property
    def balance(self) -> float:
        """Return what an edit may cost: what was saved so far, and a small stake."""
        return self.raw_cost * (1 + STAKE) - self.sent_cost

    def add(self, window: Window, prices: Prices) -> None:
        """Add a call: the list and its view as they stand now."""
        raw, shown = window.raw_total, window.shown_total
        fresh = sum(window.raw_tokens[window.sent :])
        changed = sum(window.shown_tokens[window.unchanged :])
        self.raw_cost += prices.call_cost(raw - fresh, raw)
        self.sent_cost += prices.call_cost(shown - changed, shown)
