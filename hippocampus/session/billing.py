"""The provider's bill next to the predicted cost of a session. Values; no clock.

A provider counts other tokens than we do, and a system prompt and tools that no message list has: the
calls so far calibrate both.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hippocampus.formats.usage import Usage
from hippocampus.prices import HOUR, HOUR_WRITE, Prices

CALIBRATION_CALLS = 10
"""Calls that calibrate only; those after them are compared."""
PRIOR_TOKENS = 10_000
"""The spread of sizes at which a line trusts our own counts and the provider's equally."""
MAX_DEVIATION = 0.1
"""A bill that differs from the prediction by more than this share is reported."""


class CountedCall(NamedTuple):
    """One request by our counts."""

    tokens: int
    read_tokens: int
    """Tokens of its messages that the provider reads, if only the messages decide."""
    idle_seconds: float = 0.0
    """The time since the last call."""


@dataclass(slots=True)
class TokenLine:
    """The provider's tokens over ours: a least-squares line with its slope drawn to 1."""

    count: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = PRIOR_TOKENS**2
    xy: float = PRIOR_TOKENS**2

    def add(self, ours: float, theirs: float) -> None:
        """Take in one pair of counts."""
        self.count += 1
        self.x += ours
        self.y += theirs
        self.xx += ours * ours
        self.xy += ours * theirs

    def at(self, ours: float) -> float:
        """Return the provider's tokens for a count of ours."""
        if not self.count:
            return ours
        slope = (self.xy - self.x * self.y / self.count) / (self.xx - self.x**2 / self.count)
        return self.y / self.count + slope * (ours - self.x / self.count)


@dataclass(slots=True)
class Bill:
    """The bill of one session so far, next to the prediction.

    A call is predicted from the one before it: the growth of its request and the tokens that the
    provider does not read from its cache, both in the provider's count, are lines over our counts.
    """

    prices: Prices
    predicted: float = 0.0
    """In base input tokens, over the calls after the first ones."""
    billed: float = 0.0
    missed: float = 0.0
    """The part of `billed` above the prediction in calls that read less than half of the tokens in
    the cache: a host has changed its system prompt, or the provider has dropped a prefix early. A
    prefix that the provider has kept for longer than expected is subtracted."""
    missed_calls: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    """The reasons of misses, where the provider reported them."""
    calls: int = 0
    """The calls that were billed."""
    _growth: TokenLine = field(default_factory=TokenLine)
    _new: TokenLine = field(default_factory=TokenLine)
    _last: tuple[CountedCall, Usage] = (CountedCall(0, 0), Usage())
    _usage: Usage = field(default_factory=Usage)
    """The sums of all calls."""

    def add(self, call: CountedCall, usage: Usage, miss: str = "") -> None:
        """Take in a call, its usage and the provider's reason of a miss, if it gave one.

        A call is predicted by those before it; the first ones calibrate only.
        """
        if miss:
            self.misses[miss] += 1
        if self.calls:
            before, billed = self._last
            grown = call.tokens - before.tokens
            # Whether the provider caches at all, and should still have the last request.
            kept_seconds = HOUR if self._usage.hour_tokens else self.prices.cache_seconds
            caches = self._usage.cache_read_tokens + self._usage.cache_write_tokens > 0
            is_warm = caches and call.idle_seconds <= kept_seconds
            read_tokens = min(call.read_tokens, before.tokens)
            # The system prompt and the tools, which we do not count, make a short list a prefix too.
            if before.tokens < self.prices.smallest_prefix_tokens:
                read_tokens = before.tokens
            unread = call.tokens - read_tokens
            size = max(0.0, billed.context_tokens + self._growth.at(grown))
            new = min(max(0.0, self._new.at(unread)), size) if is_warm else size
            is_read = usage.cache_read_tokens >= (size - new) / 2
            if self.calls >= CALIBRATION_CALLS:
                is_kept = not is_warm and usage.cache_read_tokens > size / 2
                write = HOUR_WRITE if self._usage.hour_tokens else self.prices.write
                write = write if self._usage.cache_write_tokens else 1.0
                predicted = self.prices.read * (size - new) + write * new
                cost = self.prices.billed_cost(usage)
                self.predicted += predicted
                self.billed += cost
                self.missed_calls += not is_read
                if is_kept or not is_read:
                    self.missed += cost - predicted
            self._growth.add(grown, usage.context_tokens - billed.context_tokens)
            if is_warm and is_read:
                self._new.add(unread, usage.context_tokens - usage.cache_read_tokens)
        self._last = call, usage
        self._usage += usage
        self.calls += 1

    @property
    def token_scale(self) -> float:
        """Return by how many tokens of the provider the request grew for one of ours."""
        return self._growth.y / self._growth.x if self._growth.x else 1.0

    @property
    def fixed_tokens(self) -> float:
        """Return the tokens of the system prompt and the tools, as the last call shows them."""
        call, usage = self._last
        return max(0.0, usage.context_tokens - self.token_scale * call.tokens)

    @property
    def deviation(self) -> float:
        """Return by which share the bill passes the prediction; negative where it stays below."""
        return self.billed / self.predicted - 1 if self.predicted else 0.0

    @property
    def is_off(self) -> bool:
        """Return whether bill and prediction differ by more than `MAX_DEVIATION`."""
        return abs(self.deviation) > MAX_DEVIATION

    def sentence(self) -> str:
        """Return the text of a warning."""
        return (
            f"billed {self.billed:,.0f} base input tokens where {self.predicted:,.0f} were expected "
            f"({100 * self.deviation:+.0f} percent); {self.missed_calls} calls read less than half of "
            "the provider's cache. Check what changes in front of the messages (system "
            "prompt, tools), and the model and cache lifetime that `Hippocampus` was given"
        )

    def figures(self) -> dict[str, Any]:
        """Return the figures for `Session.status`."""
        return {
            "calls": self.calls,
            "predicted_cost": round(self.predicted, 1),
            "billed_cost": round(self.billed, 1),
            "deviation_percent": round(100 * self.deviation, 1),
            "missed_calls": self.missed_calls,
            "missed_cost": round(self.missed, 1),
            "token_scale": round(self.token_scale, 3),
            "fixed_tokens": round(self.fixed_tokens),
            "cache_misses": dict(self.misses),
        }
