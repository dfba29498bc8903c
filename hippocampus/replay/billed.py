"""The model of the provider's cache against recorded bills: what each call should have cost, and did.

Recordings with the provider's own counts only. Their host's requests are taken as recorded, with a
mark at the end; the first ten calls calibrate, those after them are compared.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hippocampus.errors import ModelError
from hippocampus.formats.reader import read
from hippocampus.prices import Prices, model_prices
from hippocampus.prices.prompt_cache import CALL_SECONDS, Prompt, PromptCache
from hippocampus.replay.measure import prepare
from hippocampus.replay.recording import Recording
from hippocampus.session.billing import CALIBRATION_CALLS, Bill, CountedCall

MIN_CALLS = CALIBRATION_CALLS + 10
"""A recording with fewer billed calls is not compared."""
NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Compared:
    """One recording's bill after calibration, in base input tokens of its model."""

    name: str
    model: str
    prices: Prices
    calls: int
    predicted: float
    billed: float
    missed_calls: int
    missed: float
    """The part of the bill above the prediction in calls that missed the cache against it."""

    @property
    def error_percent(self) -> float:
        """Return by how much the prediction passes the bill, in percent; negative below it."""
        return 100 * (self.predicted / self.billed - 1)

    @property
    def error_without_misses_percent(self) -> float:
        """Return the same, had those calls cost as predicted."""
        return 100 * (self.predicted / (self.billed - self.missed) - 1)


def compared(recording: Recording, otherwise: Prices) -> Compared | None:
    """Return a recording's prediction next to its bill; None where too few calls were billed.

    Prices are those of the recorded model, or `otherwise` where that is unknown.
    """
    if len(recording.usage) < MIN_CALLS or recording.cut:
        return None
    prices = otherwise
    with contextlib.suppress(ModelError):
        prices = model_prices(recording.model) if recording.model else otherwise
    bill = Bill(prices)
    cache, prompt, times = PromptCache(prices, own=0), Prompt(), recording.times
    for number, end in enumerate(prepare(recording).call_ends):
        messages = read(recording.messages[:end])
        prompt = prompt.extended(messages, len(prompt.starts))
        read_tokens = cache.send(prompt, number * CALL_SECONDS)
        # Where no time is recorded, one call follows the other at once.
        idle = times[number] - times[number - 1] if {number, number - 1} <= times.keys() else 0.0
        if number in recording.usage:
            bill.add(CountedCall(prompt.total, read_tokens, idle), recording.usage[number])
    if not bill.billed:
        return None
    return Compared(
        recording.name,
        recording.model or "",
        prices,
        bill.calls - CALIBRATION_CALLS,
        bill.predicted,
        bill.billed,
        bill.missed_calls,
        bill.missed,
    )


def figures(bill: Compared) -> dict[str, Any]:
    """Return a comparison as a JSON object, with its errors in percent."""
    errors = {
        "error_percent": round(bill.error_percent, 1),
        "error_without_misses_percent": round(bill.error_without_misses_percent, 1),
    }
    return {**asdict(bill), **errors}


def table(bills: Sequence[Compared]) -> str:
    """Return comparisons as a Markdown table."""
    rows = (
        f"| {each.name[-NAME_CHARACTERS:]} | {each.model} | {each.calls:,} | {each.predicted:,.0f} "
        f"| {each.billed:,.0f} | {each.error_percent:+.1f} | {each.missed_calls} "
        f"| {each.error_without_misses_percent:+.1f} |"
        for each in bills
    )
    head = "| recording | model | calls | predicted | billed | error % | misses | error % without them |"
    return "\n".join((head, "|---|---|--:|--:|--:|--:|--:|--:|", *rows))
