"""Our own JSON: everything that a store keeps, so that reading it back gives the same store.

    {"format": "hippocampus-memory", "version": 1, "exported_at": …, "embedding_model": …,
     "memories": [{every field of a memory, "embedding_base64"}], "triples": […], "aliases": […],
     "blocks": […]}

Times are seconds since 1970, vectors float32 little-endian in base64.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from hippocampus.facts.exchange.bundle import MEMORY, Bundle, Skip, each_read, text_of, vectors
from hippocampus.facts.timestamps import stamp
from hippocampus.facts.words import key
from hippocampus.storage.facts import triples
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.models import Block, Triple

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

FORMAT = "hippocampus-memory"
VERSION = 1


def document(facts: Facts, agent: str) -> dict[str, Any]:
    """Return everything of an agent, of all agents with "*"."""
    db = facts.tables.database
    memories = facts.memories(agent=agent, superseded=True, removed=True)[::-1]
    rows = facts.tables.vectors_of([each.id for each in memories])
    stated = triples.related(db, agent, at=0.0, known=0.0, history=True)[::-1]
    aliases = triples.aliases(db, agent)
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": stamp(time.time()),
        "embedding_model": db.meta("embedding_model"),
        "memories": [
            {
                **asdict(each),
                "metadata": dict(each.metadata),
                "embedding_base64": text_of(rows.get(each.id)) or None,
            }
            for each in memories
        ],
        "triples": [asdict(each) for each in stated],
        "aliases": [list(each) for each in aliases if each[2] != key(each[1])],
        "blocks": [block._asdict() for block in facts.blocks.list(agent=agent)],
    }


def bundle(found: Mapping[str, Any]) -> Bundle:
    """Return what an export holds; a record that lacks something is left out and named.

    Raises:
        FactError: it is of a later version.

    """
    if found.get("version") != VERSION:
        raise FactError(f"an export of version {found.get('version')!r}; this reads {VERSION}")
    skipped: list[Skip] = []
    alias = TypeAdapter(tuple[str, str, str])
    return Bundle(
        "hippocampus",
        each_read(found, "memories", MEMORY.validate_python, skipped),
        vectors(found.get("memories", []), skipped),
        found.get("embedding_model"),
        each_read(found, "triples", _triple, skipped),
        each_read(found, "aliases", alias.validate_python, skipped),
        each_read(found, "blocks", TypeAdapter(Block).validate_python, skipped),
        skipped=skipped,
    )


def _triple(found: Any) -> Triple:
    if found.get("negated"):  # of an earlier version
        raise FactError("it is a denial, which the text of its fact has")
    return TypeAdapter(Triple).validate_python(found)
