"""Rows of the table `memory` and their places in the text index: read, write, end, delete.

SQL only; what a statement ends and what ranks is decided elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from hippocampus.entries.text import storable
from hippocampus.facts.database import Database, Row
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import EVERY_AGENT, Item, Kind, Memory, Origin
from hippocampus.facts.words import indexed, normalised

COLUMNS = (
    "row, id, kind, type, content, intensity, agent, scope, tags, session, turn, entry_id, role,"
    " created, accessed, accesses, encounters, valid_from, until, known_until, superseded_by, removed,"
    " embedding_model, raw, metadata"
)
_FIRST = attrgetter("id", "kind", "type", "content", "intensity", "agent", "scope")
_ORIGIN = attrgetter("session", "turn", "entry_id", "role")
_TIMES = attrgetter("created", "accessed", "accesses", "encounters", "valid_from")
_LAST = attrgetter("known_until", "superseded_by", "removed", "embedding_model", "raw")
_WRITTEN = f"{COLUMNS.replace(' until', ' valid_until')}, ended, indexed, hash"
_INSERT = f"INSERT INTO memory ({_WRITTEN}) VALUES ({', '.join('?' * len(_WRITTEN.split(', ')))})"  # noqa: S608 - names of ours
_INDEX = (
    "INSERT INTO memory_text (rowid, body) SELECT row, body FROM memory_body"
    " WHERE row IN (SELECT value FROM json_each(?))"
)
_UNINDEX = (
    "INSERT INTO memory_text (memory_text, rowid, body) SELECT 'delete', row, body FROM memory_body"
    " WHERE row IN (SELECT value FROM json_each(?))"
)
AMONG = "row IN (SELECT value FROM json_each(?))"
CURRENT = "removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?)"
SHOWN_CHARACTERS = 100


def next_row(db: Database) -> int:
    """Return the number of the next row to be written; inside a transaction."""
    return int(db.value("SELECT seq FROM sqlite_sequence WHERE name = 'memory'") or 0) + 1


def insert(db: Database, new: Sequence[tuple[int, Memory, str]]) -> None:
    """Write memories with their row numbers, each with words that only the text index has."""
    db.run_many(_INSERT, [_values(row, memory, context) for row, memory, context in new])
    db.run(_INDEX, (listed(row for row, _, _ in new),))


def by_row(db: Database, rows: Iterable[int]) -> dict[int, Memory]:
    """Return the memories of those rows that exist."""
    found = db.rows(f"SELECT {COLUMNS} FROM memory WHERE {AMONG}", (listed(rows),))  # noqa: S608 - names of ours
    return {row[0]: memory_of(row) for row in found}


def by_id(db: Database, ids: Iterable[str]) -> dict[str, tuple[int, Memory]]:
    """Return rows and memories by id, for the ids that exist.

    Raises:
        FactError: it is one text, whose letters would be taken for ids.

    """
    if isinstance(ids, str):
        raise FactError(f"ids are a list of texts; {ids[:SHOWN_CHARACTERS]!r} is one text")
    found = db.rows(
        f"SELECT {COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - names of ours
        (json.dumps(list(ids)),),
    )
    return {row[1]: (row[0], memory_of(row)) for row in found}


def matching(  # noqa: PLR0913, PLR0917 - each is one filter
    db: Database, match: str, agent: str, scope: str, now: float, most: int
) -> dict[int, Memory]:
    """Return the newest current memories of an agent and scope that an FTS5 expression finds."""
    found = db.rows(
        f"SELECT {COLUMNS} FROM memory WHERE row IN (SELECT rowid FROM memory_text WHERE memory_text MATCH ?"  # noqa: S608 - names of ours
        f" ORDER BY rowid DESC LIMIT ?) AND agent = ? AND scope = ? AND {CURRENT} ORDER BY valid_from DESC, row DESC",
        (match, most, agent, scope, now),
    )
    return {row[0]: memory_of(row) for row in found}


def newest(db: Database, agent: str, scope: str, now: float, most: int) -> dict[int, Memory]:
    """Return the newest current memories of an agent and scope."""
    found = db.rows(
        f"SELECT {COLUMNS} FROM memory WHERE agent = ? AND scope = ? AND {CURRENT} ORDER BY row DESC LIMIT ?",  # noqa: S608 - names of ours
        (agent, scope, now, most),
    )
    return {row[0]: memory_of(row) for row in found}


def with_hash(db: Database, content_hash: int, kind: Kind, agent: str, scope: str) -> list[int]:
    """Return the current rows of a kind whose content has that hash, newest first."""
    found = db.rows(
        "SELECT row FROM memory WHERE hash = ? AND kind = ? AND agent = ? AND scope = ?"
        " AND removed IS NULL AND known_until IS NULL ORDER BY row DESC",
        (content_hash, kind, agent, scope),
    )
    return [row for (row,) in found]


def hashes_among(db: Database, hashes: Iterable[int]) -> set[int]:
    """Return those of the hashes that some row has."""
    sql = "SELECT DISTINCT hash FROM memory WHERE hash IN (SELECT value FROM json_each(?))"
    return {one for (one,) in db.rows(sql, (listed(hashes),))}


def strengthen(db: Database, row: int, intensity: float, at: float) -> None:
    """Count one more encounter."""
    db.run(
        "UPDATE memory SET intensity = ?, encounters = encounters + 1, accessed = max(accessed, ?) WHERE row = ?",
        (intensity, at, row),
    )


def touch(db: Database, touched: Iterable[tuple[int, float]], at: float) -> None:
    """Count one more access of rows, with the intensity that each then has."""
    db.run_many(
        "UPDATE memory SET accesses = accesses + 1, accessed = max(accessed, ?), intensity = ? WHERE row = ?",
        [(at, intensity, row) for row, intensity in touched],
    )


def end(db: Database, row: int, by: str | None, until: float, known: float) -> None:
    """Let a row stop being true at a time, and be known to since another."""
    db.run(
        "UPDATE memory SET superseded_by = ?, ended = ?, known_until = ? WHERE row = ?",
        (by, until, known, row),
    )


def remove(db: Database, removed: Iterable[tuple[int, str, str | None]], at: float) -> None:
    """Take rows away with the reason and what replaces them; `reopen` brings them back."""
    db.run_many(
        "UPDATE memory SET removed = ?, superseded_by = coalesce(?, superseded_by),"
        " known_until = coalesce(known_until, ?) WHERE row = ?",
        [(reason, by, at, row) for row, reason, by in removed],
    )


def reopen(db: Database, rows: Iterable[int]) -> None:
    """Let rows be true and known again."""
    db.run_many(
        "UPDATE memory SET superseded_by = NULL, ended = NULL, known_until = NULL, removed = NULL WHERE row = ?",
        [(row,) for row in rows],
    )


def rewrite(db: Database, row: int, old: Memory, content: str) -> None:
    """Put another content in a row, in the text index too."""
    db.run(_UNINDEX, (listed([row]),))
    text = storable(content)
    db.run(
        "UPDATE memory SET content = ?, indexed = ?, hash = ?, embedding_model = NULL WHERE row = ?",
        (text, indexed(text), hashed(content, old.kind), row),
    )
    db.run(_INDEX, (listed([row]),))


def embedded(db: Database, rows: Iterable[int], model: str | None) -> None:
    """Note which model the vectors of rows are of."""
    db.run_many(
        "UPDATE memory SET embedding_model = ? WHERE row = ?", [(model, row) for row in rows]
    )


def superseded_by(db: Database, ids: Iterable[str]) -> list[int]:
    """Return the rows that one of these memories replaces."""
    sql = "SELECT row FROM memory WHERE superseded_by IN (SELECT value FROM json_each(?)) ORDER BY row"
    return [row for (row,) in db.rows(sql, (json.dumps(list(ids)),))]


def delete(db: Database, rows: Iterable[int]) -> None:
    """Delete rows for good, from the text index too."""
    numbers = listed(rows)
    db.run(_UNINDEX, (numbers,))
    db.run(f"DELETE FROM memory WHERE {AMONG}", (numbers,))  # noqa: S608 - names of ours


def receipt(db: Database, key: str) -> tuple[str, str] | None:
    """Return which memory was kept under a key that counts once, and what was done; or nothing."""
    found = db.rows("SELECT memory, action FROM receipt WHERE key = ?", (key,))
    return (found[0][0], found[0][1]) if found else None


def give_receipt(db: Database, key: str, memory_id: str, action: str) -> None:
    """Note that what counts once was kept."""
    db.run("INSERT INTO receipt VALUES (?, ?, ?)", (key, memory_id, action))


def check(db: Database) -> list[str]:
    """Return a sentence for each thing wrong with the index or the supersessions."""
    db.run("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
    loose = db.rows(
        "SELECT id FROM memory WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memory)"
    )
    return [f"memory {memory_id} is superseded by one that is not there" for (memory_id,) in loose]


def made(  # noqa: PLR0913 - each is one property
    item: Item,
    memory_id: str,
    kind: Kind,
    agent: str,
    at: float,
    *,
    type_name: str,
    intensity: float,
    raw: str = "",
) -> Memory:
    """Return the memory that an item becomes."""
    return Memory(
        id=memory_id,
        kind=kind,
        type=type_name,
        content=storable(item.content),
        intensity=intensity,
        agent=agent,
        scope=item.scope,
        tags=tuple(item.tags),
        origin=item.origin,
        created=at,
        accessed=at,
        accesses=0,
        encounters=1,
        valid_from=at if item.valid_from is None else item.valid_from,
        valid_until=item.valid_until,
        known_until=None,
        superseded_by=None,
        removed=None,
        embedding_model=None,
        raw=storable(raw) if raw != item.content else "",
        metadata=item.metadata,
    )


def hashed(content: str, kind: Kind) -> int:
    """Return the hash by which the same content is known: of a fact, whatever its case and stop."""
    text = normalised(content).rstrip(".!。！") if kind == "fact" else content
    digest = hashlib.blake2b(storable(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def memory_of(row: Row) -> Memory:
    """Return the memory of a row of `COLUMNS`."""
    tags, origin, metadata = tuple(json.loads(row[8])), Origin(*row[9:13]), json.loads(row[-1])
    fields: Row = (*row[1:8], tags, origin, *row[13:-1], metadata)
    return Memory(*fields)


def _values(row: int, memory: Memory, context: str) -> tuple[Any, ...]:
    body = indexed(memory.content)
    if context:
        body = f"{body or memory.content} {indexed(context) or context}"
    replaced = memory.superseded_by is not None
    return (
        row,
        *_FIRST(memory),
        json.dumps(memory.tags),
        *_ORIGIN(memory.origin),
        *_TIMES(memory),
        None if replaced else memory.valid_until,
        *_LAST(memory),
        json.dumps(dict(memory.metadata)),
        memory.valid_until if replaced else None,
        body,
        hashed(memory.content, memory.kind),
    )


def for_agent(agent: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition for an agent, and its values."""
    return ("1", ()) if agent == EVERY_AGENT else ("agent = ?", (agent,))


def listed(rows: Iterable[int]) -> str:
    """Return row numbers as a JSON list."""
    return f"[{','.join(map(str, rows))}]"
