"""The statements that consolidations have read: marked in the transaction that writes the facts.

A statement has a key, and is read once. Its content is not known here.
"""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.entries.entry import storable
from hippocampus.storage.database import Database

SESSION = "(SELECT number FROM session WHERE name = ?)"
DONE = "UPDATE session SET consolidated = max(consolidated, ?) WHERE name = ?"


def keys(db: Database, session: str) -> set[str]:
    """Return the keys of a session that are marked as read."""
    query = f"SELECT key FROM consolidated WHERE session = {SESSION}"
    return {key for (key,) in db.rows(query, (storable(session),))}


def add(db: Database, session: str, read: Iterable[tuple[str, str | None]]) -> None:
    """Mark keys as read, with the texts that files show, in the open transaction.

    Raises:
        StoreError: one is marked already, or the session is gone.
    """
    query = f"INSERT INTO consolidated (session, key, shown) VALUES {{({SESSION}, ?, ?)}}"
    db.insert(query, [(storable(session), key, shown) for key, shown in read])


def unpublished(db: Database, session: str) -> list[str]:
    """Return the texts that files do not show yet, in the order of reading; some are empty."""
    query = f"""
        SELECT shown FROM consolidated WHERE session = {SESSION} AND shown IS NOT NULL ORDER BY number
    """
    return [shown for (shown,) in db.rows(query, (storable(session),))]


def publish(db: Database, session: str, change: int) -> None:
    """Note that files show all of it, and that the session is consolidated up to a change."""
    name = storable(session)
    db.run(f"UPDATE consolidated SET shown = NULL WHERE session = {SESSION}", (name,))
    db.run(DONE, (change, name))
