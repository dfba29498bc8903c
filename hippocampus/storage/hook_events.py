"""The events of coding agents' hooks: edits that they asked for, texts that they added, and failures."""

from __future__ import annotations

import json
import time
from typing import Any

from hippocampus.entries.entry import storable
from hippocampus.storage.database import Database

MAX_EVENTS = 5_000
"""The newest events that are kept."""
ADD = "INSERT INTO hook_event (at, session, fields) VALUES (?, ?, ?)"
TRIM = """
    DELETE FROM hook_event
    WHERE number <= (SELECT number FROM hook_event ORDER BY number DESC LIMIT 1 OFFSET ?)
"""


def add(db: Database, fields: dict[str, Any]) -> None:
    """Write an event with its time."""
    session = storable(str(fields.get("session") or ""))
    db.together((ADD, (time.time(), session, json.dumps(fields))), (TRIM, (MAX_EVENTS,)))


def events(db: Database) -> list[dict[str, Any]]:
    """Return the events, oldest first."""
    rows = db.rows("SELECT at, fields FROM hook_event ORDER BY number")
    return [{"at": at, **json.loads(fields)} for at, fields in rows]
