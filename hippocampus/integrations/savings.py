"""What the sessions of a state have saved; those of a coding agent's hooks by the transcripts that it wrote.

A hook sees no request: an answer counts as a request with everything before it.
"""

from __future__ import annotations

import contextlib
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from hippocampus.entries.entry import storable
from hippocampus.errors import HippocampusError
from hippocampus.formats import reader
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.session.turn import recall_tokens
from hippocampus.session.turn_rules import Rules
from hippocampus.storage import hook_events
from hippocampus.storage.ledger import ModelCall
from hippocampus.storage.session_costs import Savings, costs_at, prices_of, savings
from hippocampus.storage.state import StateStore

ENTRY = re.compile(r"\[([a-z2-7]{8,12}) ")
"""The beginning of an entry, with its id."""


def read_savings(state: StateStore, model: str = "", session: str = "") -> list[Savings]:
    """Return the figures of one session or of all, the newest last, at prices of a model or else of their own.

    Raises:
        ModelError: no price list has the model.
        StoreError: the state cannot be read.
    """
    with state.reading() as db:
        rows, events = savings(db, model), hook_events.events(db)
    # Sessions that have entries of a hook have no calls of their own: their transcripts have them.
    saved: defaultdict[str, dict[str, int]] = defaultdict(dict)
    paths = {}
    for event in events:
        if event.get("transcript") and "entry" in event:
            paths[event["session"]] = Path(event["transcript"])
            saved[event["session"]][event["entry"]] = event["tokens"] - event["shown"]
    found = []
    for row in rows:
        if session and row["session"] != storable(session):
            continue
        if path := paths.get(row["session"]):
            with contextlib.suppress(HippocampusError):  # the agent has removed it
                row = _price_transcript(row, read_file(path), saved[row["session"]], model)  # noqa: PLW2901
        found.append(row)
    return found


def _price_transcript(
    row: Savings, recordings: Sequence[Recording], saved: Mapping[str, int], model: str
) -> Savings:
    """Return a row with the costs of whole results, and of entries in place of the `saved` ones.

    Recalls are not in the list with the whole results, and a call that only they made costs it nothing.
    A recording that goes on from a part of an earlier one has its calls too, which count once.
    """
    models = (recording.model for recording in recordings if recording.model)
    prices = prices_of(model or next(models, ""))
    is_recall = Rules("", Policy(), prices).is_recall
    calls, count, raw_sum, sent_sum = 0, 0, 0, 0
    raw_cost, sent_cost, recall_cost, sent = 0.0, 0.0, 0.0, 0
    seen = set[int]()
    for recording in recordings:
        left = dict(saved)  # a recall names its entry again
        recalled = set[str]()
        prefix = raw = sent = raw_before = sent_before = 0
        for message in reader.read(recording.messages):
            texts = ((part.kind, part.call_id, part.text) for part in message.parts)
            prefix = hash((prefix, message.role, *texts))
            is_new = prefix not in seen
            seen.add(prefix)
            if message.role == "assistant" and is_new:
                calls, raw_sum, sent_sum = calls + 1, raw_sum + raw, sent_sum + sent
                cost = prices.call_cost(sent_before, sent)
                sent_cost += cost
                if raw == raw_before and sent > sent_before:
                    recall_cost += cost
                else:
                    raw_cost += prices.call_cost(raw_before, raw)
            if message.role == "assistant":
                raw_before, sent_before = raw, sent
            weight = tokens.count_message(message)
            results = [part.text for part in message.parts if part.kind == "result"]
            named = {entry_id for text in results for entry_id in ENTRY.findall(text)}
            asking = [p for p in message.parts if p.kind == "call" and is_recall(p.tool)]
            recalled.update(part.call_id for part in asking)
            count += len(asking) if is_new else 0
            parts = enumerate(message.parts)
            recalls = {at for at, part in parts if part.call_id and part.call_id in recalled}
            sent += weight
            raw += weight + sum(left.pop(entry_id, 0) for entry_id in named)
            raw -= recall_tokens(message, weight, recalls) if recalls else 0
    # The next call sends the list of the last recording again.
    last = ModelCall(0, 0, raw_sum, sent, raw_cost, sent_cost, recall_cost=recall_cost)
    return {
        **row,
        **costs_at(last, prices),
        "edit_dollars": row["edit_dollars"],
        "model": prices.name,
        "calls": calls,
        "recalls": count,
        "raw_tokens": raw_sum,
        "sent_tokens": sent_sum,
    }
