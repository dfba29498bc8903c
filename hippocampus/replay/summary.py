"""Figures of many recordings added up: ratios of sums, never means of ratios.

Pure arithmetic over what was measured; no files, no printing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from hippocampus import tokens
from hippocampus.formats.conversation import Message, Part
from hippocampus.prices import Prices
from hippocampus.replay.measure import Measured, Script
from hippocampus.replay.values import values_of


@dataclass(slots=True)
class Totals:
    """One strategy's sums over recordings."""

    calls: int = 0
    tokens: int = 0
    """Of every view sent, recalls included."""
    view_tokens: int = 0
    """Of every view sent, without recalls."""
    cost: float = 0.0
    """In base input tokens."""
    uses: int = 0
    hidden: int = 0
    recalls: int = 0
    """Calls with hidden uses; each is charged one."""
    recoverable: int = 0
    recalled_full: int = 0
    """Recalls of hidden uses that had the whole content (protocol, section 12.2)."""
    recalled_partial: int = 0
    """Those that had its summary only."""
    recalled_failed: int = 0
    """Those that had nothing."""
    edits: int = 0
    """Calls whose view changed what the last request held."""
    edit_cost: float = 0.0
    """What was written again for it, in base input tokens."""
    peak_tokens: int = 0
    overflows: int = 0
    """Recordings whose peak passes the window."""
    compactions: int = 0
    """How often a host would have had to start its context anew to stay in the window."""
    result_tokens: int = 0
    shown_tokens: int = 0
    invalid_views: int = 0

    def add(self, other: Totals) -> None:
        """Add another's sums; the peak is the larger one."""
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            together = max(mine, theirs) if each.name == "peak_tokens" else mine + theirs
            setattr(self, each.name, together)

    def _recalled_percent(self) -> dict[str, float]:
        """Return how recalls went in percent of all; zero where there were none."""
        went = (self.recalled_full, self.recalled_partial, self.recalled_failed)
        total = sum(went)
        names = ("recalled_full_percent", "recalled_partial_percent", "recalled_failed_percent")
        shares = (percent(count, total) if total else 0.0 for count in went)
        return dict(zip(names, shares, strict=True))

    @property
    def visible_percent(self) -> float:
        """Return the share of used values that stood in the view."""
        return percent(self.uses - self.hidden, self.uses)

    def figures(self, everything: Totals, prices: Prices) -> dict[str, Any]:
        """Return what reports show, beside the sums, relative to sending everything."""
        return {
            **asdict(self),
            "tokens_per_call": round(self.view_tokens / self.calls) if self.calls else 0,
            "tokens_percent": percent(self.tokens, everything.tokens),
            "cost_percent": percent(self.cost, everything.cost),
            "dollars": round(prices.dollars(self.cost), 4),
            "edit_cost_percent": percent(self.edit_cost, self.cost) if self.cost else 0.0,
            "visible_percent": self.visible_percent,
            "recoverable_percent": percent(self.recoverable, self.hidden),
            **self._recalled_percent(),
            "result_tokens_shown_percent": percent(self.shown_tokens, self.result_tokens),
        }


def _recalled(measured: Measured) -> dict[str, int]:
    """Return how the recalls of hidden uses went, where there is a recall tool."""
    full, partial = measured.recalled_full, measured.recalled_partial
    hidden = sum(len(call.hidden) for call in measured.calls) if full or partial else 0
    return {
        "recalled_full": full,
        "recalled_partial": partial,
        "recalled_failed": max(0, hidden - full - partial),
    }


def percent(part: float, whole: float) -> float:
    """Return a share in percent with two decimals; of nothing, all of it."""
    return round(100 * part / whole, 2) if whole else 100.0


def totals(measured: Measured, prices: Prices) -> Totals:
    """Return one recording's sums under one strategy."""
    sizes = [call.tokens for call in measured.calls]
    peak = max(sizes, default=0)
    window = prices.window_tokens
    return Totals(
        calls=len(sizes),
        tokens=sum(call.charged_tokens for call in measured.calls),
        view_tokens=sum(sizes),
        cost=measured.cost(prices),
        uses=sum(call.uses for call in measured.calls),
        hidden=sum(len(call.hidden) for call in measured.calls),
        recalls=sum(bool(call.hidden) for call in measured.calls),
        recoverable=measured.recoverable,
        **_recalled(measured),
        edits=sum(call.rewritten_tokens > 0 for call in measured.calls),
        edit_cost=sum(call.edit_cost(prices) for call in measured.calls),
        peak_tokens=peak,
        overflows=int(bool(window) and peak > window),
        compactions=_compactions(sizes, window),
        result_tokens=measured.result_tokens,
        shown_tokens=measured.shown_tokens,
        invalid_views=measured.invalid_views,
    )


