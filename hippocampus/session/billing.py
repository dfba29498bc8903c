"""Predicted and billed: the bill that is expected of each call, and the one that the provider sends.

Values and arithmetic; no I/O. A provider counts other tokens than we do, and a system prompt and
tools that no message list has: the calls so far calibrate both.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hippocampus.formats.usage import Usage
from hippocampus.prices import HOUR, HOUR_WRITE, Prices

CALIBRATION_CALLS = 10
"""Calls that calibrate only; those after them are compared."""
PRIOR_TOKENS = 10_000
"""The spread of sizes at which calibration trusts our own counts and the provider's alike."""
MAX_DEVIATION = 0.1
"""A bill that parts from the prediction by more than this share is reported."""


class CountedCall(NamedTuple):
    """One request by our counts."""

    tokens: int
    read_tokens: int
    """Tokens of its messages that the provider reads, if nothing but the messages decides."""
    idle_seconds: float = 0.0
    """The time since the last call."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """From our counts to the provider's, as the first calls show it."""

    scale: float = 1.0
    """The provider's tokens for one of ours."""
    fixed_tokens: float = 0.0
    """The tokens of the system prompt and the tools."""
    caches: bool = True
    """Whether the provider has read from its cache, or written to it, at all."""
    write: float = 1.0
    """The price of tokens that are not read."""
    cache_seconds: float = 0.0
    """The time without a call after which nothing is read."""

    @classmethod
    def of(cls, calls: Sequence[tuple[CountedCall, Usage]], prices: Prices) -> Calibration:
        """Return the fit to some calls: sizes by least squares, with the scale drawn to 1."""
        counted = [call.tokens for call, _ in calls]
        billed = [usage.context_tokens for _, usage in calls]
        middle, level = statistics.fmean(counted), statistics.fmean(billed)
        pairs = zip(counted, billed, strict=True)
        together = sum((one - middle) * (other - level) for one, other in pairs)
        spread = sum((one - middle) ** 2 for one in counted)
        prior = PRIOR_TOKENS**2
        scale = max(0.1, (together + prior) / (spread + prior))
        is_kept_an_hour = any(usage.hour_tokens for _, usage in calls)
        writes = any(usage.cache_write_tokens for _, usage in calls)
        return cls(
            scale,
            max(0.0, level - scale * middle),
            writes or any(usage.cache_read_tokens for _, usage in calls),
            (HOUR_WRITE if is_kept_an_hour else prices.write) if writes else 1.0,
            HOUR if is_kept_an_hour else prices.cache_seconds,
        )

    def read_tokens(self, call: CountedCall) -> float:
        """Return the tokens that the provider should read from its cache."""
        is_cold = not self.caches or call.idle_seconds > self.cache_seconds
        return 0.0 if is_cold else self.fixed_tokens + self.scale * call.read_tokens

    def cost(self, call: CountedCall, prices: Prices) -> float:
        """Return the predicted cost of a call in base input tokens."""
        total, read = self.fixed_tokens + self.scale * call.tokens, self.read_tokens(call)
        return prices.read * read + self.write * (total - read)


@dataclass(slots=True)
class Bill:
    """The bill of one session so far, next to the prediction."""

    prices: Prices
    predicted: float = 0.0
    """In base input tokens, over the calls after the first ones."""
    billed: float = 0.0
    missed: float = 0.0
    """The part of `billed` above the prediction in calls that read less than half of the tokens in
    the cache: a host has changed its system prompt, or the provider has dropped a prefix early."""
    missed_calls: int = 0
    misses: Counter[str] = field(default_factory=Counter)
    """The reasons of misses, where the provider reported them."""
    _calls: list[tuple[CountedCall, Usage]] = field(default_factory=list)

    def add(self, call: CountedCall, usage: Usage, miss: str = "") -> None:
        """Take in a call, its usage and the provider's reason of a miss, if it gave one.

        A call is predicted by those before it; the first ones calibrate only.
        """
        if miss:
            self.misses[miss] += 1
        if len(self._calls) >= CALIBRATION_CALLS:
            self._compare(call, usage)
        self._calls.append((call, usage))

    def _compare(self, call: CountedCall, usage: Usage) -> None:
        known = self.calibration
        predicted, billed = known.cost(call, self.prices), self.prices.billed_cost(usage)
        self.predicted += predicted
        self.billed += billed
        if usage.cache_read_tokens < known.read_tokens(call) / 2:
            self.missed_calls += 1
            self.missed += max(0.0, billed - predicted)

    @property
    def calls(self) -> int:
        """Return how many calls were billed."""
        return len(self._calls)

    @property
    def calibration(self) -> Calibration:
        """Return the fit to all calls so far."""
        return Calibration.of(self._calls, self.prices) if self._calls else Calibration()

    @property
    def deviation(self) -> float:
        """Return by which share the bill passes the prediction; negative where it stays below."""
        return self.billed / self.predicted - 1 if self.predicted else 0.0

    @property
    def is_off(self) -> bool:
        """Return whether bill and prediction part by more than they should."""
        return abs(self.deviation) > MAX_DEVIATION

    def sentence(self) -> str:
        """Return what a warning reports."""
        return (
            f"billed {self.billed:,.0f} base input tokens where {self.predicted:,.0f} were expected "
            f"({100 * self.deviation:+.0f} percent); {self.missed_calls} calls read less than half of "
            "the provider's cache. Check what changes in front of the messages (system "
            "prompt, tools), and the model and cache lifetime that `Hippocampus` was given"
        )

    def figures(self) -> dict[str, Any]:
        """Return what `Session.status` shows."""
        known = self.calibration
        return {
            "calls": self.calls,
            "predicted_cost": round(self.predicted, 1),
            "billed_cost": round(self.billed, 1),
            "deviation_percent": round(100 * self.deviation, 1),
            "missed_calls": self.missed_calls,
            "missed_cost": round(self.missed, 1),
            "token_scale": round(known.scale, 3),
            "fixed_tokens": round(known.fixed_tokens),
            "cache_misses": dict(self.misses),
        }
