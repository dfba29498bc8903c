"""What the entries of a coding agent's hooks have saved, from the transcripts that the agent wrote.

A hook sees no request: an answer in a transcript counts as a request with everything before it.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hippocampus.errors import HippocampusError
from hippocampus.formats import reader
from hippocampus.integrations.hooks import Event
from hippocampus.models import tokens
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.storage.savings import Savings, prices_of

ENTRY = re.compile(r"\[([a-z2-7]{8,12}) ")
"""The beginning of an entry, with its id."""


def with_transcripts(rows: Iterable[Savings], events: Sequence[Event], model: str) -> list[Savings]:
    """Return rows, with the costs of sessions that have entries of a hook, from their transcripts."""
    saved: defaultdict[str, dict[str, int]] = defaultdict(dict)
    paths = {}
    for event in events:
        if event.get("transcript") and "entry" in event:
            paths[event["session"]] = Path(event["transcript"])
            saved[event["session"]][event["entry"]] = event["tokens"] - event["shown"]
    found = []
    for row in rows:
        if path := paths.get(row["session"]):
            with contextlib.suppress(HippocampusError):  # the agent has removed it
                row = _priced(row, read_file(path), saved[row["session"]], model)  # noqa: PLW2901
        found.append(row)
    return found


def _priced(
    row: Savings, recordings: Sequence[Recording], saved: Mapping[str, int], model: str
) -> Savings:
    """Return a row with the costs of whole results, and of entries in place of the `saved` ones."""
    models = (recording.model for recording in recordings if recording.model)
    prices = prices_of(model or next(models, ""))
    calls, raw_cost, sent_cost, sent = 0, 0.0, 0.0, 0
    for recording in recordings:
        left = dict(saved)  # a recall names its entry again
        raw = sent = raw_before = sent_before = 0
        for message in reader.read(recording.messages):
            if message.role == "assistant":
                calls += 1
                raw_cost += prices.call_cost(raw_before, raw)
                sent_cost += prices.call_cost(sent_before, sent)
                raw_before, sent_before = raw, sent
            weight = tokens.count_message(message)
            results = [part.text for part in message.parts if part.kind == "result"]
            named = {entry_id for text in results for entry_id in ENTRY.findall(text)}
            sent += weight
            raw += weight + sum(left.pop(entry_id, 0) for entry_id in named)
    return {
        **row,
        "model": prices.name,
        "calls": calls,
        "raw_cost": round(raw_cost, 1),
        "sent_cost": round(sent_cost, 1),
        "saved_dollars": round(prices.dollars(raw_cost - sent_cost), 4),
        # The next call, once the provider's cache has expired.
        "resume_dollars": round(prices.dollars(prices.call_cost(0, sent)), 4),
    }