def _compactions(sizes: Sequence[int], window: int) -> int:
    """Count how often the context must start anew, each time from nothing, to stay in a window."""
    count = dropped = 0
    for size in sizes if window else ():
        if size - dropped > window:
            count += 1
            dropped = size
    return count


@dataclass(slots=True)
class Raw:
    """What recordings hold, whatever the strategy (protocol, sections 1.1 and 12.1).

    Only what some call sent: a result behind the last answer counts nowhere.
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
    """Tool results of which no value is written by a later answer."""
    tokens_never_used: int = 0
    reported_calls: int = 0
    """Calls for which the provider's own count is recorded."""
    reported_tokens: int = 0
    estimated_tokens: int = 0
    """Ours for the same calls, without the system prompt and tool list that a host adds."""
    broken_lines: int = 0
    unanswered: int = 0
    orphans: int = 0

    def add(self, other: Raw) -> None:
        """Add another's sums."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def figures(self) -> dict[str, Any]:
        """Return the sums and the shares that reports show."""
        return {
            **asdict(self),
            "never_used_percent": percent(self.results_never_used, self.results)
            if self.results
            else 0.0,
            "reported_ratio": round(self.reported_tokens / self.estimated_tokens, 3)
            if self.estimated_tokens
            else None,
        }


def raw_of(script: Script, everything: Measured) -> Raw:
    """Return what one recording holds."""
    recording = script.recording
    sent = script.messages[: script.answers[-1]] if script.answers else []
    raw = Raw(
        recordings=1,
        messages=len(script.messages),
        broken_lines=len(recording.broken),
        unanswered=recording.unanswered,
        orphans=recording.orphans,
    )
    for message in sent:
        for part in message.parts:
            _weigh(raw, message, part)
    _count_unused(raw, script, sent)
    for number, usage in recording.usage.items():
        if number < len(everything.calls) and usage.context_tokens:
            raw.reported_calls += 1
            raw.reported_tokens += usage.context_tokens
            raw.estimated_tokens += everything.calls[number].tokens
    return raw


def _weigh(raw: Raw, message: Message, part: Part) -> None:
    weight = tokens.count_part(part)
    match part.kind:
        case "result":
            raw.result_tokens += weight
        case "call":
            raw.call_tokens += weight
        case _ if message.role == "assistant":
            raw.assistant_tokens += weight
        case _ if message.role == "system":
            raw.system_tokens += weight
        case _:
            raw.user_tokens += weight


def _count_unused(raw: Raw, script: Script, sent: Sequence[Message]) -> None:
    later: set[str] = set()
    answers = dict(zip(script.answers, script.uses, strict=True))
    for number in range(len(script.messages) - 1, -1, -1):
        for part in script.messages[number].parts if number < len(sent) else ():
            if part.kind == "result":
                unused = not values_of(part.text) & later
                raw.results += 1
                raw.results_never_used += unused
                raw.tokens_never_used += tokens.count_part(part) * unused
        later |= answers.get(number, frozenset())


@dataclass(slots=True)
class Summary:
    """The sums of a source, or of everything."""

    raw: Raw = field(default_factory=Raw)
    strategies: dict[str, Totals] = field(default_factory=dict)

    def add(self, raw: Raw, strategies: Iterable[tuple[str, Totals]]) -> None:
        """Add one recording."""
        self.raw.add(raw)
        for name, sums in strategies:
            self.strategies.setdefault(name, Totals()).add(sums)

    def best_other(self, ours: str, everything: str, floor: str) -> str | None:
        """Return the cheapest of the other strategies that cost less than sending everything.

        Of those that show at least as many values as ours where there is one, else of all.
        """
        raw_cost = self.strategies[everything].cost
        others = {
            name: sums
            for name, sums in self.strategies.items()
            if name not in (ours, everything, floor) and sums.cost < raw_cost
        }
        showing = [
            name
            for name in others
            if others[name].visible_percent >= self.strategies[ours].visible_percent
        ]
        return min(showing or others, key=lambda name: others[name].cost, default=None)

    def figures(self, everything: str, prices: Prices) -> dict[str, Any]:
        """Return what reports show."""
        base = self.strategies[everything]
        return {
            "raw": self.raw.figures(),
            "strategies": {
                name: sums.figures(base, prices) for name, sums in self.strategies.items()
            },
        }
