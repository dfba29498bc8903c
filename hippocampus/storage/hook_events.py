"""What the hooks of coding agents did: each edit that they asked for, each text added, each failure."""

from __future__ import annotations

import contextlib
import json
import time
from pathlib import Path
from typing import Any

from hippocampus.entries.text import storable
from hippocampus.storage import database
from hippocampus.storage.state_dir import StateDir, is_address, tenant_of_environment

MAX_EVENTS = 5_000
"""The newest events that are kept."""
ADD = "INSERT INTO hook_event (at, session, fields) VALUES (?, ?, ?)"
TRIM = """
    DELETE FROM hook_event
    WHERE number <= (SELECT number FROM hook_event ORDER BY number DESC LIMIT 1 OFFSET ?)
"""
EVENTS = "SELECT at, fields FROM hook_event ORDER BY number"


def add(state: str, fields: dict[str, Any]) -> None:
    """Write an event of a state directory, or of the address of a server, with its time.

    Raises:
        StoreError: the state cannot be written.
    """
    session = storable(str(fields.get("session") or ""))
    queries = (ADD, (time.time(), session, json.dumps(fields))), (TRIM, (MAX_EVENTS,))
    if is_address(state):
        _on_server(state, *queries)
        return
    with database.opened(StateDir(Path(state))) as db:
        for query in queries:
            db.execute(*query)


def events(state: str) -> list[dict[str, Any]]:
    """Return the events, oldest first.

    Raises:
        StoreError: the state cannot be read.
    """
    if is_address(state):
        [rows] = _on_server(state, (EVENTS, ()))
    else:
        with database.reading(StateDir(Path(state))) as db:
            rows = db.execute(EVENTS).fetchall()
    return [{"at": at, **json.loads(fields)} for at, fields in rows]


def _on_server(address: str, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
    from hippocampus.storage.state import state_of

    with contextlib.closing(state_of(address, tenant_of_environment())) as state:
        return state.rows(*queries)
