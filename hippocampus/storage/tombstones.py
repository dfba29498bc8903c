"""When a payload was removed and by which rule, so that a recall can name both."""

from __future__ import annotations

import contextlib
import sqlite3

from hippocampus.storage import migrations
from hippocampus.storage.migrations import Migration, Schema
from hippocampus.storage.state_dir import StateDir

SCHEMA = Schema(
    "tombstones",
    (
        Migration(
            "tombstones",
            "CREATE TABLE tombstone"
            " (content TEXT PRIMARY KEY, removed TEXT NOT NULL, rule TEXT NOT NULL) STRICT",
        ),
    ),
)


def tombstone(state: StateDir, key: str) -> tuple[str, str] | None:
    """Return when a payload was removed, as an ISO date and time in UTC, and by which rule; or None.

    Raises:
        StoreError: the tombstones cannot be read.

    """
    if not state.tombstones.exists():
        return None
    with opened(state) as db:
        found = db.execute("SELECT removed, rule FROM tombstone WHERE content = ?", (key,))
        row: tuple[str, str] | None = found.fetchone()
        return row


def bury(db: sqlite3.Connection, key: str, when: str, rule: str) -> None:
    """Write the tombstone of a payload."""
    db.execute("INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", (key, when, rule))


def unbury(db: sqlite3.Connection, key: str) -> None:
    """Remove the tombstone of a payload that is stored again."""
    db.execute("DELETE FROM tombstone WHERE content = ?", (key,))


def opened(state: StateDir) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    """Open the tombstones of a state directory.

    Raises:
        StoreError: they cannot be read or written.

    """
    return migrations.opened(state.tombstones, SCHEMA)
