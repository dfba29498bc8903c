"""Entities, their names and their relations in SQL. Which fact ends another is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.storage.database import Database
from hippocampus.storage.facts.memories import NUMBERS, also_found_by, listed
from hippocampus.storage.facts.models import EVERY_AGENT, Memory, Relation, Triple

COLUMNS = """
    SELECT triple.id, s.name, triple.predicate, o.name, triple.valid_from, triple.until,
        triple.known_from, triple.known_until, memory.id, triple.memory
    FROM triple JOIN entity s ON s.id = triple.subject JOIN entity o ON o.id = triple.object
        JOIN memory ON memory.row = triple.memory
"""
ADD = """
    INSERT INTO triple (subject, predicate, object, scope, memory, valid_from, valid_until,
        ended, known_from, known_until)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
KNOWN = """
    triple.known_from <= :known AND triple.valid_from <= :at AND (
        triple.until IS NULL OR triple.until > :at
        OR (triple.known_until IS NOT NULL AND triple.known_until > :known)
    ) AND (memory.removed IS NULL OR memory.removed != 'merged')
"""
"""What faded is still related: triples do not fade."""
NAME = "INSERT INTO entity_name (agent, key, entity) VALUES (?, ?, ?)"


def entity(db: Database, agent: str, name: str) -> int:
    """Return the number of an entity of that name or alias; make it where there is none."""
    found = known_entity(db, agent, name)
    if found is None:
        add = "INSERT INTO entity (agent, name) VALUES (?, ?) RETURNING id"
        found = int(db.value(add, (agent, name.strip())))
        db.run(NAME, (agent, db.text.key(name), found))
    return found


def known_entity(db: Database, agent: str, name: str) -> int | None:
    """Return the number of an entity of that name or alias, or nothing."""
    found: int | None = db.value(
        "SELECT entity FROM entity_name WHERE agent = ? AND key = ?", (agent, db.text.key(name))
    )
    return found


def alias(db: Database, agent: str, name: str, other: str) -> None:
    """Let two names be one entity; where both are known, the second becomes the first."""
    with db.transaction():
        kept, gone = entity(db, agent, name), known_entity(db, agent, other)
        put = f"{NAME} ON CONFLICT (agent, key) DO UPDATE SET entity = excluded.entity"
        db.run(put, (agent, db.text.key(other), kept))
        related = "SELECT DISTINCT memory FROM triple WHERE subject = ? OR object = ?"
        for (row,) in db.rows(related, (kept, kept)):
            also_found_by(db, row, other)
        if gone is None or gone == kept:
            return
        db.run("UPDATE entity_name SET entity = ? WHERE entity = ?", (kept, gone))
        db.run("UPDATE triple SET subject = ? WHERE subject = ?", (kept, gone))
        db.run("UPDATE triple SET object = ? WHERE object = ?", (kept, gone))
        db.run("DELETE FROM entity WHERE id = ?", (gone,))


def add(db: Database, row: int, memory: Memory, stated: Relation | Triple) -> None:
    """Write a relation that a memory states, for as long as the memory is true, or as a triple has it.

    A query finds the memory by the relation's words and by all names of its entities too.
    """
    times: Memory | Triple = memory
    known = memory.created
    if isinstance(stated, Triple):
        times, known = stated, stated.known_from
    replaced = memory.superseded_by is not None
    subject = entity(db, memory.agent, stated.subject)
    value = entity(db, memory.agent, stated.object)
    named = db.rows("SELECT key FROM entity_name WHERE entity IN (?, ?)", (subject, value))
    names = " ".join(name for (name,) in named if name != "user")
    spelled = db.text.words(f"{stated.predicate.replace('_', ' ')} {names}")
    if more := dict.fromkeys(
        word for word in spelled if word not in set(db.text.words(memory.content))
    ):
        also_found_by(db, row, " ".join(more))
    values = (
        subject,
        stated.predicate,
        value,
        memory.scope,
        row,
        times.valid_from,
        None if replaced else times.valid_until,
        times.valid_until if replaced else None,
        known,
        times.known_until,
    )
    db.run(ADD, values)


