"""The rows of other programs' databases, which are opened for reading alone: crib's and opencode's."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any, NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage.sqlite import reading

ENTRIES = "SELECT id, type, content, created_at FROM entries ORDER BY id"
RELATIONS = """
    SELECT r.id, s.name, r.predicate, o.name, r.valid_from, r.valid_until, r.created_at,
        coalesce((SELECT raw_text FROM sources WHERE relation_id = r.id ORDER BY id LIMIT 1), ''),
        (SELECT min(n.id) FROM relations n WHERE n.subject_id = r.subject_id
            AND n.predicate = r.predicate AND n.id > r.id)
    FROM relations r JOIN entities s ON s.id = r.subject_id JOIN entities o ON o.id = r.object_id
    ORDER BY r.id
"""
"""The last column is the relation that took its place, if its validity ended."""
CribRelation = tuple[int, str, str, str, str, str | None, str, str, int | None]


class CribRows(NamedTuple):
    """What a database of crib holds."""

    entries: list[tuple[int, str, str, str]]
    relations: list[CribRelation]
    has_vectors: bool


def crib_rows(path: Path) -> CribRows | None:
    """Return what a database of crib holds, or nothing where it is of something else.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        with reading(path.resolve()) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
            if not {"entries", "entities", "relations", "sources"} <= tables:
                return None
            entries, relations = (db.execute(sql).fetchall() for sql in (ENTRIES, RELATIONS))
            return CribRows(entries, relations, "entries_vec" in tables)
    except sqlite3.Error as failure:
        raise StoreError(f"{path}: {failure}") from failure


def opencode_sessions(path: Path) -> list[dict[str, Any]]:
    """Return the sessions of a database of opencode, oldest first, each as `opencode export` writes it.

    Raises:
        StoreError: the file is no database of opencode, or is damaged.
    """
    try:
        with reading(path) as db:
            sessions = db.execute("SELECT id, parent_id FROM session ORDER BY time_created, id")
            return [_opencode_session(db, *row) for row in sessions.fetchall()]
    except sqlite3.OperationalError as failure:
        raise StoreError(f"no database of opencode: {failure}") from failure
    except (sqlite3.DatabaseError, ValueError) as failure:
        raise StoreError(f"cannot be read: {failure}") from failure


def _opencode_session(db: sqlite3.Connection, session: str, parent: str | None) -> dict[str, Any]:
    parts: dict[str, list[Any]] = {}
    for message, data in db.execute(
        "SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", (session,)
    ):
        parts.setdefault(message, []).append(json.loads(data))
    messages = db.execute(
        "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", (session,)
    )
    return {
        "info": {"id": session, "parentID": parent},
        "messages": [
            {"info": json.loads(data), "parts": parts.get(message, [])}
            for message, data in messages
        ],
    }
