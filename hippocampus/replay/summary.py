"""Adds up the figures of many recordings: ratios of sums, never means of ratios. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from hippocampus.models import tokens
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import CALL_SECONDS, Prompt, PromptCache
from hippocampus.replay.measure import Measured, Script
from hippocampus.replay.uses import values_of
from hippocampus.session.billing import CALIBRATION_CALLS, Bill, CountedCall

MIN_CALLS = CALIBRATION_CALLS + 10
"""A recording with fewer billed calls is not compared."""


class SummedFields:
    """Fields that add up over recordings."""

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> Self:
        """Return the sums in figures, without the shares next to them."""
        return cls(**{name: figures[name] for name in cls.__annotations__})

    def add(self, other: Self) -> None:
        """Add the sums of another; a peak is the larger of the two."""
        for name, theirs in vars(other).items():
            mine = getattr(self, name)
            setattr(self, name, max(mine, theirs) if name == "peak_tokens" else mine + theirs)


SAME_VALUES, SAME_LINES = 0.2, 0.5
"""In percentage points, the tolerance of `Totals.shows_as_much_as`."""


@dataclass
class Totals(SummedFields):
    """The sums of a strategy over recordings."""

    calls: int = 0
    tokens: int = 0
    """Tokens of all views sent, recalls included."""
    view_tokens: int = 0
    """Tokens of all views sent, without recalls."""
    cost: float = 0.0
    """In base input tokens."""
    cost_if_read: float = 0.0
    """The cost with recalls of all results that the agent asked to read and did not see in full."""
    dollars: float = 0.0
    """The cost at the prices of the recordings' models."""
    uses: int = 0
    """Values that the agent took from tool results."""
    hidden: int = 0
    line_uses: int = 0
    """Whole lines that the agent took from tool results."""
    hidden_lines: int = 0
    own_uses: int = 0
    """Lines that the agent repeated from its own calls."""
    own_hidden: int = 0
    asked_tokens: int = 0
    """Tokens of the results that the agent asked to read."""
    read_tokens: int = 0
    """Tokens of the results among them that the next view showed in full."""
    recalls: int = 0
    """Calls with hidden values or lines, which are charged one recall."""
    recoverable: int = 0
    """Hidden values that one recall returns (protocol, section 12.2)."""
    peak_tokens: int = 0
    overflows: int = 0
    """Recordings with a peak over the window."""
    compactions: int = 0
    """New contexts that a host would have to start to stay in the window."""
    invalid_views: int = 0
    steps: int = 0
    """Decisive steps: the calls that were the last to write a line of the submitted patch."""
    steps_hidden: int = 0
    """Decisive steps with a value or line that the view did not show."""
    step_lines: int = 0
    """The lines that decisive steps took from results."""
    step_lines_hidden: int = 0
    """The lines among them that the view did not show."""
    cost_percents: float = 0.0
    """The costs of the recordings relative to sending everything, summed."""

    def shares(self) -> dict[str, float]:
        """Return the percentages that views showed: of used values, used lines, own lines and reads.

        Reads are the results that the agent asked to read, by tokens.
        """
        return {
            "visible_percent": percent(self.uses - self.hidden, self.uses),
            "lines_percent": percent(self.line_uses - self.hidden_lines, self.line_uses),
            "own_percent": percent(self.own_uses - self.own_hidden, self.own_uses),
            "read_percent": percent(self.read_tokens, self.asked_tokens),
        }

    def shows_as_much_as(self, other: Totals) -> bool:
        """Return whether no share of visible values, lines and reads is lower than that of `other`.

        Differences up to `SAME_VALUES` and `SAME_LINES` are ignored.
        """
        ours, theirs = self.shares(), other.shares()
        same = {"visible_percent": SAME_VALUES, "lines_percent": SAME_LINES, "read_percent": 0.0}
        return all(ours[name] >= theirs[name] - points for name, points in same.items())

    def figures(self, everything: Totals, recordings: int = 1) -> dict[str, Any]:
        """Return the sums, and the shares that reports show, relative to sending everything."""
        cost = percent(self.cost, everything.cost)
        percents = self.cost_percents or cost  # a recording by itself has not summed any
        return {
            **asdict(self),
            "cost_percents": percents,
            "mean_cost_percent": round(percents / (recordings or 1), 2),
            "tokens_per_call": round(self.view_tokens / self.calls) if self.calls else 0,
            "tokens_percent": percent(self.tokens, everything.tokens),
            "cost_percent": cost,
            "cost_if_read_percent": percent(self.cost_if_read, everything.cost),
            "dollars": round(self.dollars, 6),
            **self.shares(),
            "recoverable_percent": percent(self.recoverable, self.hidden),
        }


