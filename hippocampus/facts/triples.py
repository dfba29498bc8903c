"""Entities, their names and their relations in SQL. Which fact ends another is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hippocampus.facts.database import Database, Row
from hippocampus.facts.languages import word_set
from hippocampus.facts.models import EVERY_AGENT, Memory, Triple
from hippocampus.facts.names import Relation, key

COLUMNS = """
    SELECT triple.id, s.name, triple.predicate, o.name, triple.valid_from, triple.until,
        triple.known_from, triple.known_until, memory.id, triple.negated, triple.memory
    FROM triple JOIN entity s ON s.id = triple.subject JOIN entity o ON o.id = triple.object
        JOIN memory ON memory.row = triple.memory
"""
SINGLE = word_set(
    """lives_in works_at employer job title role name age birthday spouse manager owner
    maintainer status state payment_terms storage_backend database deadline due_date
    release_date version port host url domain budget price rent salary email phone address
    city country timezone capital language framework theme editor plan license default_branch
    deploy_target environment"""
)
"""Relations that a caller names and that have one value at a time."""
ADD = """
    INSERT INTO triple (subject, predicate, object, negated, scope, memory, valid_from, valid_until,
        ended, known_from, known_until)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
KNOWN = """
    triple.known_from <= :known AND triple.valid_from <= :at AND (
        triple.until IS NULL OR triple.until > :at
        OR (triple.known_until IS NOT NULL AND triple.known_until > :known)
    ) AND (memory.removed IS NULL OR memory.removed != 'merged')
"""
"""What faded is still related: triples do not fade."""


def entity(db: Database, agent: str, name: str) -> int:
    """Return the number of an entity of that name or alias; make it where there is none."""
    found = known_entity(db, agent, name)
    if found is not None:
        return found
    with db.guarded():
        added = db.connection.execute(
            "INSERT INTO entity (agent, name) VALUES (?, ?)", (agent, name.strip())
        )
        number = int(added.lastrowid or 0)
    db.run("INSERT INTO entity_name VALUES (?, ?, ?)", (agent, key(name), number))
    return number


def known_entity(db: Database, agent: str, name: str) -> int | None:
    """Return the number of an entity of that name or alias, or nothing."""
    found: int | None = db.value(
        "SELECT entity FROM entity_name WHERE agent = ? AND key = ?", (agent, key(name))
    )
    return found


def resolved(db: Database, agent: str, relation: Relation) -> Relation:
    """Return a relation with its entities under the names that they go by."""
    return relation._replace(
        subject=_name(db, agent, relation.subject), object=_name(db, agent, relation.object)
    )


def _name(db: Database, agent: str, name: str) -> str:
    found: str | None = db.value(
        "SELECT name FROM entity_name JOIN entity ON id = entity"
        " WHERE entity_name.agent = ? AND key = ?",
        (agent, key(name)),
    )
    return found or name


def alias(db: Database, agent: str, name: str, other: str) -> None:
    """Let two names be one entity; where both are known, the second becomes the first."""
    with db.transaction():
        kept, gone = entity(db, agent, name), known_entity(db, agent, other)
        db.run("INSERT OR REPLACE INTO entity_name VALUES (?, ?, ?)", (agent, key(other), kept))
        if gone is None or gone == kept:
            return
        db.run("UPDATE entity_name SET entity = ? WHERE entity = ?", (kept, gone))
        db.run("UPDATE triple SET subject = ? WHERE subject = ?", (kept, gone))
        db.run("UPDATE triple SET object = ? WHERE object = ?", (kept, gone))
        db.run("DELETE FROM entity WHERE id = ?", (gone,))


def add(db: Database, row: int, memory: Memory, relation: Relation) -> None:
    """Write a triple that a memory states, for as long as the memory is true."""
    superseded = memory.superseded_by is not None
    subject = entity(db, memory.agent, relation.subject)
    db.run(
        ADD,
        (
            subject,
            relation.predicate,
            entity(db, memory.agent, relation.object),
            0,
            memory.scope,
            row,
            memory.valid_from,
            None if superseded else memory.valid_until,
            memory.valid_until if superseded else None,
            memory.created,
            memory.known_until,
        ),
    )


