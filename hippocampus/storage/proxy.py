"""The conversations that the proxy recognises, and the recalls in them that hosts have not seen.

Which request belongs to which conversation is decided in the proxy; here is what `gc` and `forget`
remove.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from hippocampus.storage import database
from hippocampus.storage.sqlite import transaction
from hippocampus.storage.state_dir import StateDir

KEPT_SECONDS = 30 * 86_400.0
"""How long a conversation that sends nothing is recognised."""


class ConversationStore(Protocol):
    """The conversations that went through proxies, and what their hosts have not seen of them."""

    @property
    def secret(self) -> bytes:
        """Return the key by which names of callers are hashed."""

    def place(self, last: str, before: str, now: float, *, has_start: bool) -> tuple[str, float]:
        """Return a request's session, with when that sent the last one (0 is never), and note it."""

    def keep(self, chain: str, session: str, rounds: str) -> None:
        """Keep the rounds of an answer, as JSON; `chain` ends with that answer."""

    def kept(self, chains: Sequence[str]) -> dict[str, str]:
        """Return the rounds of answers by their chains, as JSON."""

    def close(self) -> None:
        """Close what it has open."""


class DirectoryConversations:
    """Conversations in the database of a state directory: `ConversationStore`."""

    def __init__(self, state: StateDir, sent_since: float) -> None:
        """Open the database, and forget conversations that have sent nothing since a time.

        Raises:
            StoreError: it cannot be read or written.
        """
        self._lock = threading.Lock()
        with database.as_store_error(state):
            self._db = database.connected(state)
            self.secret = begin(self._db, sent_since)

    def place(self, last: str, before: str, now: float, *, has_start: bool) -> tuple[str, float]:
        """Return and note the session of a request, as `place` does."""
        with self._lock:
            return place(self._db, last, before, now, has_start=has_start)

    def keep(self, chain: str, session: str, rounds: str) -> None:
        """Keep the rounds of an answer."""
        with self._lock:
            keep(self._db, chain, session, rounds)

    def kept(self, chains: Sequence[str]) -> dict[str, str]:
        """Return the rounds of answers by their chains."""
        with self._lock:
            return kept(self._db, chains)

    def close(self) -> None:
        """Close the database."""
        with self._lock, contextlib.suppress(sqlite3.Error):
            self._db.close()


def begin(db: sqlite3.Connection, sent_since: float) -> bytes:
    """Forget conversations that sent nothing since a time; return the secret of callers' names."""
    with transaction(db):
        db.execute("DELETE FROM proxy_conversation WHERE sent < ?", (sent_since,))
        _without_conversation(db)
    (secret,) = db.execute("SELECT secret FROM caller_key").fetchone()
    return bytes(secret)


def place(
    db: sqlite3.Connection, last: str, before: str, now: float, *, has_start: bool
) -> tuple[str, float]:
    """Return a request's session, with when that sent the last one (0 is never), and note it.

    `last` is the chain of its list, `before` that without the newest answer. A list of an earlier
    request of a conversation is known where it `has_start`.
    """
    with transaction(db):
        row = db.execute(
            "SELECT session, sent FROM proxy_conversation WHERE tip IN (?, ?) ORDER BY tip = ? DESC",
            (last, before, last),
        ).fetchone()
        if row is None and has_start:
            row = db.execute(
                "SELECT session, sent FROM proxy_chain JOIN proxy_conversation USING (session)"
                " WHERE chain = ?",
                (last,),
            ).fetchone()
        if row is None:
            name = f"proxy-{last[:12]}"
            query = "SELECT count(*) FROM proxy_conversation WHERE session GLOB ?"
            (same,) = db.execute(query, (f"{name}*",)).fetchone()
            row = (f"{name}-{same + 1}" if same else name, 0.0)
        session, sent = row
        query = "INSERT OR REPLACE INTO proxy_conversation VALUES (?, ?, ?)"
        db.execute(query, (session, last, now))
        db.execute("INSERT OR REPLACE INTO proxy_chain VALUES (?, ?)", (last, session))
    return session, sent


def keep(db: sqlite3.Connection, chain: str, session: str, rounds: str) -> None:
    """Keep the rounds of an answer, as JSON; `chain` ends with that answer."""
    db.execute("INSERT OR REPLACE INTO proxy_rounds VALUES (?, ?, ?)", (chain, session, rounds))


def kept(db: sqlite3.Connection, chains: Sequence[str]) -> dict[str, str]:
    """Return the rounds of answers by their chains, as JSON."""
    query = "SELECT chain, rounds FROM proxy_rounds WHERE chain IN (SELECT value FROM json_each(?))"
    return dict(db.execute(query, (json.dumps(chains),)).fetchall())


def sent(state: StateDir) -> Mapping[str, float]:
    """Return when each session of the proxy last sent a request, in seconds since 1970.

    Raises:
        StoreError: the file cannot be read; then nothing may be removed.
    """
    query = "SELECT session, sent FROM proxy_conversation ORDER BY sent, session"
    with database.reading(state) as db:
        return dict(db.execute(query).fetchall())


def remove(state: StateDir, sessions: Iterable[str], sent_before: float) -> list[str]:
    """Remove conversations that sent nothing since a time, and return their sessions.

    A later request of one of them begins a new session.

    Raises:
        StoreError: the file cannot be read or written.
    """
    names = json.dumps(list(sessions))
    with database.opened(state) as db, transaction(db):
        gone = db.execute(
            "DELETE FROM proxy_conversation WHERE session IN (SELECT value FROM json_each(?))"
            " AND sent <= ? RETURNING session",
            (names, sent_before),
        ).fetchall()
        _without_conversation(db)
    return [session for (session,) in gone]


def forget(db: sqlite3.Connection, session: str) -> None:
    """Remove the conversation of a session, in the open transaction."""
    db.execute("DELETE FROM proxy_conversation WHERE session = ?", (session,))
    _without_conversation(db)


def _without_conversation(db: sqlite3.Connection) -> None:
    """Remove what belongs to conversations that are no longer recognised."""
    left = "session NOT IN (SELECT session FROM proxy_conversation)"
    db.execute(f"DELETE FROM proxy_chain WHERE {left}")
    db.execute(f"DELETE FROM proxy_rounds WHERE {left}")
