"""Triples, aliases and blocks as they stand in a store's tables, read and written as they are.

SQL only; whether something belongs there is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hippocampus.facts import memories
from hippocampus.facts import triples as related
from hippocampus.facts.models import EVERY_AGENT, Block, Triple
from hippocampus.facts.names import key
from hippocampus.facts.triples import ADD

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

ALIASES = """
    SELECT entity.agent, entity.name, entity_name.key
    FROM entity_name JOIN entity ON entity.id = entity_name.entity
    WHERE (? OR entity.agent = ?) ORDER BY entity.agent, entity.id, entity_name.key
"""
BLOCK = "INSERT OR IGNORE INTO block (agent, scope, key, value, updated) VALUES (?, ?, ?, ?, ?)"


def triples(facts: Facts, agent: str) -> list[Triple]:
    """Return every triple of an agent, oldest first, with its predicate as it is kept."""
    now, db = facts.tables.clock(), facts.tables.database
    return related.find(db, agent, "", "", at=now, known=now, history=True)[::-1]


def put_triples(facts: Facts, triples: Sequence[Triple]) -> None:
    """Write the triples of memories that are there, in place of those that their texts gave."""
    db = facts.tables.database
    known = memories.by_id(db, {each.memory_id for each in triples})
    with db.transaction():
        related.delete(db, [row for row, _ in known.values()])
        for triple in triples:
            row, memory = known[triple.memory_id]
            replaced = memory.superseded_by is not None
            values = (
                related.entity(db, memory.agent, triple.subject),
                triple.predicate,
                related.entity(db, memory.agent, triple.object),
                int(triple.negated),
                memory.scope,
                row,
                triple.valid_from,
                None if replaced else triple.valid_until,
                triple.valid_until if replaced else None,
                triple.known_from,
                triple.known_until,
            )
            db.run(ADD, values)


def aliases(facts: Facts, agent: str) -> list[tuple[str, str, str]]:
    """Return agent, name and other name of each entity that has more than one."""
    rows = facts.tables.database.rows(ALIASES, (agent == EVERY_AGENT, agent))
    return [(owner, name, other) for owner, name, other in rows if other != key(name)]


def put_block(facts: Facts, block: Block) -> bool:
    """Write a block with its date, where there is none of its name, and return whether it was written."""
    values = (block.agent, block.scope, block.key, block.value, block.updated)
    return bool(facts.tables.database.run(BLOCK, values))