def rivals(db: Database, memory: Memory, relation: Relation) -> list[tuple[int, str]]:
    """Return the current rows that give a value for the same subject and predicate, with that value."""
    subject = known_entity(db, memory.agent, relation.subject)
    if subject is None:
        return []
    return [
        (row, value)
        for row, value in db.rows(
            "SELECT triple.memory, o.name FROM triple JOIN entity o ON o.id = triple.object"
            " WHERE subject = ? AND scope = ? AND predicate = ? AND known_until IS NULL"
            " ORDER BY triple.id DESC LIMIT 200",
            (subject, memory.scope, relation.predicate),
        )
    ]


def end(db: Database, row: int, until: float, known: float) -> None:
    """Close the triples of a memory."""
    db.run(
        "UPDATE triple SET ended = ?, known_until = ? WHERE memory = ? AND known_until IS NULL",
        (until, known, row),
    )


def reopen(db: Database, rows: Iterable[int]) -> None:
    """Open the triples of memories again."""
    db.run_many(
        "UPDATE triple SET ended = NULL, known_until = NULL WHERE memory = ?",
        [(row,) for row in rows],
    )


def delete(db: Database, rows: Iterable[int]) -> None:
    """Delete the triples of memories for good."""
    db.run_many("DELETE FROM triple WHERE memory = ?", [(row,) for row in rows])


def of_rows(db: Database, rows: Sequence[int]) -> dict[int, tuple[Triple, ...]]:
    """Return the triples of memories, by row."""
    if not rows:
        return {}
    listed = f"[{','.join(map(str, rows))}]"
    found = db.rows(
        f"{COLUMNS} WHERE triple.memory IN (SELECT value FROM json_each(?)) ORDER BY triple.id",  # noqa: S608 - names of ours
        (listed,),
    )
    by_row: dict[int, tuple[Triple, ...]] = {}
    for row in found:
        by_row[row[-1]] = (*by_row.get(row[-1], ()), _triple(row))
    return by_row


def find(  # noqa: PLR0913 - each is one property
    db: Database, agent: str, entity: str, predicate: str, *, at: float, known: float, history: bool
) -> list[Triple]:
    """Return triples, newest first: of an entity, of a predicate, true and known at times."""
    conditions, values = ["1" if history else KNOWN], {"at": at, "known": known}
    found_values: dict[str, object] = dict(values)
    if agent != EVERY_AGENT:
        conditions.append("s.agent = :agent")
        found_values["agent"] = agent
    if predicate:
        conditions.append("triple.predicate = :predicate")
        found_values["predicate"] = predicate
    if entity:
        conditions.append(
            "EXISTS (SELECT 1 FROM entity_name n WHERE n.key = :entity AND n.agent = s.agent"
            " AND n.entity IN (triple.subject, triple.object))"
        )
        found_values["entity"] = key(entity)
    with db.guarded():
        rows = db.connection.execute(
            f"{COLUMNS} WHERE {' AND '.join(conditions)}"
            " ORDER BY triple.valid_from DESC, triple.id DESC",
            found_values,
        ).fetchall()
    return [_triple(row) for row in rows]


def check(db: Database) -> list[str]:
    """Return a sentence for each triple whose memory or entities are missing."""
    loose = db.rows(
        "SELECT id FROM triple WHERE memory NOT IN (SELECT row FROM memory)"
        " OR subject NOT IN (SELECT id FROM entity) OR object NOT IN (SELECT id FROM entity)"
    )
    return [f"triple {number} hangs loose" for (number,) in loose]


def _triple(row: Row) -> Triple:
    number, subject, predicate, value, *times, memory_id, negated, _ = row
    valid_from, valid_until, known_from, known_until = times
    return Triple(
        number,
        subject,
        predicate,
        value,
        valid_from,
        valid_until,
        known_from,
        known_until,
        memory_id,
        bool(negated),
    )


def predicate_of(name: str) -> str:
    """Return a relation's name in the form in which it is stored.

    >>> predicate_of("Payment  Terms")
    'payment_terms'
    """
    return "_".join(name.lower().replace("-", " ").split())
