"""Adds up the figures of many recordings: ratios of sums, never means of ratios. Pure.

Figures have the names of the JSON object: docs/reference/replay-json.md has their meanings.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hippocampus.models import tokens
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import CALL_SECONDS, Prompt, PromptCache
from hippocampus.replay.measure import Measured, Script
from hippocampus.replay.strategies import EVERYTHING, FLOOR, OURS
from hippocampus.replay.uses import values_of
from hippocampus.session.billing import CALIBRATION_CALLS, Bill, CountedCall

MIN_CALLS = CALIBRATION_CALLS + 10
"""A recording with fewer billed calls is not compared."""
SAME_VALUES, SAME_LINES = 0.2, 0.5
"""In percentage points, the tolerance of `shows_as_much`."""
COMPUTED = ("_percent", "_per_call", "_ratio")
"""The endings of figures that are computed from sums; all others add up."""
Figures = dict[str, Any]


def add(sums: Figures, figures: Mapping[str, Any]) -> None:
    """Add the figures that add up; a peak is the larger of the two."""
    for name, theirs in figures.items():
        if not name.endswith(COMPUTED):
            mine = sums.get(name, 0)
            sums[name] = max(mine, theirs) if name == "peak_tokens" else mine + theirs


def percent(part: float, whole: float) -> float:
    """Return a share in percent with two decimals; 100 where the whole is zero."""
    return round(100 * part / whole, 2) if whole else 100.0


def totals(script: Script, measured: Measured, prices: Prices) -> Figures:
    """Return the sums of a recording under a strategy."""
    calls, asked = measured.calls, script.asked_tokens
    sizes = [call.tokens for call in calls]
    steps = [calls[step] for step in script.decisive]
    peak, window = max(sizes, default=0), prices.window_tokens
    # A host starts an empty context whenever a view passes the window.
    compactions = dropped = 0
    for size in sizes if window else ():
        if size - dropped > window:
            compactions += 1
            dropped = size
    return {
        "calls": len(calls),
        "tokens": sum(call.charged_tokens for call in calls),
        "view_tokens": sum(sizes),
        "cost": measured.cost(prices),
        "cost_if_read": sum(call.cost_if_read(prices) for call in calls),
        "dollars": prices.dollars(measured.cost(prices)),
        "uses": sum(call.uses for call in calls),
        "hidden": sum(len(call.hidden) for call in calls),
        "line_uses": sum(call.line_uses for call in calls),
        "hidden_lines": sum(len(call.hidden_lines) for call in calls),
        "own_uses": sum(call.own_uses for call in calls),
        "own_hidden": sum(call.own_hidden for call in calls),
        "asked_tokens": asked,
        "read_tokens": asked - sum(sum(call.unread) for call in calls),
        "recalls": sum(call.slice_tokens > 0 for call in calls),
        "recoverable": measured.recoverable,
        "peak_tokens": peak,
        "overflows": int(bool(window) and peak > window),
        "compactions": compactions,
        "invalid_views": measured.invalid_views,
        "steps": len(steps),
        "steps_hidden": sum(step.slice_tokens > 0 for step in steps),
        "step_lines": sum(step.line_uses for step in steps),
        "step_lines_hidden": sum(len(step.hidden_lines) for step in steps),
        "cost_percents": 0.0,  # summed once a recording's cost is known in percent
    }


def shares(sums: Figures) -> dict[str, float]:
    """Return the percentages that views showed: of used values, used lines, own lines and reads.

    Reads are the results that the agent asked to read, by tokens.
    """
    return {
        "visible_percent": percent(sums["uses"] - sums["hidden"], sums["uses"]),
        "lines_percent": percent(sums["line_uses"] - sums["hidden_lines"], sums["line_uses"]),
        "own_percent": percent(sums["own_uses"] - sums["own_hidden"], sums["own_uses"]),
        "read_percent": percent(sums["read_tokens"], sums["asked_tokens"]),
    }


def shows_as_much(sums: Figures, other: Figures) -> bool:
    """Return whether no share of visible values, lines and reads is lower than that of `other`.

    Differences up to `SAME_VALUES` and `SAME_LINES` are ignored.
    """
    ours, theirs = shares(sums), shares(other)
    same = {"visible_percent": SAME_VALUES, "lines_percent": SAME_LINES, "read_percent": 0.0}
    return all(ours[name] >= theirs[name] - points for name, points in same.items())


def figures_of(sums: Figures, everything: Figures, recordings: int = 1) -> Figures:
    """Return a strategy's sums, and the shares that reports show, relative to sending everything."""
    cost = percent(sums["cost"], everything["cost"])
    percents = sums["cost_percents"] or cost  # a recording by itself has not summed any
    return {
        **sums,
        "dollars": round(sums["dollars"], 6),
        "cost_percents": percents,
        "mean_cost_percent": round(percents / (recordings or 1), 2),
        "tokens_per_call": round(sums["view_tokens"] / sums["calls"]) if sums["calls"] else 0,
        "tokens_percent": percent(sums["tokens"], everything["tokens"]),
        "cost_percent": cost,
        "cost_if_read_percent": percent(sums["cost_if_read"], everything["cost"]),
        **shares(sums),
        "recoverable_percent": percent(sums["recoverable"], sums["hidden"]),
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


def raw_of(script: Script, everything: Measured, prices: Prices) -> Figures:
    """Return the sums of a recording that no strategy changes (protocol, sections 1.1 and 12.1).

    Only messages that a call sent count: a result after the last answer does not. The provider's own
    count of a call is compared with ours, which lacks the host's system prompt and tool list.
    """
    recording, bill = script.recording, bill_of(script, prices)
    sent = script.messages[: script.answers[-1]] if script.answers else []
    parts = ("system", "user", "assistant", "call", "result")
    raw: Figures = {
        "recordings": 1,
        "messages": len(script.messages),
        **dict.fromkeys((f"{part}_tokens" for part in parts), 0),
        **dict.fromkeys(("results", "results_never_used", "tokens_never_used"), 0),
        **dict.fromkeys(("reported_calls", "reported_tokens", "estimated_tokens"), 0),
        "broken_lines": len(recording.broken),
        "unanswered": recording.unanswered,
        "orphans": recording.orphans,
        "billed_calls": max(0, bill.calls - CALIBRATION_CALLS),
        "predicted_cost": round(bill.predicted, 1),
        "billed_cost": round(bill.billed, 1),
        "missed_cost": round(bill.missed, 1),
        "missed_calls": bill.missed_calls,
    }
    later = set(script.uses[-1]) if script.uses else set()
    answers = dict(zip(script.answers, script.uses, strict=True))
    # From the end: `later` has what the answers after a result use.
    for number, message in reversed(list(enumerate(sent))):
        for part in message.parts:
            weight = tokens.count_part(part)
            name = part.kind if part.kind in ("call", "result") else message.role
            raw[f"{name if name != 'tool' else 'user'}_tokens"] += weight
            if part.kind == "result":
                unused = not values_of(part.text) & later
                raw["results"] += 1
                raw["results_never_used"] += unused
                raw["tokens_never_used"] += weight * unused
        later |= answers.get(number, frozenset())
    for number, usage in recording.usage.items():
        if number < len(everything.calls) and usage.context_tokens:
            raw["reported_calls"] += 1
            raw["reported_tokens"] += usage.context_tokens
            raw["estimated_tokens"] += everything.calls[number].tokens
    return raw


def raw_figures(raw: Figures) -> Figures:
    """Return the sums of `raw_of` and the shares that reports show."""
    reported, estimated = raw["reported_tokens"], raw["estimated_tokens"]
    return {
        **raw,
        "never_used_percent": percent(raw["results_never_used"], raw["results"] or 1),
        "never_used_tokens_percent": percent(raw["tokens_never_used"], raw["result_tokens"] or 1),
        "reported_ratio": round(reported / estimated, 3) if estimated else None,
    }


@dataclass(slots=True)
class Summary:
    """The sums of a source, or of all sources."""

    raw: Figures = field(default_factory=dict)
    strategies: dict[str, Figures] = field(default_factory=dict)
    priced_as: Counter[str] = field(default_factory=Counter)
    """The number of recordings by price table."""
    unpriced: Counter[str] = field(default_factory=Counter)
    """The number of recordings by model, of models without a known price."""

    def add(self, figures: Mapping[str, Any]) -> None:
        """Add the figures of a recording."""
        add(self.raw, figures["raw"])
        for name, sums in figures["strategies"].items():
            add(self.strategies.setdefault(name, {}), sums)
        self.priced_as.update(figures["priced_as"])
        self.unpriced.update(figures["unpriced"])

    def figures(self) -> dict[str, Any]:
        """Return the figures that reports show, and the cheapest strategy but ours and the bounds."""
        base = self.strategies[EVERYTHING]
        others = self.strategies.keys() - {EVERYTHING, OURS, FLOOR}
        by_cost = sorted((self.strategies[name]["cost"], name) for name in others)
        return {
            "raw": raw_figures(self.raw),
            "strategies": {
                name: figures_of(sums, base, self.raw["recordings"])
                for name, sums in self.strategies.items()
            },
            "priced_as": dict(self.priced_as),
            "unpriced": dict(self.unpriced),
            "best_other": by_cost[0][1] if by_cost else None,
        }
