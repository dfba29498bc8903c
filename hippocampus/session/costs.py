"""The cost of a session so far, and its cost without us. Values; pure; no clock.

An edit of the past is a bet on the calls still to come; it may cost no more than earlier edits have
saved, and a little. So a wrong bet loses little (ski rental). `plan` decides whether one is made.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import kept_tokens
from hippocampus.session.view import View
from hippocampus.storage.ledger import ModelCall


@dataclass(frozen=True, slots=True)
class Costs:
    """Sums in base input tokens: everything sent as it is, our views, and the edits and recalls in these."""

    raw: float = 0.0
    sent: float = 0.0
    edits: float = 0.0
    recalls: float = 0.0

    @classmethod
    def after(cls, call: ModelCall | None) -> Costs:
        """Return the sums after a call; without one, those before the first."""
        if call is None:
            return cls()
        return cls(call.raw_cost, call.sent_cost, call.edit_cost, call.recall_cost)

    def balance(self, stake: float) -> float:
        """Return what an edit may cost: the savings so far, and `stake` of the raw cost."""
        return self.raw * (1 + stake) - self.sent

    def plus(
        self,
        view: View,
        prices: Prices,
        cached_tokens: int,
        mark_tokens: Sequence[int] | None = None,
        recalled_tokens: Iterable[int] = (),
    ) -> Costs:
        """Return the sums after a view is sent; `cached_tokens` of the last request were cached.

        `recalled_tokens` are those of new answers to recalls: a recall is one more call.

        Before an edit, the part up to the last of the marks at `mark_tokens` is read again; None is a
        cache that reads all of it.
        """
        history = view.history
        fresh = sum(history.tokens[view.sent :])
        read = view.tokens_to(view.unchanged)
        if view.unchanged < view.sent:
            read = kept_tokens(mark_tokens, read)
        written = view.shown_total - read
        return Costs(
            self.raw + prices.call_cost(history.total - fresh, history.total),
            self.sent + prices.call_cost(read, view.shown_total),
            self.edits + prices.edit_cost(cached_tokens - read, written),
            self.recalls
            + sum(prices.recall_cost(view.shown_total, tokens) for tokens in recalled_tokens),
        )


def call_of(view: View, costs: Costs) -> ModelCall:
    """Return the record of a request that sends a view; `costs` are the sums with it."""
    history = view.history
    return ModelCall(
        history.turn,
        len(history.raw),
        history.total,
        view.shown_total,
        costs.raw,
        costs.sent,
        costs.edits,
        costs.recalls,
    )