def percent(part: float, whole: float) -> float:
    """Return a share in percent with two decimals; 100 where the whole is zero."""
    return round(100 * part / whole, 2) if whole else 100.0


def totals(script: Script, measured: Measured, prices: Prices) -> Totals:
    """Return the sums of a recording under a strategy."""
    asked = script.asked_tokens
    sizes = [call.tokens for call in measured.calls]
    steps = [measured.calls[step] for step in script.decisive]
    peak = max(sizes, default=0)
    window = prices.window_tokens
    # A host starts an empty context whenever a view passes the window.
    compactions = dropped = 0
    for size in sizes if window else ():
        if size - dropped > window:
            compactions += 1
            dropped = size
    return Totals(
        calls=len(sizes),
        tokens=sum(call.charged_tokens for call in measured.calls),
        view_tokens=sum(sizes),
        cost=measured.cost(prices),
        cost_if_read=sum(call.cost_if_read(prices) for call in measured.calls),
        dollars=prices.dollars(measured.cost(prices)),
        uses=sum(call.uses for call in measured.calls),
        hidden=sum(len(call.hidden) for call in measured.calls),
        line_uses=sum(call.line_uses for call in measured.calls),
        hidden_lines=sum(len(call.hidden_lines) for call in measured.calls),
        own_uses=sum(call.own_uses for call in measured.calls),
        own_hidden=sum(call.own_hidden for call in measured.calls),
        asked_tokens=asked,
        read_tokens=asked - sum(sum(call.unread) for call in measured.calls),
        recalls=sum(call.slice_tokens > 0 for call in measured.calls),
        recoverable=measured.recoverable,
        peak_tokens=peak,
        overflows=int(bool(window) and peak > window),
        compactions=compactions,
        invalid_views=measured.invalid_views,
        steps=len(steps),
        steps_hidden=sum(step.slice_tokens > 0 for step in steps),
        step_lines=sum(step.line_uses for step in steps),
        step_lines_hidden=sum(len(step.hidden_lines) for step in steps),
    )


@dataclass
class RawTotals(SummedFields):
    """Sums over recordings that no strategy changes (protocol, sections 1.1 and 12.1).

    Only messages that a call sent count: a result after the last answer does not.
    """

    recordings: int = 0
    messages: int = 0
    system_tokens: int = 0
    user_tokens: int = 0
    assistant_tokens: int = 0
    call_tokens: int = 0
    result_tokens: int = 0
    results: int = 0
    results_never_used: int = 0
    """Tool results with no value that a later answer writes."""
    tokens_never_used: int = 0
    """The tokens of the results that are never used."""
    reported_calls: int = 0
    """Calls for which the provider's own count is recorded."""
    reported_tokens: int = 0
    estimated_tokens: int = 0
    """Our count for the same calls, without the host's system prompt and tool list."""
    broken_lines: int = 0
    unanswered: int = 0
    orphans: int = 0
    billed_calls: int = 0
    """Calls with a bill that is compared with its prediction."""
    predicted_cost: float = 0.0
    """In base input tokens, as the next two."""
    billed_cost: float = 0.0
    missed_cost: float = 0.0
    """The excess of the bill over the prediction in calls that unexpectedly missed the cache."""
    missed_calls: int = 0

    def figures(self) -> dict[str, Any]:
        """Return the sums and the shares that reports show."""
        return {
            **asdict(self),
            "never_used_percent": percent(self.results_never_used, self.results or 1),
            "never_used_tokens_percent": percent(self.tokens_never_used, self.result_tokens or 1),
            "reported_ratio": round(self.reported_tokens / self.estimated_tokens, 3)
            if self.estimated_tokens
            else None,
        }


