"""Triples, aliases and blocks as they stand in a store's tables, read and written as they are.

SQL only; whether something belongs there is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hippocampus.facts.claims import key
from hippocampus.facts.models import EVERY_AGENT, Block, Triple
from hippocampus.facts.triples import ADD

if TYPE_CHECKING:
    from hippocampus.facts.fact_tables import Rooms
    from hippocampus.facts.store import Facts

ALIASES = """
    SELECT entity.agent, entity.name, entity_name.key
    FROM entity_name JOIN entity ON entity.id = entity_name.entity
    WHERE (? OR entity.agent = ?) ORDER BY entity.agent, entity.id, entity_name.key
"""
BLOCK = "INSERT OR IGNORE INTO block (agent, scope, key, value, updated) VALUES (?, ?, ?, ?, ?)"


def triples(facts: Facts, agent: str) -> list[Triple]:
    """Return every triple of an agent, oldest first, with its predicate as it is kept."""
    now = _rooms(facts).clock()
    return _rooms(facts).triples.find(agent, "", "", at=now, known=now, history=True)[::-1]


def put_triples(facts: Facts, triples: Sequence[Triple]) -> None:
    """Write the triples of memories that are there, in place of those that their texts gave."""
    rooms = _rooms(facts)
    known = rooms.memories.by_id({each.memory_id for each in triples})
    with rooms.database.transaction():
        rooms.triples.delete(row for row, _ in known.values())
        for triple in triples:
            row, memory = known[triple.memory_id]
            replaced = memory.superseded_by is not None
            values = (
                rooms.triples.entity(memory.agent, triple.subject),
                triple.predicate,
                rooms.triples.entity(memory.agent, triple.object),
                int(triple.negated),
                memory.scope,
                row,
                triple.valid_from,
                None if replaced else triple.valid_until,
                triple.valid_until if replaced else None,
                triple.known_from,
                triple.known_until,
            )
            rooms.database.run(ADD, values)


def aliases(facts: Facts, agent: str) -> list[tuple[str, str, str]]:
    """Return agent, name and other name of each entity that has more than one."""
    rows = _rooms(facts).database.rows(ALIASES, (agent == EVERY_AGENT, agent))
    return [(owner, name, other) for owner, name, other in rows if other != key(name)]


def put_block(facts: Facts, block: Block) -> bool:
    """Write a block with its date, where there is none of its name, and say whether it was."""
    values = (block.agent, block.scope, block.key, block.value, block.updated)
    return bool(_rooms(facts).database.run(BLOCK, values))


def _rooms(facts: Facts) -> Rooms:
    """Return the tables behind a store: this folder is the one other place that reads SQL there."""
    return facts._rooms  # noqa: SLF001 - see above
