"""Rows of the table `memory` and their places in the text index: read, write, end, delete.

SQL only; what a statement ends and what ranks is decided elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from hippocampus.entries.entry import storable
from hippocampus.errors import FactError, StoreError
from hippocampus.storage.database import RANKED, Database, Row
from hippocampus.storage.facts.rows import EVERY_AGENT, Kind, Memory, Origin, Stats

FIELDS = tuple(field.name for field in fields(Memory))
SELECTED = (
    *(name for name in FIELDS if name not in {"origin", "valid_until"}),
    *(field.name for field in fields(Origin)),
)
"""The fields of a memory that are columns of their names, and those of its origin."""
COLUMNS = f"row, until, {', '.join(SELECTED)}"
NAMES = "(SELECT value FROM json_each(?))"
NUMBERS = "(SELECT CAST(value AS BIGINT) FROM json_each(?))"
AMONG = f"row IN {NUMBERS}"
CURRENT = "removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?)"
OF_AGENT = f"(agent = ? OR ? = '{EVERY_AGENT}')"
FORGOTTEN = "INSERT INTO forgotten (id) VALUES {(?)} ON CONFLICT DO NOTHING"
SHOWN_CHARACTERS = 100
MARK = re.compile("[0-9a-f]{10}")
"""The end of an id, as a MEMORY.md has it."""


def insert(db: Database, memory: Memory, context: str = "") -> int:
    """Write a memory, with words that only the text index has; return its row."""
    body = db.text.indexed(memory.content)
    if context:
        body = f"{body or memory.content} {db.text.indexed(context) or context}"
    values = {name: getattr(memory, name) for name in FIELDS} | asdict(memory.origin)
    del values["origin"]
    values |= {"tags": json.dumps(memory.tags), "metadata": json.dumps(dict(memory.metadata))}
    values |= {"indexed": body, "hash": hashed(db, memory.content, memory.kind)}
    if memory.superseded_by is not None:
        values["ended"] = values.pop("valid_until")
    columns, given = ", ".join(values), ", ".join(f":{name}" for name in values)
    row: int = db.value(f"INSERT INTO memory ({columns}) VALUES ({given}) RETURNING row", values)
    db.index(row, body or memory.content)
    return row


def select(db: Database, rest: str, values: Sequence[Any] = ()) -> dict[int, Memory]:
    """Return by row, in their order, the memories that the rest of a SELECT names."""
    found = db.rows(f"SELECT {COLUMNS} FROM memory {rest}", values)
    return {row[0]: _memory(row) for row in found}


def by_row(db: Database, rows: Iterable[int]) -> dict[int, Memory]:
    """Return the memories of the rows that exist."""
    return select(db, f"WHERE {AMONG}", (listed(rows),))


def by_id(db: Database, ids: Iterable[str]) -> dict[str, tuple[int, Memory]]:
    """Return rows and memories by id, for the ids that exist.

    Raises:
        FactError: it is one text, and its letters would be taken for ids.
    """
    if isinstance(ids, str):
        raise FactError(f"ids are a list of texts; {ids[:SHOWN_CHARACTERS]!r} is one text")
    found = select(db, f"WHERE id IN {NAMES}", (json.dumps(list(ids)),))
    return {memory.id: (row, memory) for row, memory in found.items()}


def named(db: Database, name: str) -> dict[int, Memory]:
    """Return the memory of an id, or of the end of one by which a MEMORY.md names it, by its row."""
    found = by_id(db, [name])
    if not found and MARK.fullmatch(name):
        found = by_id(db, marked(db, [name]).values())
    return dict(found.values())


def marked(db: Database, marks: Iterable[str]) -> dict[str, str]:
    """Return the existing and deleted ids by their ends, by which a memory file names them."""
    among = f"WHERE substr(id, length(id) - 9) IN {NAMES}"
    query = f"SELECT id FROM memory {among} UNION SELECT id FROM forgotten {among}"
    wanted = json.dumps(list(marks))
    return {memory_id[-10:]: memory_id for (memory_id,) in db.rows(query, (wanted, wanted))}


def matching(  # noqa: PLR0913, PLR0917 - each is one filter
    db: Database, match: str, agent: str, scope: str, now: float, most: int
) -> dict[int, Memory]:
    """Return the current memories of an agent and scope that an FTS5 expression finds, best first."""
    if not match:
        return {}
    ranked = db.rows(
        f"SELECT hit.rowid FROM {RANKED} AS hit JOIN memory ON row = hit.rowid WHERE agent = :agent"
        f" AND scope = :scope AND {CURRENT.replace('?', ':now')} ORDER BY rank LIMIT :most",
        {"match": db.expression(match), "agent": agent, "scope": scope, "now": now, "most": most},
    )
    found = by_row(db, (row for (row,) in ranked))
    return {row: found[row] for (row,) in ranked}


def newest(  # noqa: PLR0913, PLR0917 - each is one filter
    db: Database,
    agent: str,
    scopes: Sequence[str],
    now: float,
    most: int,
    roles: Sequence[str] = (),
) -> dict[int, Memory]:
    """Return the newest current memories of an agent in some scopes, of all roles or of some."""
    wanted, among = json.dumps(list(scopes)), json.dumps(list(roles))
    return select(
        db,
        f"WHERE agent = ? AND scope IN {NAMES} AND (? = '[]' OR role IN {NAMES}) AND {CURRENT}"
        " ORDER BY row DESC LIMIT ?",
        (agent, wanted, among, among, now, most),
    )


def same(db: Database, memory: Memory, kind: Kind, now: float) -> int | None:
    """Return the row of a memory of a kind with the content of another one, which holds in its time too, or nothing."""
    wanted = (hashed(db, memory.content, kind), kind, memory.agent, memory.scope)
    begins = max(memory.created, memory.valid_from)
    ends = float("inf") if memory.valid_until is None else memory.valid_until
    found: int | None = db.value(
        "SELECT max(row) FROM memory WHERE hash = ? AND kind = ? AND agent = ? AND scope = ?"
        f" AND {CURRENT} AND valid_from <= ? AND valid_from < ?",
        (*wanted, begins, max(now, begins), ends),
    )
    return found


def update(db: Database, rows: Iterable[int], **columns: Any) -> None:
    """Write columns of memories."""
    changed = ", ".join(f"{name} = ?" for name in columns)
    db.run(f"UPDATE memory SET {changed} WHERE {AMONG}", (*columns.values(), listed(rows)))


def reopen(db: Database, rows: Iterable[int]) -> None:
    """Let memories be true and known again."""
    update(db, rows, superseded_by=None, ended=None, known_until=None, removed=None)


def superseded(db: Database, memory_id: str) -> dict[int, Memory]:
    """Return by row the memories that another one superseded itself."""
    return select(db, "WHERE superseded_by = ? ORDER BY row", (memory_id,))


def total(db: Database, *, unembedded: bool = False) -> int:
    """Return the number of memories, with replaced and removed ones; or of those without a vector."""
    condition = "embedding_model IS NULL" if unembedded else "true"
    return int(db.value(f"SELECT count(*) FROM memory WHERE {condition}"))


def unembedded(db: Database, most: int) -> dict[int, str]:
    """Return the contents of the first memories without a vector, by row."""
    missing = "SELECT row, content FROM memory WHERE embedding_model IS NULL ORDER BY row LIMIT ?"
    return dict(db.rows(missing, (most,)))


def successors(db: Database, ids: Iterable[str]) -> dict[str, Memory | None]:
    """Return by existing or deleted id the current memory that it is or that replaces it, or None."""
    wanted = json.dumps(list(ids))
    asked = db.rows(
        f"SELECT id FROM memory WHERE id IN {NAMES} UNION SELECT id FROM forgotten WHERE id IN {NAMES}",
        (wanted, wanted),
    )
    chains = db.rows(
        "WITH RECURSIVE chain(first, last) AS (SELECT id, id FROM memory"
        f" WHERE id IN {NAMES} UNION SELECT first, superseded_by FROM chain JOIN memory ON id = last"
        " WHERE superseded_by IS NOT NULL) SELECT first, last FROM chain",
        (wanted,),
    )
    current = {
        last: memory
        for last, (_, memory) in by_id(db, [last for _, last in chains]).items()
        if is_current(memory)
    }
    found: dict[str, Memory | None] = {memory_id: None for (memory_id,) in asked}
    return found | {first: current[last] for first, last in chains if last in current}


def is_current(memory: Memory) -> bool:
    """Return whether nothing replaces a memory and no one took it away."""
    return memory.removed is None and memory.superseded_by is None and memory.known_until is None


def ended(db: Database, texts: Iterable[str], agent: str, kind: Kind, now: float) -> list[str]:
    """Return those of some texts that were facts of an agent, or memories, and no longer are."""
    by_hash = {hashed(db, text, kind): text for text in texts}
    rows = db.rows(
        f"SELECT hash FROM memory WHERE kind = ? AND hash IN {NUMBERS} AND agent = ?"
        f" GROUP BY hash HAVING count(CASE WHEN {CURRENT} THEN 1 END) = 0",
        (kind, json.dumps(list(by_hash)), agent, now),
    )
    return [by_hash[number] for (number,) in rows]


def of_session(db: Database, session: str) -> dict[int, Memory]:
    """Return every memory that a session made, with replaced and removed ones, by row."""
    return select(db, "WHERE session = ?", (storable(session),))


def current(db: Database, agent: str, now: float) -> dict[int, Memory]:
    """Return the current memories of an agent, by row."""
    return select(db, f"WHERE {CURRENT} AND {OF_AGENT} ORDER BY row", (now, agent, agent))


def past(db: Database, agent: str, before: float | None) -> dict[int, Memory]:
    """Return the superseded and removed memories of an agent, by row."""
    return select(
        db,
        "WHERE (superseded_by IS NOT NULL OR removed IS NOT NULL)"
        f" AND {OF_AGENT} AND (? IS NULL OR created < ?)",
        (agent, agent, before, before),
    )


def page(  # noqa: PLR0913 - each is one filter
    db: Database,
    agent: str,
    *,
    kind: Kind | None = None,
    superseded: bool = False,
    removed: bool = False,
    containing: str = "",
    limit: int = -1,
) -> list[Memory]:
    """Return the memories of an agent that pass the filters, newest first."""
    parts = [OF_AGENT, "(? IS NULL OR kind = ?)"]
    if not superseded:
        parts.append("(known_until IS NULL OR removed IS NOT NULL)")
    if not removed:
        parts.append("removed IS NULL")
    limits: tuple[Any, ...] = (agent, agent, kind, kind)
    if containing:
        parts.append("instr(folded(content), folded(?)) > 0")
        limits = (*limits, containing)
    where, newest = " AND ".join(parts), "ORDER BY created DESC, row DESC"
    if limit >= 0:  # rows are sorted by themselves: their columns are many
        where = f"row IN (SELECT row FROM memory WHERE {where} {newest} LIMIT ?)"
        limits = (*limits, limit)
    return list(select(db, f"WHERE {where} {newest}", limits).values())


def agents(db: Database) -> dict[str, int]:
    """Return the numbers of memories by agent, superseded ones too; 0 where it has only blocks."""
    rows = db.rows(
        "SELECT agent, count(row) FROM (SELECT agent, row FROM memory"
        " UNION ALL SELECT agent, NULL FROM block) AS kept GROUP BY agent ORDER BY agent"
    )
    return dict(rows)


def stats(db: Database, now: float) -> Stats:
    """Return how much is kept."""
    current = f"SELECT kind, count(*) FROM memory WHERE {CURRENT} GROUP BY kind ORDER BY kind"
    replaced = "superseded_by IS NOT NULL AND removed IS NULL"
    return Stats(
        current=dict(db.rows(current, (now,))),
        superseded=db.value(f"SELECT count(*) FROM memory WHERE {replaced}"),
        removed=db.value("SELECT count(*) FROM memory WHERE removed IS NOT NULL"),
        triples=db.value("SELECT count(*) FROM triple"),
        blocks=db.value("SELECT count(*) FROM block"),
        agents=agents(db),
        embedding_model=db.meta("embedding_model"),
        bytes=db.bytes(),
    )


def history(db: Database, memory_id: str) -> list[Memory]:
    """Return a memory and all that it superseded, newest first."""
    past = (
        "WHERE id IN (WITH RECURSIVE past(id) AS (SELECT ? UNION SELECT memory.id FROM memory"
        " JOIN past ON superseded_by = past.id) SELECT id FROM past)"
        " ORDER BY valid_from DESC, known_until IS NULL DESC, row DESC"
    )
    return list(select(db, past, (memory_id,)).values())


def returning(db: Database, memory_ids: Iterable[str]) -> list[Memory]:
    """Return the memories that would be current again if these were deleted, in that state."""
    gone = {memory_id: memory for memory_id, (_, memory) in by_id(db, memory_ids).items()}
    below = {memory.id: memory for memory_id in gone for memory in history(db, memory_id)}
    return [
        replace(memory, superseded_by=None, known_until=None, valid_until=None)
        for memory in below.values()
        if heir(memory, gone) is None and memory.id not in gone and memory.removed != REWORDED
    ]


def heir(memory: Memory, gone: Mapping[str, Memory]) -> str | None:
    """Return the id at the end of a memory's replacements that is not gone, or None; an import may have circles."""
    found, passed = memory.superseded_by, set[str]()
    while found is not None and found in gone and found not in passed:
        passed.add(found)
        found = gone[found].superseded_by
    return None if found in passed else found


