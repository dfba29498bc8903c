"""What consolidations have read of a session: marked in the transaction that writes the facts.

Each statement has a key, and is read once. What a statement is, is not known here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from hippocampus.entries.text import storable

SESSION = "(SELECT number FROM session WHERE name = ?)"


def keys(db: sqlite3.Connection, session: str) -> set[str]:
    """Return the keys of a session that are marked as read."""
    query = f"SELECT key FROM consolidated WHERE session = {SESSION}"
    return {key for (key,) in db.execute(query, (storable(session),))}


def add(db: sqlite3.Connection, session: str, read: Iterable[tuple[str, str | None]]) -> None:
    """Mark keys as read, each with what files show of it, in the open transaction.

    Raises:
        sqlite3.IntegrityError: one is marked already, or the session is gone.

    """
    query = f"INSERT INTO consolidated (session, key, shown) VALUES ({SESSION}, ?, ?)"
    db.executemany(query, [(storable(session), key, shown) for key, shown in read])


def unpublished(db: sqlite3.Connection, session: str) -> list[str]:
    """Return what files do not show yet, in the order of reading; empty texts are of nothing to show."""
    query = f"""
        SELECT shown FROM consolidated WHERE session = {SESSION} AND shown IS NOT NULL ORDER BY rowid
    """
    return [shown for (shown,) in db.execute(query, (storable(session),))]


def publish(db: sqlite3.Connection, session: str, change: int) -> None:
    """Note that files show all of it, and that the session is consolidated up to a change."""
    name = storable(session)
    db.execute(f"UPDATE consolidated SET shown = NULL WHERE session = {SESSION}", (name,))
    query = "UPDATE session SET consolidated = max(consolidated, ?) WHERE name = ?"
    db.execute(query, (change, name))