def bill_of(script: Script, prices: Prices) -> Bill:
    """Return the provider's recorded bill with its prediction; empty if too few calls were billed.

    The host's requests are taken as recorded, with a mark at the end; the first ten calls calibrate
    the prediction, and the later ones are compared.
    """
    recording, bill = script.recording, Bill(prices)
    if len(recording.usage) < MIN_CALLS or recording.cut:
        return bill
    cache, prompt, times = PromptCache(prices, own=0), Prompt(), recording.times
    for number, end in enumerate(script.answers):
        prompt = prompt.extended(script.messages[:end], len(prompt.starts))
        read_tokens = cache.send(prompt, number * CALL_SECONDS)
        # Without recorded times, a call follows the previous one at once.
        idle = times[number] - times[number - 1] if {number, number - 1} <= times.keys() else 0.0
        if number in recording.usage:
            bill.add(CountedCall(prompt.total, read_tokens, idle), recording.usage[number])
    return bill


def raw_of(script: Script, everything: Measured, prices: Prices) -> RawTotals:
    """Return the sums of a recording."""
    recording, bill = script.recording, bill_of(script, prices)
    sent = script.messages[: script.answers[-1]] if script.answers else []
    raw = RawTotals(
        recordings=1,
        messages=len(script.messages),
        broken_lines=len(recording.broken),
        unanswered=recording.unanswered,
        orphans=recording.orphans,
        billed_calls=max(0, bill.calls - CALIBRATION_CALLS),
        predicted_cost=round(bill.predicted, 1),
        billed_cost=round(bill.billed, 1),
        missed_cost=round(bill.missed, 1),
        missed_calls=bill.missed_calls,
    )
    later = set(script.uses[-1]) if script.uses else set()
    answers = dict(zip(script.answers, script.uses, strict=True))
    for number, message in reversed(list(enumerate(sent))):
        for part in message.parts:
            weight = tokens.count_part(part)
            name = part.kind if part.kind in ("call", "result") else message.role
            field = f"{name if name != 'tool' else 'user'}_tokens"
            setattr(raw, field, getattr(raw, field) + weight)
            if part.kind == "result":
                unused = not values_of(part.text) & later
                raw.results += 1
                raw.results_never_used += unused
                raw.tokens_never_used += weight * unused
        later |= answers.get(number, frozenset())
    for number, usage in recording.usage.items():
        if number < len(everything.calls) and usage.context_tokens:
            raw.reported_calls += 1
            raw.reported_tokens += usage.context_tokens
            raw.estimated_tokens += everything.calls[number].tokens
    return raw


@dataclass(slots=True)
class Summary:
    """The sums of a source, or of all sources."""

    raw: RawTotals = field(default_factory=RawTotals)
    strategies: dict[str, Totals] = field(default_factory=dict)
    priced_as: Counter[str] = field(default_factory=Counter)
    """The number of recordings by price table."""
    unpriced: Counter[str] = field(default_factory=Counter)
    """The number of recordings by model, of models without a known price."""

    @classmethod
    def of(cls, figures: Mapping[str, Any]) -> Self:
        """Return the sums in the figures of a recording."""
        strategies = {name: Totals.of(sums) for name, sums in figures["strategies"].items()}
        counts = (Counter(figures[name]) for name in ("priced_as", "unpriced"))
        return cls(RawTotals.of(figures["raw"]), strategies, *counts)

    def add(self, other: Summary) -> None:
        """Add the sums of another."""
        self.raw.add(other.raw)
        for name, sums in other.strategies.items():
            self.strategies.setdefault(name, Totals()).add(sums)
        self.priced_as += other.priced_as
        self.unpriced += other.unpriced

    def figures(self, everything: str, *apart: str) -> dict[str, Any]:
        """Return the figures that reports show, and the cheapest strategy other than those named."""
        base = self.strategies[everything]
        others = self.strategies.keys() - {everything, *apart}
        by_cost = sorted((self.strategies[name].cost, name) for name in others)
        return {
            "raw": self.raw.figures(),
            "strategies": {
                name: sums.figures(base, self.raw.recordings)
                for name, sums in self.strategies.items()
            },
            "priced_as": dict(self.priced_as),
            "unpriced": dict(self.unpriced),
            "best_other": by_cost[0][1] if by_cost else None,
        }