def remove(db: Database, removed: Iterable[tuple[int, str, str | None]], at: float) -> None:
    """Mark rows as removed, with the reason and the row that replaces them."""
    for row, reason, by in removed:
        db.run(
            "UPDATE memory SET removed = ?, superseded_by = coalesce(?, superseded_by),"
            " known_until = coalesce(known_until, ?) WHERE row = ?",
            (reason, by, at, row),
        )


REWORDED = "reworded"
"""Why an earlier wording of a memory is not current; it is deleted with the memory."""


def rewrite(db: Database, row: int, old: Memory, content: str) -> Memory:
    """Put another content in a row, in the text index too, without its triples; return the memory."""
    db.unindex(listed([row]))
    text = storable(content)
    body, known = db.text.indexed(text), hashed(db, text, old.kind)
    update(db, [row], content=text, indexed=body, hash=known, embedding_model=None)
    db.index(row, body or text)
    db.run("DELETE FROM triple WHERE memory = ?", (row,))
    return by_row(db, [row])[row]


def also_found_by(db: Database, row: int, text: str) -> None:
    """Let the text index find a memory by further words."""
    db.unindex(listed([row]))
    more = (
        "UPDATE memory SET indexed = coalesce(indexed, content) || ' ' || ? WHERE row = ?"
        " RETURNING indexed"
    )
    db.index(row, db.value(more, (db.text.indexed(text) or text, row)))


