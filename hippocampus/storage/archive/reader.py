"""Reads raw conversations: the rows of a session, running or packed, as lines and as lists."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries.text import storable
from hippocampus.storage import database, packing
from hippocampus.storage.archive.records import ArchivedConversation, Context, contexts, parsed
from hippocampus.storage.state_dir import StateDir

LOG = logging.getLogger("hippocampus")
NUMBER = "SELECT number FROM session WHERE name = ?"


class Stored(NamedTuple):
    """The stored conversation of one session."""

    session: str
    size_bytes: int
    damaged: str
    """The reason why a part of it cannot be read; empty where all can."""


def rows(db: sqlite3.Connection, session: int, after: int = 0) -> list[tuple[int, bytes]]:
    """Return the rows of a session after a number, each with its lines, as they are stored."""
    query = (
        "SELECT number, lines FROM conversation WHERE session = ? AND number > ? ORDER BY number"
    )
    return db.execute(query, (session, after)).fetchall()


def readable(lines: bytes) -> bytes:
    """Return the lines of a row; none, with a warning, where they are damaged."""
    try:
        whole = packing.unpacked(lines) if packing.is_packed(lines) else lines
        return whole[: whole.rfind(b"\n") + 1]
    except packing.DamagedError as damage:
        LOG.warning("a part of a conversation is damaged, and left out: %s", damage)
        return b""


def exported(state: StateDir, session: str) -> bytes:
    """Return the raw conversation of a session as JSON lines; nothing where none is stored.

    Raises:
        StoreError: the state cannot be read.
    """
    with database.reading(state) as db:
        found = db.execute(NUMBER, (storable(session),)).fetchone()
        return b"".join(readable(lines) for _, lines in rows(db, found[0])) if found else b""


def conversation(state_dir: str | Path, session: str) -> ArchivedConversation:
    """Return the raw messages of a session as its host last sent them, finished or not.

    Of a session that was never archived it has no messages. What its policy redacts is redacted.

    Raises:
        StoreError: the state cannot be read.
    """
    found = ArchivedConversation(session)
    for record in parsed(exported(StateDir(Path(state_dir)), session)):
        found.take(record)
    return found


def lists(content: bytes) -> list[Context]:
    """Return each list of an exported session, as it stood before a cut, the last one last."""
    return contexts(parsed(content))


def stored(state: StateDir) -> Iterator[Stored]:
    """Yield the stored conversation of each session.

    Raises:
        StoreError: the state cannot be read.
    """
    with database.reading(state) as db:
        for number, name in db.execute(
            "SELECT number, name FROM session ORDER BY number"
        ).fetchall():
            found = [lines for _, lines in rows(db, number)]
            if found:
                yield Stored(
                    name, sum(map(len, found)), next(filter(None, map(_damage, found)), "")
                )


def _damage(lines: bytes) -> str:
    try:
        content = packing.unpacked(lines) if packing.is_packed(lines) else lines
    except packing.DamagedError as damage:
        return str(damage)
    written = [each for each in content.split(b"\n") if each]
    wrong = len(written) - sum(1 for _ in parsed(content))
    return f"{wrong} of {len(written)} lines are no JSON" if wrong else ""
