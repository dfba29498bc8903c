"""The contents of a file of any form, and how they get into a store: known ones stay as they are.

Which file it came from is not known here.
"""

from __future__ import annotations

import base64
import hashlib
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from pydantic import TypeAdapter

from hippocampus.errors import MALFORMED
from hippocampus.facts import memories, triples
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import WRITTEN, Block, Item, Memory, Triple
from hippocampus.facts.words import key

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

MEMORY = TypeAdapter(Memory)
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class Skip:
    """One thing that was not brought in, and why."""

    what: str
    """Its id, its key, or its first words."""
    reason: str


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
    agent: str = ""
    """Whose items and relations they are."""
    items: Sequence[Item] = ()
    """What has no id of its own and is remembered like anything said."""
    relations: Sequence[tuple[str, str, str, float | None]] = ()
    """The same for relations: subject, predicate, object, and from when it is true."""
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
    if agent is not None:
        bundle = replace(
            bundle,
            agent=agent,
            memories=[replace(each, agent=agent) for each in bundle.memories],
            blocks=[replace(each, agent=agent) for each in bundle.blocks],
            aliases=[(agent, name, other) for _, name, other in bundle.aliases],
        )
    db, skipped = facts.tables.database, list(bundle.skipped)
    outcomes = facts.import_memories(bundle.memories, bundle.embeddings, bundle.embedding_model)
    added = {each.memory.id for each in outcomes if each.memory and each.action in WRITTEN}
    refused = [each for each in outcomes if each.action not in WRITTEN]
    skipped += [Skip(each.memory.id, each.reason) for each in refused if each.memory]
    # The triples of the file take the place of those that the texts gave.
    stated = [each for each in bundle.triples if each.memory_id in added]
    known = memories.by_id(db, {each.memory_id for each in stated})
    with db.transaction():
        db.run_many("DELETE FROM triple WHERE memory = ?", [(row,) for row, _ in known.values()])
        for triple in stated:
            triples.add(db, *known[triple.memory_id], triple)
    for owner, name, other in bundle.aliases:
        facts.alias(name, other, agent=owner)
    put = "INSERT OR IGNORE INTO block (agent, scope, key, value, updated) VALUES (?, ?, ?, ?, ?)"
    held = [each for each in bundle.blocks if not db.run(put, astuple(each))]
    skipped += [Skip(block.key, "a block of this name is there") for block in held]
    remembered = _remembered(facts, bundle, skipped)
    related = _related(facts, bundle, skipped)
    return Imported(
        bundle.source,
        len(added) + remembered + related,
        len(stated) + related,
        len(bundle.blocks) - len(held),
        len(added.intersection(bundle.embeddings)),
        tuple(skipped),
    )


def _remembered(facts: Facts, bundle: Bundle, skipped: list[Skip]) -> int:
    """Remember texts that no memory of the agent has word by word, and return how many were new."""
    if not bundle.items:
        return 0
    there = facts.memories(agent=bundle.agent, superseded=True, removed=True)
    known = {each.content for each in there}
    fresh = [item for item in bundle.items if item.content not in known]
    skipped += [
        Skip(each.content, "the text is known") for each in bundle.items if each.content in known
    ]
    outcomes = facts.remember_many(fresh, agent=bundle.agent)
    left_out = [each for each in outcomes if each.action not in WRITTEN]
    skipped += [Skip(each.memory.content if each.memory else "", each.reason) for each in left_out]
    return len(outcomes) - len(left_out)


def _related(facts: Facts, bundle: Bundle, skipped: list[Skip]) -> int:
    """Remember relations that the agent does not know and never knew, and return how many."""
    agent, number = bundle.agent, 0
    for subject, predicate, value, at in bundle.relations:
        past = facts.triples(subject, predicate=predicate, agent=agent, history=True)
        if key(value) in {key(each.object) for each in past}:
            skipped.append(Skip(f"{subject} → {predicate} → {value}", "the relation is known"))
        else:
            facts.remember_triple(subject, predicate, value, at=at, agent=agent)
            number += 1
    return number


# For the readers of the forms


def each_read(
    found: Mapping[str, Any], name: str, read: Callable[[Any], Record], skipped: list[Skip]
) -> list[Record]:
    """Read each record of a list, and note those that cannot be read."""
    kept = []
    for number, each in enumerate(found.get(name) or []):
        try:
            kept.append(read(each))
        except (*MALFORMED, FactError) as wrong:
            skipped.append(Skip(f"{name}[{number}]", f"cannot be read: {wrong}"))
    return kept


def text_of(row: np.ndarray[Any, Any] | None) -> str:
    """Return a vector as base64 of float32, little-endian; empty for none."""
    return "" if row is None else base64.b64encode(np.asarray(row, "<f4").tobytes()).decode()


def vectors(records: Iterable[Any], skipped: list[Skip]) -> dict[str, Any]:
    """Return the vectors of records by id, of the length that most have; note those of another."""
    found = {
        str(each["id"]): row
        for each in records
        if isinstance(each, dict) and "id" in each
        if (row := _vector(each.get("embedding_base64"))) is not None
    }
    lengths = Counter(len(row) for row in found.values()).most_common(1)
    kept = {each: row for each, row in found.items() if len(row) == lengths[0][0]}
    kept = {each: row for each, row in kept.items() if np.isfinite(row).all()}
    skipped += [
        Skip(f"embedding of {each}", f"is no vector of {lengths[0][0]} numbers")
        for each in found.keys() - kept.keys()
    ]
    return kept


def _vector(text: Any) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    try:
        row = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except (ValueError, TypeError):
        return None
    return row if row.size else None


def steady_id(at: float, *values: object) -> str:
    """Return the id that something without one always gets: it sorts by time as ours do."""
    digest = hashlib.sha256("\0".join(map(str, values)).encode("utf-8", "surrogatepass")).digest()
    chance = int.from_bytes(digest[:10]) & ((1 << 74) - 1)
    milliseconds = max(0, round(at * 1000)) & ((1 << 48) - 1)
    value = (
        milliseconds << 80 | 7 << 76 | (chance >> 62) << 64 | 2 << 62 | (chance & ((1 << 62) - 1))
    )
    return str(uuid.UUID(int=value))
