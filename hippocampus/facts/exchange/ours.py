"""Our own JSON: everything that a store keeps, so that reading it back gives the same store.

    {"format": "hippocampus-memory", "version": 1, "exported_at": …, "embedding_model": …,
     "memories": [{every field of a memory, "embedding_base64"}], "triples": […], "blocks": […]}

Times are seconds since 1970, vectors float32 little-endian in base64.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from hippocampus.errors import FactError, StoreError
from hippocampus.facts.exchange import (
    MEMORY,
    Bundle,
    Imported,
    Skip,
    bring,
    each_read,
    text_of,
    vectors,
)
from hippocampus.facts.timestamps import stamp
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.facts.rows import EVERY_AGENT, Block, Triple

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

FORMAT = "hippocampus-memory"
VERSION = 1


def document(facts: Facts, agent: str) -> dict[str, Any]:
    """Return everything of an agent, of all agents with "*"."""
    db = facts.tables.database
    kept = facts.memories(agent=agent, superseded=True, removed=True)[::-1]
    rows = facts.tables.vectors_of([fact.id for fact in kept]) if facts.tables.has_vectors else {}
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": stamp(time.time()),
        "embedding_model": db.meta("embedding_model"),
        "memories": [
            {
                **asdict(fact),
                "metadata": dict(fact.metadata),
                "embedding_base64": text_of(rows.get(fact.id)) or None,
            }
            for fact in kept
        ],
        "triples": [asdict(triple) for triple in triples.of_agent(db, agent)],
        "blocks": [block._asdict() for block in facts.blocks.list(agent=agent)],
    }


def copy(source: Facts, target: Facts) -> Imported:
    """Copy everything of a store into another one; a copy that the target has not added to is replaced.

    Where the target has memories of its own, all stay, and the missing ones are added.

    Raises:
        StoreError: the copy differs from the source.
    """
    found = document(source, EVERY_AGENT)
    gone, db = memories.forgotten(source.tables.database), target.tables.database
    with db.transaction():
        there = target.memories(agent=EVERY_AGENT, superseded=True, removed=True)
        is_copy = {item.id for item in there} <= {item["id"] for item in found["memories"]} | gone
        if is_copy:
            if target.tables.has_vectors:
                target.tables.vectors.clear()
            memories.clear(db)
        done = bring(target, bundle(found))
        db.insert(memories.FORGOTTEN, [(memory_id,) for memory_id in gone])
        if (
            is_copy
            and not done.skipped
            and _compared(document(target, EVERY_AGENT)) != _compared(found)
        ):
            raise StoreError("facts: the copy differs from the source")
    return done


def _compared(found: dict[str, Any]) -> str:
    """Return what two stores have to have alike, as text: a server writes a NUL out."""
    stated = sorted(map(json.dumps, found["triples"]))
    text = json.dumps([found["memories"], stated, found["blocks"]])
    return text.replace("\\u0000", "\\\\x00")


def bundle(found: Mapping[str, Any]) -> Bundle:
    """Return what an export holds; a record that lacks something is left out and named.

    Raises:
        FactError: it is of a later version.
    """
    if found.get("version") != VERSION:
        raise FactError(f"an export of version {found.get('version')!r}; this reads {VERSION}")
    skipped: list[Skip] = []
    return Bundle(
        "hippocampus",
        each_read(found, "memories", MEMORY.validate_python, skipped),
        vectors(found.get("memories", []), skipped),
        found.get("embedding_model"),
        each_read(found, "triples", TypeAdapter(Triple).validate_python, skipped),
        each_read(found, "blocks", TypeAdapter(Block).validate_python, skipped),
        skipped=skipped,
    )
