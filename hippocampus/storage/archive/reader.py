"""Reads raw conversations: the rows of a session, running or packed, as lines and as lists."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import NamedTuple

from hippocampus.entries.text import storable
from hippocampus.storage import packing
from hippocampus.storage.archive.records import Context, contexts, parsed
from hippocampus.storage.database import Database

LOG = logging.getLogger("hippocampus")
LINES = "SELECT number, lines FROM conversation WHERE session = ? AND number > ? ORDER BY number"


class Stored(NamedTuple):
    """The stored conversation of one session."""

    session: str
    size_bytes: int
    damaged: str
    """The reason why a part of it cannot be read; empty where all can."""


def readable(lines: bytes) -> bytes:
    """Return the lines of a row; none, with a warning, where they are damaged."""
    try:
        whole = packing.unpacked(lines) if packing.is_packed(lines) else lines
        return whole[: whole.rfind(b"\n") + 1]
    except packing.DamagedError as damage:
        LOG.warning("a part of a conversation is damaged, and left out: %s", damage)
        return b""


def exported(db: Database, session: str) -> bytes:
    """Return the raw conversation of a session as JSON lines; nothing where none is stored.

    Raises:
        StoreError: the state cannot be read.
    """
    query = (
        "SELECT lines FROM conversation JOIN session ON session.number = conversation.session"
        " WHERE name = ? ORDER BY conversation.number"
    )
    return b"".join(readable(lines) for (lines,) in db.rows(query, (storable(session),)))


def lists(content: bytes) -> list[Context]:
    """Return each list of an exported session, as it stood before a cut, the last one last."""
    return contexts(parsed(content))


def stored(db: Database) -> Iterator[Stored]:
    """Yield the stored conversation of each session.

    Raises:
        StoreError: the state cannot be read.
    """
    for number, name in db.rows("SELECT number, name FROM session ORDER BY number"):
        found = [lines for _, lines in db.rows(LINES, (number, 0))]
        if found:
            yield Stored(name, sum(map(len, found)), next(filter(None, map(_damage, found)), ""))


def _damage(lines: bytes) -> str:
    try:
        content = packing.unpacked(lines) if packing.is_packed(lines) else lines
    except packing.DamagedError as damage:
        return str(damage)
    written = [each for each in content.split(b"\n") if each]
    wrong = len(written) - sum(1 for _ in parsed(content))
    return f"{wrong} of {len(written)} lines are no JSON" if wrong else ""
