"""Rows of the table `memory` and their places in the text index: read, write, supersede, delete.

SQL only; what conflicts and what ranks is decided elsewhere.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from hippocampus.entries.entry import storable
from hippocampus.facts.database import Database, Row
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import EVERY_AGENT, Item, Kind, Memory, Origin
from hippocampus.facts.words import indexed, normalised

COLUMNS = (
    "row, id, kind, type, content, intensity, agent, scope, tags, session, turn, entry_id, role,"
    " created, accessed, accesses, encounters, valid_from, until, known_until, superseded_by, removed,"
    " embedding_model, raw, metadata"
)
WRITTEN = f"{COLUMNS.replace(' until', ' valid_until')}, ended, indexed, hash, signature"
INSERT = f"INSERT INTO memory ({WRITTEN}) VALUES ({', '.join('?' * len(WRITTEN.split(', ')))})"  # noqa: S608 - names of ours
INDEX = "INSERT INTO memory_text (rowid, body) VALUES (?, ?)"
UNINDEX = "INSERT INTO memory_text (memory_text, rowid, body) VALUES ('delete', ?, ?)"
SHOWN_CHARACTERS = 100
AMONG = "row IN (SELECT value FROM json_each(?))"


class Memories:
    """The memories of one file, by row number and by id."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def next_row(self) -> int:
        """Return the number of the next row to be written; inside a transaction."""
        last = self._db.value("SELECT seq FROM sqlite_sequence WHERE name = 'memory'")
        return int(last or 0) + 1

    def insert(self, new: Sequence[tuple[int, Memory, bytes | None]]) -> None:
        """Write memories with their row numbers and signatures; the text index comes apart."""
        self._db.run_many(INSERT, [_values(row, memory, sign) for row, memory, sign in new])

    def index(self, new: Iterable[tuple[int, str]]) -> None:
        """Enter contents into the text index."""
        self._db.run_many(INDEX, [(row, _body(content)) for row, content in new])

    def sketch(self, new: Iterable[tuple[int, str]]) -> None:
        """Enter the bands of signatures, joined by spaces."""
        self._db.run_many("INSERT INTO memory_sketch (rowid, bands) VALUES (?, ?)", list(new))

    def unsketch(self, old: Iterable[tuple[int, str]]) -> None:
        """Take bands out again; they have to be those that were entered."""
        self._db.run_many(
            "INSERT INTO memory_sketch (memory_sketch, rowid, bands) VALUES ('delete', ?, ?)",
            list(old),
        )

    def sketched(self, names: Iterable[str], most: int) -> list[int]:
        """Return the newest rows that share one of these bands."""
        found = self._db.rows(
            "SELECT rowid FROM memory_sketch WHERE memory_sketch MATCH ?"
            " ORDER BY rowid DESC LIMIT ?",
            (" OR ".join(f'"{name}"' for name in names), most),
        )
        return [row for (row,) in found]

    def by_row(self, rows: Iterable[int]) -> dict[int, Memory]:
        """Return the memories of those rows that exist."""
        found = self._db.rows(f"SELECT {COLUMNS} FROM memory WHERE {AMONG}", (_listed(rows),))  # noqa: S608 - names of ours
        return {row[0]: memory_of(row) for row in found}

    def by_id(self, ids: Iterable[str]) -> dict[str, tuple[int, Memory]]:
        """Return rows and memories by id, for the ids that exist.

        Raises:
            FactError: it is one text, whose letters would be taken for ids.

        """
        if isinstance(ids, str):
            raise FactError(f"ids are a list of texts; {ids[:SHOWN_CHARACTERS]!r} is one text")
        found = self._db.rows(
            f"SELECT {COLUMNS} FROM memory WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608 - names of ours
            (json.dumps(list(ids)),),
        )
        return {row[1]: (row[0], memory_of(row)) for row in found}

    def signatures(self, rows: Iterable[int]) -> dict[int, bytes | None]:
        """Return the packed signatures of rows, nothing for those not computed yet."""
        return dict(
            self._db.rows(f"SELECT row, signature FROM memory WHERE {AMONG}", (_listed(rows),))  # noqa: S608 - names of ours
        )

    def sign(self, signed: Iterable[tuple[int, bytes]]) -> None:
        """Write the signatures of rows."""
        self._db.run_many(
            "UPDATE memory SET signature = ?2 WHERE row = ?1", [list(pair) for pair in signed]
        )

    def with_hash(self, content_hash: int, kind: Kind, agent: str, scope: str) -> list[int]:
        """Return the current rows of a kind whose content has that hash, newest first."""
        found = self._db.rows(
            "SELECT row FROM memory WHERE hash = ? AND kind = ? AND agent = ? AND scope = ?"
            " AND removed IS NULL AND known_until IS NULL ORDER BY row DESC",
            (content_hash, kind, agent, scope),
        )
        return [row for (row,) in found]

    def hashes_among(self, hashes: Iterable[int]) -> set[int]:
        """Return those of the hashes that some row has."""
        found = self._db.rows(
            "SELECT DISTINCT hash FROM memory WHERE hash IN (SELECT value FROM json_each(?))",
            (_listed(hashes),),
        )
        return {one for (one,) in found}

    def strengthen(self, row: int, intensity: float, at: float) -> None:
        """Count one more encounter."""
        self._db.run(
            "UPDATE memory SET intensity = ?, encounters = encounters + 1, accessed = max(accessed, ?)"
            " WHERE row = ?",
            (intensity, at, row),
        )

    def touch(self, touched: Iterable[tuple[int, float]], at: float) -> None:
        """Count one more access of rows, with the intensity that each then has."""
        self._db.run_many(
            "UPDATE memory SET accesses = accesses + 1, accessed = max(accessed, ?), intensity = ?"
            " WHERE row = ?",
            [(at, intensity, row) for row, intensity in touched],
        )

    def end(
        self, row: int, by: str | None, until: float, known: float, removed: str | None = None
    ) -> None:
        """Let a row stop being true at a time, and be known to since another."""
        self._db.run(
            "UPDATE memory SET superseded_by = ?, ended = ?, known_until = ?, removed = ?"
            " WHERE row = ?",
            (by, until, known, removed, row),
        )

    def remove(self, removed: Iterable[tuple[int, str, str | None]], at: float) -> None:
        """Take rows away with the reason and what stands for them; `reopen` brings them back."""
        self._db.run_many(
            "UPDATE memory SET removed = ?, superseded_by = coalesce(?, superseded_by),"
            " known_until = coalesce(known_until, ?) WHERE row = ?",
            [(reason, by, at, row) for row, reason, by in removed],
        )

    def reopen(self, rows: Iterable[int]) -> None:
        """Let rows be true and known again."""
        self._db.run_many(
            "UPDATE memory SET superseded_by = NULL, ended = NULL, known_until = NULL,"
            " removed = NULL WHERE row = ?",
            [(row,) for row in rows],
        )

    def rewrite(self, row: int, old: Memory, content: str, signature: bytes | None) -> None:
        """Put another content in a row, in the text index too."""
        self._db.run(UNINDEX, (row, _body(old.content)))
        self._db.run(
            "UPDATE memory SET content = ?, indexed = ?, hash = ?, signature = ?,"
            " embedding_model = NULL WHERE row = ?",
            (
                storable(content),
                indexed(storable(content)),
                hashed(content, old.kind),
                signature,
                row,
            ),
        )
        self.index([(row, content)])

    def embedded(self, rows: Iterable[int], model: str | None) -> None:
        """Say which model the vectors of rows are of."""
        self._db.run_many(
            "UPDATE memory SET embedding_model = ? WHERE row = ?", [(model, row) for row in rows]
        )

    def superseded_by(self, ids: Iterable[str]) -> list[int]:
        """Return the rows for which one of these memories stands."""
        found = self._db.rows(
            "SELECT row FROM memory WHERE superseded_by IN (SELECT value FROM json_each(?))"
            " ORDER BY row",
            (json.dumps(list(ids)),),
        )
        return [row for (row,) in found]

    def delete(self, gone: dict[int, Memory]) -> None:
        """Delete rows for good, from the text index too."""
        self._db.run_many(UNINDEX, [(row, _body(memory.content)) for row, memory in gone.items()])
        self._db.run_many("DELETE FROM memory WHERE row = ?", [(row,) for row in gone])

    def receipt(self, key: str) -> tuple[str, str] | None:
        """Return which memory stands for what was kept once, and what was done; or nothing."""
        found = self._db.rows("SELECT memory, action FROM receipt WHERE key = ?", (key,))
        return (found[0][0], found[0][1]) if found else None

    def give_receipt(self, key: str, memory_id: str, action: str) -> None:
        """Say that what is kept once was kept."""
        self._db.run("INSERT INTO receipt VALUES (?, ?, ?)", (key, memory_id, action))

    def check(self) -> list[str]:
        """Return a sentence for each thing wrong with the index or the supersessions."""
        self._db.run("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
        loose = self._db.rows(
            "SELECT id FROM memory WHERE superseded_by IS NOT NULL"
            " AND superseded_by NOT IN (SELECT id FROM memory)"
        )
        return [
            f"memory {memory_id} is superseded by one that is not there" for (memory_id,) in loose
        ]


def made(  # noqa: PLR0913 - each is one thing to say
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
    (
        _,
        memory_id,
        kind,
        type_name,
        content,
        intensity,
        agent,
        scope,
        tags,
        session,
        turn,
        entry_id,
        role,
        *rest,
    ) = row
    *numbers, superseded_by, removed, model, raw, metadata = rest
    created, accessed, accesses, encounters, valid_from, valid_until, known_until = numbers
    return Memory(
        memory_id,
        kind,
        type_name,
        content,
        intensity,
        agent,
        scope,
        tuple(json.loads(tags)),
        Origin(session, turn, entry_id, role),
        created,
        accessed,
        accesses,
        encounters,
        valid_from,
        valid_until,
        known_until,
        superseded_by,
        removed,
        model,
        raw,
        json.loads(metadata),
    )


def _values(row: int, memory: Memory, signature: bytes | None) -> tuple[Any, ...]:
    return (
        row,
        memory.id,
        memory.kind,
        memory.type,
        memory.content,
        memory.intensity,
        memory.agent,
        memory.scope,
        json.dumps(memory.tags),
        memory.origin.session,
        memory.origin.turn,
        memory.origin.entry_id,
        memory.origin.role,
        memory.created,
        memory.accessed,
        memory.accesses,
        memory.encounters,
        memory.valid_from,
        None if memory.superseded_by else memory.valid_until,
        memory.known_until,
        memory.superseded_by,
        memory.removed,
        memory.embedding_model,
        memory.raw,
        json.dumps(dict(memory.metadata)),
        memory.valid_until if memory.superseded_by else None,
        indexed(memory.content),
        hashed(memory.content, memory.kind),
        signature,
    )


def for_agent(agent: str) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition for an agent, and its values."""
    return ("1", ()) if agent == EVERY_AGENT else ("agent = ?", (agent,))


def _body(content: str) -> str:
    text = storable(content)
    return indexed(text) or text


def _listed(rows: Iterable[int]) -> str:
    return f"[{','.join(map(str, rows))}]"
