"""The tables of the proxy's file: known conversations, recalls that hosts have not seen, a secret.

Which request belongs to which conversation is decided in the proxy; here is what `gc` and `forget`
remove.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from hippocampus.storage.migrations import Migration, Schema, opened
from hippocampus.storage.sqlite import transaction
from hippocampus.storage.state_dir import StateDir

SCHEMA = Schema(
    "conversations of the proxy",
    (
        Migration(
            "conversations",
            """
            CREATE TABLE conversation (
                session TEXT PRIMARY KEY, tip TEXT NOT NULL, sent REAL NOT NULL
            ) STRICT;
            CREATE TABLE chain (chain TEXT PRIMARY KEY, session TEXT NOT NULL) STRICT;
            CREATE TABLE rounds (
                chain TEXT PRIMARY KEY, session TEXT NOT NULL, rounds TEXT NOT NULL
            ) STRICT
            """,
        ),
        Migration(
            "callers",
            """
            CREATE TABLE caller_key (secret BLOB NOT NULL) STRICT;
            INSERT INTO caller_key VALUES (randomblob(32))
            """,
        ),
    ),
)


def sent(state: StateDir) -> Mapping[str, float]:
    """Return when each session of the proxy last sent a request, in seconds since 1970.

    Raises:
        StoreError: the file cannot be read; then nothing may be removed.

    """
    if not state.proxy.exists():
        return {}
    with opened(state.proxy, SCHEMA) as db:
        return dict(db.execute("SELECT session, sent FROM conversation ORDER BY sent, session"))


def remove(state: StateDir, sessions: Iterable[str], sent_before: float) -> list[str]:
    """Remove conversations that sent nothing since a time, and return their sessions.

    A later request of one of them begins a new session.

    Raises:
        StoreError: the file cannot be read or written.

    """
    if not state.proxy.exists():
        return []
    names = json.dumps(list(sessions))
    with opened(state.proxy, SCHEMA) as db, transaction(db):
        gone = db.execute(
            "DELETE FROM conversation WHERE session IN (SELECT value FROM json_each(?))"
            " AND sent <= ? RETURNING session",
            (names, sent_before),
        ).fetchall()
        for table in ("chain", "rounds"):
            db.execute(
                f"DELETE FROM {table} WHERE session IN (SELECT value FROM json_each(?))"  # noqa: S608 - a constant
                " AND session NOT IN (SELECT session FROM conversation)",
                (names,),
            )
    return [session for (session,) in gone]
