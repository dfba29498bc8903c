"""The savings of the sessions of a state. Nothing is written."""

from __future__ import annotations

import contextlib
import functools
import time
from typing import TypedDict

from hippocampus.errors import ModelError
from hippocampus.prices import Prices, model_prices
from hippocampus.storage import ledger
from hippocampus.storage.database import Database

LAST_CALLS = f"""
    WITH paid AS (
        SELECT session, raw_tokens, sent_tokens, first > 0 OR sent != '[]' AS is_request,
            edit_cost > coalesce(lag(edit_cost) OVER earlier, 0) AS is_edit,
            recall_cost > coalesce(lag(recall_cost) OVER earlier, 0) AS is_recall
        FROM call WINDOW earlier AS (PARTITION BY session ORDER BY number)
    ), counts AS (
        SELECT session, count(*) FILTER (WHERE is_request) AS requests,
            sum(raw_tokens) FILTER (WHERE is_request) AS raw_sum,
            sum(sent_tokens) FILTER (WHERE is_request) AS sent_sum,
            count(*) FILTER (WHERE is_edit) AS edits, count(*) FILTER (WHERE is_recall) AS recalls
        FROM paid GROUP BY session
    )
    SELECT name, model, active_at, failures, raw_calls,
        (SELECT count(*) FROM entry WHERE entry.session = session.number AND stage != 'full'),
        coalesce(requests, 0), coalesce(edits, 0), coalesce(recalls, 0),
        coalesce(raw_sum, 0), coalesce(sent_sum, 0), {ledger.CALL}
    FROM session LEFT JOIN counts ON counts.session = session.number LEFT JOIN call ON call.session = session.number AND call.number = (
        SELECT max(last.number) FROM call AS last WHERE last.session = session.number AND turn IS NOT NULL
    )
    ORDER BY active_at, session.number
"""
DOLLAR_DIGITS = 4


class SessionCosts(TypedDict):
    """The costs of a session; all are 0 where a coding agent's hook made the entries: a hook sees no call."""

    raw_cost: float
    """The cost of the calls without the memory, in base input tokens: no recall is in their list, and a
    call with nothing new but answers to recalls is not made."""
    sent_cost: float
    """Their cost with the views."""
    saved_dollars: float
    """The difference at the prices of the model."""
    edit_dollars: float
    """The cost of writing again after edits of the past, a part of `sent_cost`."""
    recall_dollars: float
    """The cost of calls with nothing new but answers to recalls, and of answers in others, a part of it too."""
    resume_dollars: float
    """The cost of the next call's input once the provider's cache has expired."""


class Savings(SessionCosts):
    """The figures of one session."""

    session: str
    model: str
    """The model with the prices of its dollars; empty for an unknown one, and then they are 0."""
    day: str
    """The last day on which it was written to, as `2026-11-24`; its figures are those of all its days."""
    calls: int
    """The requests with a view; one that was sent again within the cache's lifetime counts once."""
    edits: int
    """The calls that paid for an edit of the past."""
    recalls: int
    """The calls that paid for answers to recalls; of a coding agent the recalls in its transcript."""
    failures: int
    """The calls that failed inside and sent the raw messages; a call counts once a later change is stored."""
    raw: int
    """All calls that sent the raw messages, for any reason."""
    raw_tokens: int
    """The tokens of the lists of the calls with a view."""
    sent_tokens: int
    """Those of their views."""
    shortened: int
    """Payloads and turns that were not shown in full in its last view."""


def savings(db: Database, model: str = "") -> list[Savings]:
    """Return the figures of all sessions, the newest last, at prices of a model or else of their own.

    Raises:
        ModelError: no price list has the model.
    """
    given = model_prices(model) if model else None
    found: list[Savings] = []
    for row in db.rows(LAST_CALLS):
        name, own, active_at, failures, raw_calls, shortened, *rest = row
        calls, edits, recalls, raw, sent, *columns = rest
        call = ledger.ModelCall(*columns) if columns[0] is not None else ledger.NO_CALL
        prices = given or prices_of(own)
        found.append(
            {
                "session": name,
                "model": prices.name,
                "day": time.strftime("%Y-%m-%d", time.localtime(active_at)),
                "calls": calls,
                "edits": edits,
                "recalls": recalls,
                "failures": failures,
                "raw": raw_calls,
                "raw_tokens": int(raw),
                "sent_tokens": int(sent),
                "shortened": shortened,
                **costs_at(call, prices),
            }
        )
    return found


def costs_at(call: ledger.ModelCall, prices: Prices) -> SessionCosts:
    """Return the costs of a session up to a call."""

    def dollars(cost: float) -> float:
        return round(prices.dollars(cost), DOLLAR_DIGITS)

    return {
        "raw_cost": round(call.raw_cost, 1),
        "sent_cost": round(call.sent_cost, 1),
        "saved_dollars": dollars(call.raw_cost - call.sent_cost),
        "edit_dollars": dollars(call.edit_cost),
        "recall_dollars": dollars(call.recall_cost),
        "resume_dollars": dollars(prices.call_cost(0, call.sent_tokens)),
    }


@functools.lru_cache(maxsize=256)
def prices_of(model: str) -> Prices:
    """Return the prices of a model; where no list has it, those without a name and dollars."""
    with contextlib.suppress(ModelError):
        return model_prices(model)
    return Prices("", 0.0, 1.0)
