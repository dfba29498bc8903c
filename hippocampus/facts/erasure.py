"""Deletes what a session left in the fact store, so that its words are nowhere in the file."""

from __future__ import annotations

from hippocampus.entries.entry import storable
from hippocampus.facts import upkeep
from hippocampus.facts.models import Memory
from hippocampus.facts.tables import FactTables

UNINDEX_SAID = """
    INSERT INTO said_text (said_text, rowid, body)
    SELECT 'delete', row, body FROM said_body
    WHERE row IN (SELECT row FROM said WHERE session = ?)
"""
INDEXES = ("memory_text", "said_text")


def of_session(tables: FactTables, session: str) -> list[Memory]:
    """Return every memory that a session made, whatever became of it."""
    found = tables.database.rows("SELECT id FROM memory WHERE session = ?", (storable(session),))
    return list(upkeep.by_ids(tables, (memory_id for (memory_id,) in found)).values())


def erase(tables: FactTables, session: str) -> list[Memory]:
    """Delete the memories and the conversation of a session for good; return the memories.

    What these had superseded is current again. The file is rewritten: SQLite overwrites no deleted row.

    Raises:
        StoreError: the file cannot be written.

    """
    db = tables.database
    gone = of_session(tables, session)
    name = storable(session)
    with db.transaction():
        upkeep.delete(tables, [each.id for each in gone])
        ids = [(each.id,) for each in gone]
        db.run_many("DELETE FROM receipt WHERE memory = ?", ids)
        db.run(UNINDEX_SAID, (name,))
        db.run("DELETE FROM said WHERE session = ?", (name,))
        used = "SELECT subject FROM triple UNION SELECT object FROM triple"
        db.run(f"DELETE FROM entity_name WHERE entity NOT IN ({used})")  # noqa: S608 - of ours
        db.run(f"DELETE FROM entity WHERE id NOT IN ({used})")  # noqa: S608 - of ours
    for index in INDEXES:
        db.run(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608 - of ours
    db.run("VACUUM")
    db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    return gone
