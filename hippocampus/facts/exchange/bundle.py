"""What a file of any form holds, and how it gets into a store: what is there already stays as it is.

Which file it came from is not known here.
"""

from __future__ import annotations

import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hippocampus.facts.exchange import rows
from hippocampus.facts.models import Action, Block, Item, Memory, Triple
from hippocampus.facts.names import key

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts


@dataclass(frozen=True, slots=True)
class Skip:
    """One thing that was not brought in, and why."""

    what: str
    """Its id, its key, or its first words."""
    reason: str


@dataclass(frozen=True, slots=True)
class Said:
    """A relation that a line says."""

    subject: str
    predicate: str
    object: str
    at: float | None = None
    """From when it is true; None is the clock's time."""

    def __str__(self) -> str:
        """Return it as it stands in a line."""
        return f"{self.subject} → {self.predicate} → {self.object}"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What one file holds."""

    source: str
    """Which form it has: `hippocampus`, `hippo`, `crib` or `markdown`."""
    memories: Sequence[Memory] = ()
    embeddings: Mapping[str, Any] = field(default_factory=dict)
    embedding_model: str | None = None
    triples: Sequence[Triple] = ()
    aliases: Sequence[tuple[str, str, str]] = ()
    """Agent, name and other name of one entity."""
    blocks: Sequence[Block] = ()
    items: Sequence[tuple[str, Item]] = ()
    """Agent and text of what has no id of its own and is remembered like anything said."""
    relations: Sequence[tuple[str, Said]] = ()
    """Agent and relation of the same."""
    skipped: Sequence[Skip] = ()


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    source: str
    memories: int
    triples: int
    blocks: int
    embeddings: int
    skipped: tuple[Skip, ...]


def bring(facts: Facts, bundle: Bundle, agent: str | None = None) -> Imported:
    """Write what a bundle holds and the store does not; with `agent`, as that agent's."""
    bundle = bundle if agent is None else _owned(bundle, agent)
    fresh, known = _unknown(facts, bundle)
    embeddings = {
        each.id: bundle.embeddings[each.id] for each in fresh if each.id in bundle.embeddings
    }
    facts.import_memories(fresh, embeddings, bundle.embedding_model)
    fresh_ids = {each.id for each in fresh}
    triples = [each for each in bundle.triples if each.memory_id in fresh_ids]
    rows.put_triples(facts, triples)
    for owner, name, other in bundle.aliases:
        facts.alias(name, other, agent=owner)
    blocks, held = _blocks(facts, bundle.blocks)
    remembered, repeated = _remembered(facts, bundle.items)
    related, told = _related(facts, bundle.relations)
    return Imported(
        bundle.source,
        len(fresh) + remembered + related,
        len(triples) + related,
        blocks,
        len(embeddings),
        (*bundle.skipped, *known, *held, *repeated, *told),
    )


def _owned(bundle: Bundle, agent: str) -> Bundle:
    return replace(
        bundle,
        memories=[replace(each, agent=agent) for each in bundle.memories],
        blocks=[replace(each, agent=agent) for each in bundle.blocks],
        aliases=[(agent, name, other) for _, name, other in bundle.aliases],
        items=[(agent, item) for _, item in bundle.items],
        relations=[(agent, said) for _, said in bundle.relations],
    )


def _unknown(facts: Facts, bundle: Bundle) -> tuple[list[Memory], list[Skip]]:
    """Return the memories whose ids the store does not have, and why the others are left out."""
    fresh: dict[str, Memory] = {}
    skipped = []
    for memory in bundle.memories:
        if memory.id in fresh or facts.get(memory.id) is not None:
            skipped.append(Skip(memory.id, "a memory of this id is there"))
        else:
            fresh[memory.id] = memory
    return list(fresh.values()), skipped


def _blocks(facts: Facts, blocks: Sequence[Block]) -> tuple[int, list[Skip]]:
    held = [block for block in blocks if not rows.put_block(facts, block)]
    skipped = [Skip(block.key, "a block of this name is there") for block in held]
    return len(blocks) - len(skipped), skipped


def _remembered(facts: Facts, items: Sequence[tuple[str, Item]]) -> tuple[int, list[Skip]]:
    """Remember texts that no memory of the agent has word by word."""
    skipped: list[Skip] = []
    added = 0
    for agent in dict.fromkeys(owner for owner, _ in items):
        known = {
            each.content for each in facts.memories(agent=agent, superseded=True, removed=True)
        }
        fresh = [item for owner, item in items if owner == agent and item.content not in known]
        skipped += [
            Skip(item.content, "the text is known")
            for owner, item in items
            if owner == agent and item.content in known
        ]
        outcomes = facts.remember_many(fresh, agent=agent)
        left_out = [each for each in outcomes if each.action not in WRITTEN]
        skipped += [
            Skip(each.memory.content if each.memory else "", each.reason) for each in left_out
        ]
        added += len(outcomes) - len(left_out)
    return added, skipped


def _related(facts: Facts, relations: Sequence[tuple[str, Said]]) -> tuple[int, list[Skip]]:
    """Remember relations that the agent does not know and never knew."""
    skipped = []
    for agent, said in relations:
        past = facts.triples(said.subject, predicate=said.predicate, agent=agent, history=True)
        if key(said.object) in {key(each.object) for each in past}:
            skipped.append(Skip(str(said), "the relation is known"))
        else:
            facts.remember_triple(
                said.subject, said.predicate, said.object, at=said.at, agent=agent
            )
    return len(relations) - len(skipped), skipped


WRITTEN = frozenset({Action.ADDED, Action.SUPERSEDED, Action.KEPT_APART})


def alike(
    vectors: Mapping[str, Any],
) -> tuple[dict[str, Any], list[Skip]]:
    """Return the vectors of the length that most have, and those of another as left out."""
    if not vectors:
        return {}, []
    (length, _), *_ = Counter(len(row) for row in vectors.values()).most_common(1)
    odd = {
        each for each, row in vectors.items() if len(row) != length or not np.isfinite(row).all()
    }
    kept = {each: row for each, row in vectors.items() if each not in odd}
    return kept, [Skip(f"embedding of {each}", f"is no vector of {length} numbers") for each in odd]


def steady_id(at: float, *told: object) -> str:
    """Return the id that something without one always gets: it sorts by time as ours do."""
    digest = hashlib.sha256("\0".join(map(str, told)).encode("utf-8", "surrogatepass")).digest()
    chance = int.from_bytes(digest[:10]) & ((1 << 74) - 1)
    milliseconds = max(0, round(at * 1000)) & ((1 << 48) - 1)
    value = (
        milliseconds << 80 | 7 << 76 | (chance >> 62) << 64 | 2 << 62 | (chance & ((1 << 62) - 1))
    )
    return str(uuid.UUID(int=value))
