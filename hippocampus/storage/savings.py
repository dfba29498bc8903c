"""What the sessions of a state have saved. Nothing is written."""

from __future__ import annotations

import time
from typing import TypedDict

from hippocampus.entries.entry import Stage
from hippocampus.prices import Prices
from hippocampus.storage import ledger
from hippocampus.storage.database import Database


class Savings(TypedDict):
    """The figures of one session."""

    session: str
    day: str
    """When it was last written to, as `2026-11-24`."""
    calls: int
    shortened: int
    """Payloads and turns that were not shown in full in its last view."""
    raw_cost: float
    """What all calls would have cost with the whole list, in base input tokens."""
    sent_cost: float
    """What they cost with the views; both are 0 where a coding agent's hook made the entries."""
    saved_dollars: float
    """The difference at the prices given."""
    edit_dollars: float
    """What edits of the past have written again; `sent_cost` has it."""
    resume_dollars: float
    """What the next call costs for its input once the provider's cache has expired."""


def savings(db: Database, prices: Prices) -> list[Savings]:
    """Return the figures of each session, the newest last.

    Raises:
        StoreError: the state cannot be read.
    """
    found = []
    for stored in sorted(ledger.stored_sessions(db), key=lambda each: each.active_at):
        call = stored.call
        resumed = prices.call_cost(0, call.sent_tokens)
        found.append(
            Savings(
                session=stored.name,
                day=time.strftime("%Y-%m-%d", time.localtime(min(stored.active_at, time.time()))),
                calls=call.turn,
                shortened=sum(record.stage is not Stage.FULL for record in stored.records),
                raw_cost=round(call.raw_cost, 1),
                sent_cost=round(call.sent_cost, 1),
                saved_dollars=round(prices.dollars(call.raw_cost - call.sent_cost), 4),
                edit_dollars=round(prices.dollars(call.edit_cost), 4),
                resume_dollars=round(prices.dollars(resumed), 4),
            )
        )
    return found
