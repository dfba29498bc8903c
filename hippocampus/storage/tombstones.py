"""When a payload was removed and by which rule, so that a recall can name both."""

from __future__ import annotations

import sqlite3

from hippocampus.storage import database
from hippocampus.storage.state_dir import StateDir


def tombstone(state: StateDir, key: str) -> tuple[str, str] | None:
    """Return when a payload was removed, as an ISO date and time in UTC, and by which rule; or None.

    Raises:
        StoreError: the tombstones cannot be read.

    """
    with database.reading(state) as db:
        query = "SELECT removed, rule FROM tombstone WHERE content = ?"
        row: tuple[str, str] | None = db.execute(query, (key,)).fetchone()
    return row


def bury(db: sqlite3.Connection, key: str, when: str, rule: str) -> None:
    """Write the tombstone of a payload."""
    db.execute("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", (key, when, rule))


def unbury(db: sqlite3.Connection, key: str) -> None:
    """Remove the tombstone of a payload that is stored again."""
    db.execute("DELETE FROM tombstone WHERE content = ?", (key,))
