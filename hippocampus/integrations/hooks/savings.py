"""What the entries of a coding agent's hooks have saved, from the transcripts that the agent wrote.

A hook sees no request: each answer in a transcript is taken for one of all that comes before it.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from hippocampus.errors import HippocampusError
from hippocampus.formats import reader
from hippocampus.integrations.hooks import Event
from hippocampus.models import tokens
from hippocampus.prices import Prices
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.storage.savings import Savings, prices_of


def with_transcripts(rows: Iterable[Savings], events: Sequence[Event], model: str) -> list[Savings]:
    """Return rows with the costs of those sessions whose entries were made by a hook."""
    saved: defaultdict[str, dict[str, int]] = defaultdict(dict)
    paths = {}
    for event in events:
        if "entry" in event:
            paths[event["session"]] = Path(event["transcript"])
            mark = f"[{event['entry']} "
            saved[event["session"]][mark] = event.get("tokens", 0) - event.get("shown", 0)
    found = []
    for row in rows:
        if row["session"] in paths:
            with contextlib.suppress(HippocampusError):  # the agent has removed it
                recordings = read_file(paths[row["session"]])
                row = _priced(row, recordings, saved[row["session"]], model)  # noqa: PLW2901
        found.append(row)
    return found


def _priced(
    row: Savings, recordings: Sequence[Recording], saved: dict[str, int], model: str
) -> Savings:
    named = model or next((each.model for each in recordings if each.model), "")
    prices = prices_of(named)
    costs = [_costs(each, saved, prices) for each in recordings]
    raw, sent = sum(cost[1] for cost in costs), sum(cost[2] for cost in costs)
    return {
        **row,
        "model": prices.name,
        "calls": sum(cost[0] for cost in costs),
        "raw_cost": round(raw, 1),
        "sent_cost": round(sent, 1),
        "saved_dollars": round(prices.dollars(raw - sent), 4),
        "resume_dollars": round(prices.dollars(costs[-1][3]), 4) if costs else 0.0,
    }


def _costs(
    recording: Recording, saved: dict[str, int], prices: Prices
) -> tuple[int, float, float, float]:
    """Return the calls, their costs with the whole results and as sent, and that of a resume."""
    calls, raw_cost, sent_cost = 0, 0.0, 0.0
    raw = sent = raw_before = sent_before = 0
    for message in reader.read(recording.messages):
        if message.role == "assistant":
            calls += 1
            raw_cost += prices.call_cost(raw_before, raw)
            sent_cost += prices.call_cost(sent_before, sent)
            raw_before, sent_before = raw, sent
        weight = tokens.count_message(message)
        results = [part.text for part in message.parts if part.kind == "result"]
        sent += weight
        raw += weight + sum(
            more for mark, more in saved.items() if any(mark in text for text in results)
        )
    return calls, raw_cost, sent_cost, prices.call_cost(0, sent)
