"""What a token of an entry costs, what it costs not to have it, and how large an entry may be.

Pure arithmetic after *Economics* in SPEC.md; which lines are worth it is chosen in `select`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hippocampus.entries.entry import Compression
from hippocampus.prices import Prices

SLICE_TOKENS = 400
"""What a recall is taken to return."""
MIN_CALLS_AHEAD = 8
"""The least number of calls that is assumed to follow; later as many as there were."""
MIN_VIEW_TOKENS = 6_000
"""A view that is still smaller will grow: a recall is priced as if it had."""
HIDING = 1.5
"""What a hidden value costs on top of its recall: a turn of waiting, and that a model may not think
of asking. Where price and visibility pull apart, visibility wins."""

BOUNDS = {"light": (300, 4_000), "normal": (150, 2_500), "aggressive": (350, 350)}
"""Least and most tokens of an entry's lines."""
AGGRESSIVE_TOKENS = {"page": 450, "schema": 800, "listing": 350, "code": 200, "json": 300}
"""The protocol's own figures by kind (section 6.3), for `aggressive`."""
FRAME_TOKENS = 45
"""What the first and the last line of an entry weigh, kept free of its bounds."""


@dataclass(frozen=True, slots=True)
class Price:
    """What an entry's tokens cost, in base input tokens, and its bounds."""

    carry: float
    """Writing a token once and reading it in every call still to come."""
    recall: float
    """A hidden value: the view read once more and a slice written, times `HIDING`."""
    least_tokens: int
    """Lines are taken up to here whatever their chance."""
    most_tokens: int

    def without(self, used_tokens: int) -> Price:
        """Return the price with so much less room."""
        most = max(0, self.most_tokens - used_tokens)
        return replace(self, least_tokens=min(self.least_tokens, most), most_tokens=most)


def price_of(
    kind: str, compression: Compression, prices: Prices, view_tokens: int, turn: int
) -> Price:
    """Return the price of an entry of a kind that is made at a turn.

    `carry = write + read x calls to come`; `recall = read x view + write x slice`.
    """
    ahead = max(MIN_CALLS_AHEAD, turn)
    missing = prices.recall_cost(max(view_tokens, MIN_VIEW_TOKENS), SLICE_TOKENS)
    if isinstance(compression, int):
        least, most = 0, compression
    else:
        least, most = BOUNDS[compression]
    if compression == "aggressive":
        most = AGGRESSIVE_TOKENS.get(kind, most)
    most = max(1, most - FRAME_TOKENS)
    return Price(
        carry=prices.write + prices.read * ahead,
        recall=HIDING * missing,
        least_tokens=min(least, most),
        most_tokens=most,
    )
