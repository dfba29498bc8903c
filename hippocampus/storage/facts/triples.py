"""The relations that facts state, in SQL: true while their facts are. Which fact ends another is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.entries.entry import storable
from hippocampus.storage.database import Database
from hippocampus.storage.facts.memories import NUMBERS, also_found_by, listed
from hippocampus.storage.facts.rows import EVERY_AGENT, Memory, Relation, Triple

COLUMNS = """
    SELECT subject, predicate, object, memory.id, triple.memory
    FROM triple JOIN memory ON memory.row = triple.memory
"""
ADD = """
    INSERT INTO triple (agent, scope, subject, subject_key, predicate, object, object_key, memory)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
RIVALS = """
    SELECT triple.memory FROM triple JOIN memory ON memory.row = triple.memory
    WHERE triple.agent = ? AND triple.scope = ? AND subject_key = ? AND predicate = ?
        AND object_key != ? AND superseded_by IS NULL
        AND (known_until IS NULL OR removed IN ('faded', 'old'))
    ORDER BY triple.id DESC LIMIT 200
"""
"""What faded is weak, and not untrue."""


def add(db: Database, row: int, memory: Memory, stated: Relation | Triple) -> None:
    """Write a relation that a memory states; a query finds the memory by its words too."""
    subject_key, object_key = db.text.key(stated.subject), db.text.key(stated.object)
    names = " ".join(name for name in (subject_key, object_key) if name != "user")
    known = set(db.text.words(memory.content))
    spelled = db.text.words(f"{stated.predicate.replace('_', ' ')} {names}")
    if more := dict.fromkeys(word for word in spelled if word not in known):
        also_found_by(db, row, " ".join(more))
    subject, value = storable(stated.subject.strip()), storable(stated.object.strip())
    place = (memory.agent, memory.scope)
    db.run(ADD, (*place, subject, subject_key, stated.predicate, value, object_key, row))


def rivals(db: Database, agent: str, scope: str, relation: Relation) -> list[int]:
    """Return the rows that are not replaced and give another value for the same subject and predicate."""
    subject_key, object_key = db.text.key(relation.subject), db.text.key(relation.object)
    found = db.rows(RIVALS, (agent, scope, subject_key, relation.predicate, object_key))
    return [row for (row,) in found]


def of_rows(db: Database, rows: Iterable[int]) -> dict[int, tuple[Triple, ...]]:
    """Return the triples of memories, by row."""
    found = db.rows(
        f"{COLUMNS} WHERE triple.memory IN {NUMBERS} ORDER BY triple.id", (listed(rows),)
    )
    by_row: dict[int, tuple[Triple, ...]] = {}
    for *fields, row in found:
        by_row[row] = (*by_row.get(row, ()), Triple(*fields))
    return by_row


def of_agent(db: Database, agent: str) -> list[Triple]:
    """Return the triples of an agent, those of replaced and removed memories too, oldest first."""
    found = db.rows(
        f"{COLUMNS} WHERE (? OR triple.agent = ?) ORDER BY triple.id", (agent == EVERY_AGENT, agent)
    )
    return [Triple(*fields) for *fields, _ in found]


def predicate_of(name: str) -> str:
    """Return a relation's name in the form in which it is stored.

    >>> predicate_of("Payment  Terms")
    'payment_terms'
    """
    return "_".join(name.lower().replace("-", " ").split())
