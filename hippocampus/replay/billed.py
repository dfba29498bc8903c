"""Compares the predicted cost of a recording's calls with the provider's recorded bill.

Only for recordings with the provider's own counts. The host's requests are taken as recorded, with a
mark at the end; the first ten calls calibrate the prediction, and the later ones are compared.
"""

from __future__ import annotations

from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import CALL_SECONDS, Prompt, PromptCache
from hippocampus.replay.measure import Script
from hippocampus.session.billing import CALIBRATION_CALLS, Bill, CountedCall

MIN_CALLS = CALIBRATION_CALLS + 10
"""A recording with fewer billed calls is not compared."""


def bill_of(script: Script, prices: Prices) -> Bill:
    """Return a recording's bill with its prediction; it is empty if too few calls were billed."""
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
