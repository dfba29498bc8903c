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
_WRITTEN = (
    COLUMNS.removeprefix("row, ").replace(" until", " valid_until") + ", ended, indexed, hash"
)
_INSERT = f"INSERT INTO memory ({_WRITTEN}) VALUES ({', '.join('?' * len(_WRITTEN.split(', ')))})"  # noqa: S608 - names of ours
_INDEX = "INSERT INTO memory_text (rowid, body) VALUES (?, ?)"
_UNINDEX = (
    "INSERT INTO memory_text (memory_text, rowid, body) SELECT 'delete', row, body FROM memory_body"
    " WHERE row IN (SELECT value FROM json_each(?))"
)
AMONG = "row IN (SELECT value FROM json_each(?))"
CURRENT = "removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?)"
SHOWN_CHARACTERS = 100
FADES = frozenset({"faded", "old"})
"""The reasons of `compact` for which a memory is weak rather than untrue."""
END_TRIPLES = (
    "UPDATE triple SET ended = ?, known_until = ? WHERE memory = ? AND known_until IS NULL"
)


def insert(db: Database, memory: Memory, context: str = "") -> int:
    """Write a memory, with words that only the text index has; return its row."""
    body = indexed(memory.content)
    if context:
        body = f"{body or memory.content} {indexed(context) or context}"
    replaced = memory.superseded_by is not None
    values = (
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
    row = db.insert(_INSERT, values)
    db.run(_INDEX, (row, body or memory.content))
    return row


def select(db: Database, rest: str, values: Sequence[Any] = ()) -> dict[int, Memory]:
    """Return by row, in their order, the memories that the rest of a SELECT names."""
    found = db.rows(f"SELECT {COLUMNS} FROM memory {rest}", values)  # noqa: S608 - names of ours
    return {row[0]: _memory(row) for row in found}


def by_row(db: Database, rows: Iterable[int]) -> dict[int, Memory]:
    """Return the memories of those rows that exist."""
    return select(db, f"WHERE {AMONG}", (listed(rows),))


def by_id(db: Database, ids: Iterable[str]) -> dict[str, tuple[int, Memory]]:
    """Return rows and memories by id, for the ids that exist.

    Raises:
        FactError: it is one text, whose letters would be taken for ids.

    """
    if isinstance(ids, str):
        raise FactError(f"ids are a list of texts; {ids[:SHOWN_CHARACTERS]!r} is one text")
    among = "WHERE id IN (SELECT value FROM json_each(?))"
    found = select(db, among, (json.dumps(list(ids)),))
    return {memory.id: (row, memory) for row, memory in found.items()}


def matching(  # noqa: PLR0913, PLR0917 - each is one filter
    db: Database, match: str, agent: str, scope: str, now: float, most: int
) -> dict[int, Memory]:
    """Return the current memories of an agent and scope that an FTS5 expression finds, best first."""
    if not match:
        return {}
    ranked = db.rows(
        "SELECT memory_text.rowid FROM memory_text JOIN memory ON row = memory_text.rowid WHERE memory_text MATCH ?"  # noqa: S608 - names of ours
        f" AND agent = ? AND scope = ? AND {CURRENT} ORDER BY rank LIMIT ?",
        (match, agent, scope, now, most),
    )
    found = by_row(db, (row for (row,) in ranked))
    return {row: found[row] for (row,) in ranked}


def history(db: Database, memory_id: str) -> list[Memory]:
    """Return a memory and all that it superseded, newest first."""
    past = (
        "WHERE id IN (WITH RECURSIVE past(id) AS (SELECT ? UNION SELECT memory.id FROM memory"
        " JOIN past ON superseded_by = past.id) SELECT id FROM past)"
        " ORDER BY valid_from DESC, known_until IS NULL DESC, row DESC"
    )
    return list(select(db, past, (memory_id,)).values())


def returning(db: Database, memory_ids: Iterable[str]) -> list[Memory]:
    """Return what would be true again if these memories were deleted, since they superseded it."""
    gone = {memory_id: memory for memory_id, (_, memory) in by_id(db, memory_ids).items()}
    below = {each.id: each for memory_id in gone for each in history(db, memory_id)}
    freed = []
    for each in below.values():
        heir = each.superseded_by
        while heir in gone:
            heir = gone[heir].superseded_by
        if heir is None and each.id not in gone and each.removed != REWORDED:
            freed.append(each)
    return freed


def remove(db: Database, removed: Iterable[tuple[int, str, str | None]], at: float) -> None:
    """Take rows away with the reason and what replaces them; only what fades keeps its triples."""
    for row, reason, by in removed:
        db.run(
            "UPDATE memory SET removed = ?, superseded_by = coalesce(?, superseded_by),"
            " known_until = coalesce(known_until, ?) WHERE row = ?",
            (reason, by, at, row),
        )
        if reason not in FADES:
            db.run(END_TRIPLES, (at, at, row))


REWORDED = "reworded"
"""Why an earlier wording of a memory is not current; it goes where the memory goes."""


def rewrite(db: Database, row: int, old: Memory, content: str) -> None:
    """Put another content in a row, in the text index too."""
    db.run(_UNINDEX, (listed([row]),))
    text = storable(content)
    body = indexed(text)
    db.run(
        "UPDATE memory SET content = ?, indexed = ?, hash = ?, embedding_model = NULL WHERE row = ?",
        (text, body, hashed(text, old.kind), row),
    )
    db.run(_INDEX, (row, body or text))


def also_found_by(db: Database, row: int, text: str) -> None:
    """Let the text index find a memory by further words."""
    db.run(_UNINDEX, (listed([row]),))
    more = "UPDATE memory SET indexed = coalesce(indexed, content) || ' ' || ? WHERE row = ?"
    db.run(more, (indexed(text) or text, row))
    db.run(
        "INSERT INTO memory_text (rowid, body) SELECT row, body FROM memory_body WHERE row = ?",
        (row,),
    )


def delete(db: Database, rows: Iterable[int]) -> None:
    """Delete rows for good with their triples, from the text index too."""
    numbers = listed(rows)
    db.run(_UNINDEX, (numbers,))
    db.run("DELETE FROM triple WHERE memory IN (SELECT value FROM json_each(?))", (numbers,))
    db.run(f"DELETE FROM memory WHERE {AMONG}", (numbers,))  # noqa: S608 - names of ours


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


def _memory(row: Row) -> Memory:
    tags, origin, metadata = tuple(json.loads(row[8])), Origin(*row[9:13]), json.loads(row[-1])
    fields: Row = (*row[1:8], tags, origin, *row[13:-1], metadata)
    return Memory(*fields)


def for_agent(agent: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition for an agent, and its values."""
    return ("1", ()) if agent == EVERY_AGENT else ("agent = ?", (agent,))


def listed(rows: Iterable[int]) -> str:
    """Return row numbers as a JSON list."""
    return f"[{','.join(map(str, rows))}]"