def rivals(db: Database, agent: str, scope: str, relation: Relation) -> list[int]:
    """Return the current rows that give another value for the same subject and predicate."""
    found = db.rows(
        "SELECT memory FROM triple WHERE subject = ? AND scope = ? AND predicate = ?"
        " AND (object = ?) IS NOT TRUE AND known_until IS NULL ORDER BY id DESC LIMIT 200",
        (
            known_entity(db, agent, relation.subject),
            scope,
            relation.predicate,
            known_entity(db, agent, relation.object),
        ),
    )
    return [row for (row,) in found]


def of_rows(db: Database, rows: Iterable[int]) -> dict[int, tuple[Triple, ...]]:
    """Return the triples of memories, by row."""
    found = db.rows(
        f"{COLUMNS} WHERE triple.memory IN {NUMBERS} ORDER BY triple.id",
        (listed(rows),),
    )
    by_row: dict[int, tuple[Triple, ...]] = {}
    for *fields, row in found:
        by_row[row] = (*by_row.get(row, ()), Triple(*fields))
    return by_row


def named_in(db: Database, asked: set[str], ids: Iterable[int]) -> set[int]:
    """Return the ids of those triples whose subject the words asked for name, by any name."""
    names = db.rows(
        "SELECT triple.id, key FROM triple JOIN entity_name ON entity = subject"
        f" WHERE triple.id IN {NUMBERS}",
        (listed(ids),),
    )
    return {number for number, name in names if asked.issuperset(db.text.words(name))}


def drop_unused_names(db: Database) -> None:
    """Delete the entities that no relation has, with their names."""
    used = "SELECT subject FROM triple UNION SELECT object FROM triple"
    db.run(f"DELETE FROM entity_name WHERE entity NOT IN ({used})")
    db.run(f"DELETE FROM entity WHERE id NOT IN ({used})")


def aliases(db: Database, agent: str) -> list[tuple[str, str, str]]:
    """Return the agent, the name and the key of each name of an entity."""
    return db.rows(
        "SELECT entity.agent, entity.name, entity_name.key"
        " FROM entity_name JOIN entity ON entity.id = entity_name.entity"
        " WHERE (? OR entity.agent = ?) ORDER BY entity.agent, entity.id, entity_name.key",
        (agent == EVERY_AGENT, agent),
    )


def related(  # noqa: PLR0913 - each is one filter
    db: Database,
    agent: str,
    *,
    at: float,
    known: float,
    entity: str = "",
    predicate: str = "",
    history: bool = False,
) -> list[Triple]:
    """Return the relations of an entity at a time, newest first; of every entity where none is named."""
    named = (
        "EXISTS (SELECT 1 FROM entity_name n WHERE n.key = :entity AND n.agent = s.agent"
        " AND n.entity IN (triple.subject, triple.object))"
    )
    found = db.rows(
        f"{COLUMNS} WHERE (:history OR {KNOWN}) AND (:every OR s.agent = :agent)"
        f" AND (:predicate = '' OR triple.predicate = :predicate) AND (:entity = '' OR {named})"
        " ORDER BY triple.valid_from DESC, triple.id DESC",
        {
            "history": history,
            "at": at,
            "known": known,
            "every": agent == EVERY_AGENT,
            "agent": agent,
            "predicate": predicate_of(predicate),
            "entity": db.text.key(entity) if entity else "",
        },
    )
    return [Triple(*fields) for *fields, _ in found]


def check(db: Database) -> list[str]:
    """Return a sentence for each triple whose memory or entities are missing."""
    loose = db.rows(
        "SELECT id FROM triple WHERE memory NOT IN (SELECT row FROM memory)"
        " OR subject NOT IN (SELECT id FROM entity) OR object NOT IN (SELECT id FROM entity)"
    )
    return [f"triple {number} hangs loose" for (number,) in loose]


def predicate_of(name: str) -> str:
    """Return a relation's name in the form in which it is stored.

    >>> predicate_of("Payment  Terms")
    'payment_terms'
    """
    return "_".join(name.lower().replace("-", " ").split())
