"""What the hooks of coding agents did: each edit that they asked for, each text added, each failure."""

from __future__ import annotations

import json
import time
from typing import Any

from hippocampus.entries.text import storable
from hippocampus.storage import database
from hippocampus.storage.state_dir import StateDir

MAX_EVENTS = 5_000
"""The newest events that are kept."""


def add(state: StateDir, fields: dict[str, Any]) -> None:
    """Write an event, with its time.

    Raises:
        StoreError: the state cannot be written.

    """
    session = storable(str(fields.get("session") or ""))
    with database.opened(state) as db:
        row = (time.time(), session, json.dumps(fields))
        query = "INSERT INTO hook_event (at, session, fields) VALUES (?, ?, ?)"
        number = db.execute(query, row).lastrowid or 0
        db.execute("DELETE FROM hook_event WHERE number <= ?", (number - MAX_EVENTS,))


def events(state: StateDir) -> list[dict[str, Any]]:
    """Return the events, oldest first.

    Raises:
        StoreError: the state cannot be read.

    """
    with database.reading(state) as db:
        rows = db.execute("SELECT at, fields FROM hook_event ORDER BY number")
        return [{"at": at, **json.loads(fields)} for at, fields in rows]
