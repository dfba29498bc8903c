"""What the sessions of a state have saved. Nothing is written."""

from __future__ import annotations

import contextlib
import time
from typing import TypedDict

from hippocampus.entries.entry import Stage
from hippocampus.errors import ModelError
from hippocampus.prices import Prices, model_prices
from hippocampus.storage import ledger
from hippocampus.storage.database import Database


class Savings(TypedDict):
    """The figures of one session."""

    session: str
    model: str
    """Whose prices its dollars are at; empty where none is known, and then they are 0."""
    day: str
    """When it was last written to, as `2026-11-24`."""
    calls: int
    """The turns of the last list and its call."""
    shortened: int
    """Payloads and turns that were not shown in full in its last view."""
    raw_cost: float
    """What all calls would have cost with the whole list, in base input tokens."""
    sent_cost: float
    """What they cost with the views; both are 0 where a coding agent's hook made the entries: a hook
    sees no call."""
    saved_dollars: float
    """The difference."""
    edit_dollars: float
    """What edits of the past have written again; `sent_cost` has it."""
    recall_dollars: float
    """What recalls have cost, each a call more; `sent_cost` has it."""
    resume_dollars: float
    """What the next call costs for its input once the provider's cache has expired."""


def savings(db: Database, model: str = "") -> list[Savings]:
    """Return the figures of each session, the newest last, at prices of a model or else of its own.

    Raises:
        StoreError: the state cannot be read.
        ModelError: no price list has the model.
    """
    given = model_prices(model) if model else None
    found = []
    for stored in sorted(ledger.stored_sessions(db), key=lambda each: each.active_at):
        call, prices = stored.call, given or prices_of(stored.model)
        resumed = prices.call_cost(0, call.sent_tokens)
        found.append(
            Savings(
                session=stored.name,
                model=prices.name,
                day=time.strftime("%Y-%m-%d", time.localtime(min(stored.active_at, time.time()))),
                calls=call.turn + (call.messages > 0),
                shortened=sum(record.stage is not Stage.FULL for record in stored.records),
                raw_cost=round(call.raw_cost, 1),
                sent_cost=round(call.sent_cost, 1),
                saved_dollars=round(prices.dollars(call.raw_cost - call.sent_cost), 4),
                edit_dollars=round(prices.dollars(call.edit_cost), 4),
                recall_dollars=round(prices.dollars(call.recall_cost), 4),
                resume_dollars=round(prices.dollars(resumed), 4),
            )
        )
    return found


def prices_of(model: str) -> Prices:
    """Return the prices of a model; where no list has it, those without a name and dollars."""
    with contextlib.suppress(ModelError):
        return model_prices(model)
    return Prices("", 0.0, 1.0)