def delete(db: Database, gone: Mapping[int, Memory]) -> None:
    """Delete memories for good with their triples, from the text index too; their ids are known as deleted."""
    if not gone:
        return
    numbers = listed(gone)
    db.insert(FORGOTTEN, [(memory.id,) for memory in gone.values()])
    db.unindex(numbers)
    db.run(f"DELETE FROM triple WHERE memory IN {NUMBERS}", (numbers,))
    db.run(f"DELETE FROM memory WHERE {AMONG}", (numbers,))


def clear(db: Database) -> None:
    """Delete all memories, relations and blocks, of every agent; no id is known as deleted then."""
    db.unindex(listed(row for (row,) in db.rows("SELECT row FROM memory")))
    for table in ("triple", "vector", "memory", "block", "forgotten"):
        db.run(f"DELETE FROM {table}")


def forgotten(db: Database) -> set[str]:
    """Return the ids of the memories that were deleted for good."""
    return {memory_id for (memory_id,) in db.rows("SELECT id FROM forgotten")}


def check(db: Database) -> list[str]:
    """Return sentences on faults of the supersessions."""
    loose = db.rows(
        "SELECT id FROM memory WHERE superseded_by IS NOT NULL AND superseded_by NOT IN (SELECT id FROM memory)"
    )
    return [f"memory {memory_id} is superseded by one that is not there" for (memory_id,) in loose]


def hashed(db: Database, content: str, kind: Kind) -> int:
    """Return the hash by which the same content is known: for a fact, without its case and stop."""
    import hashlib

    text = db.text.normalised(content).rstrip(" .!。！") if kind == "fact" else content
    digest = hashlib.blake2b(storable(text).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def _memory(row: Row) -> Memory:
    _, until, *columns = row
    values = dict(zip(SELECTED, columns, strict=True))
    try:
        values["tags"] = tuple(json.loads(values["tags"]))
        values["metadata"] = dict(json.loads(values["metadata"]))
    except (TypeError, ValueError) as failure:
        raise StoreError(f"memory {values['id']} is damaged: {failure}") from failure
    origin = Origin(**{field.name: values.pop(field.name) for field in fields(Origin)})
    return Memory(valid_until=until, origin=origin, **values)


def listed(rows: Iterable[int]) -> str:
    """Return row numbers as a JSON list."""
    return f"[{','.join(map(str, rows))}]"
