"""The cost of a session so far, its cost without us, and the provider's bill next to both. Values; no clock.

A provider counts other tokens than we do, and a system prompt and tools that no message list has: the
calls so far calibrate both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from hippocampus.formats.conversation import Message
from hippocampus.formats.usage import Usage
from hippocampus.models import tokens
from hippocampus.prices import HOUR, HOUR_WRITE, Prices
from hippocampus.prices.prompt_cache import kept_tokens
from hippocampus.session.view import View
from hippocampus.storage.ledger import ModelCall

if TYPE_CHECKING:
    from hippocampus.session.rules import Rules


def call_after(
    last: ModelCall, view: View, rules: Rules, cached_tokens: int, raw_tokens: tuple[int, int]
) -> ModelCall:
    """Return the request that sends a view, with the sums after it; `last` has those before it.

    `cached_tokens` of the last request were cached. `raw_tokens` are those of the last request's list
    and of this one, each without its recalls.
    """
    history, prices = view.history, rules.prices
    fresh = sum(history.tokens[view.sent :])
    read = view.tokens_to(view.unchanged)
    if view.unchanged < view.sent:  # the part before an edit, up to the last of the cache marks
        read = kept_tokens(rules.mark_tokens, read)
    unedited = max(read, min(cached_tokens, view.shown_total))
    cost, raw = prices.call_cost(read, view.shown_total), prices.call_cost(*raw_tokens)
    before, total = raw_tokens
    recalled = prices.write * (fresh - (total - before))
    if fresh and total == before:  # only recalls are new: without the memory there is no such call
        raw, recalled = 0.0, cost
    return ModelCall(
        history.turn,
        len(history.raw),
        history.total,
        view.shown_total,
        last.raw_cost + raw,
        last.sent_cost + cost,
        last.edit_cost + cost - prices.call_cost(unedited, view.shown_total),
        last.recall_cost + recalled,
    )


def recall_tokens(message: Message, weight: int, recalls: Collection[int]) -> int:
    """Return the tokens that recalls add to a message of `weight` tokens; `recalls` are the parts.

    All of it, words of the model too, unless it has another call or result, or words of the user.
    """
    others = (part for at, part in enumerate(message.parts) if at not in recalls)
    is_user = message.role == "user"
    if any(p.opens_call or p.closes_call or (is_user and p.kind == "text") for p in others):
        return sum(tokens.count_part(message.parts[at]) for at in recalls)
    return weight


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

    @property
    def slope(self) -> float:
        """Return the provider's tokens for one of ours."""
        if not self.count:
            return 1.0
        return (self.xy - self.x * self.y / self.count) / (self.xx - self.x**2 / self.count)

    def at(self, ours: float) -> float:
        """Return the provider's tokens for a count of ours."""
        if not self.count:
            return ours
        return self.y / self.count + self.slope * (ours - self.x / self.count)


class Expected(NamedTuple):
    """The bill that is expected of one call, in the provider's tokens."""

    tokens: float
    new_tokens: float
    """Those that are not read from the provider's cache."""


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
            expected, is_warm = self._expected(call), self._is_warm(call)
            read_tokens = expected.tokens - expected.new_tokens
            is_read = usage.cache_read_tokens >= read_tokens / 2
            if self.calls >= CALIBRATION_CALLS:
                is_kept = not is_warm and usage.cache_read_tokens > expected.tokens / 2
                write = HOUR_WRITE if self._usage.hour_tokens else self.prices.write
                write = write if self._usage.cache_write_tokens else 1.0
                predicted = self.prices.read * read_tokens + write * expected.new_tokens
                cost = self.prices.billed_cost(usage)
                self.predicted += predicted
                self.billed += cost
                self.missed_calls += not is_read
                if is_kept or not is_read:
                    self.missed += cost - predicted
            before, billed = self._last
            self._growth.add(
                call.tokens - before.tokens, usage.context_tokens - billed.context_tokens
            )
            if is_warm and is_read:
                new = usage.context_tokens - usage.cache_read_tokens
                self._new.add(call.tokens - self._read_tokens(call), new)
        self._last = call, usage
        self._usage += usage
        self.calls += 1

    def _expected(self, call: CountedCall) -> Expected:
        before, billed = self._last
        size = max(0.0, billed.context_tokens + self._growth.at(call.tokens - before.tokens))
        if not self._is_warm(call):
            return Expected(size, size)
        new = self._new.at(call.tokens - self._read_tokens(call))
        return Expected(size, min(max(0.0, new), size))

    def _read_tokens(self, call: CountedCall) -> int:
        """Return the tokens of a call that should be read from the cache, by our count."""
        before = self._last[0].tokens
        # The system prompt and the tools, which we do not count, make a short list a prefix too.
        return min(
            call.read_tokens if before >= self.prices.smallest_prefix_tokens else before, before
        )

    def _is_warm(self, call: CountedCall) -> bool:
        """Return whether the provider caches at all, and should still have the last request."""
        kept = HOUR if self._usage.hour_tokens else self.prices.cache_seconds
        caches = self._usage.cache_read_tokens + self._usage.cache_write_tokens > 0
        return caches and call.idle_seconds <= kept

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
