"""Our own JSON: everything that a store keeps, so that reading it back gives the same store.

    {"format": "hippocampus-memory", "version": 1, "exported_at": …, "embedding_model": …,
     "memories": [{every field of a memory, "embedding_base64"}], "triples": […], "aliases": […],
     "blocks": […]}

Times are seconds since 1970, vectors float32 little-endian in base64.
"""

from __future__ import annotations

import base64
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from hippocampus.facts.errors import FactError
from hippocampus.facts.exchange import rows
from hippocampus.facts.exchange.bundle import Bundle, Skip, alike
from hippocampus.facts.models import Block, Memory, Origin, Triple
from hippocampus.facts.timestamps import stamp

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

FORMAT = "hippocampus-memory"
VERSION = 1


def document(facts: Facts, agent: str) -> dict[str, Any]:
    """Return everything of an agent, of all agents with "*"."""
    memories = facts.memories(agent=agent, superseded=True, removed=True)[::-1]
    vectors = facts.embeddings([each.id for each in memories])
    return {
        "format": FORMAT,
        "version": VERSION,
        "exported_at": stamp(time.time()),
        "embedding_model": facts.stats().embedding_model,
        "memories": [_written(each, vectors.get(each.id)) for each in memories],
        "triples": [asdict(each) for each in rows.triples(facts, agent)],
        "aliases": [list(each) for each in rows.aliases(facts, agent)],
        "blocks": [asdict(each) for each in facts.blocks.list(agent=agent)],
    }


def is_one(found: Any) -> bool:
    """Return whether a JSON value is an export of ours."""
    return isinstance(found, dict) and found.get("format") == FORMAT


def bundle(found: Mapping[str, Any]) -> Bundle:
    """Return what an export holds; a record that lacks something is left out and named.

    Raises:
        FactError: it is of a later version.

    """
    if found.get("version") != VERSION:
        raise FactError(f"an export of version {found.get('version')!r}; this reads {VERSION}")
    skipped: list[Skip] = []
    memories = _each(found, "memories", _memory, skipped)
    vectors = {
        each["id"]: vector(each["embedding_base64"])
        for each in found.get("memories", [])
        if isinstance(each, dict) and each.get("embedding_base64") and "id" in each
    }
    kept, odd = alike({key: row for key, row in vectors.items() if row is not None})
    skipped += odd
    return Bundle(
        "hippocampus",
        memories,
        kept,
        found.get("embedding_model"),
        _each(found, "triples", lambda each: Triple(**each), skipped),
        _each(found, "aliases", _alias, skipped),
        _each(found, "blocks", lambda each: Block(**each), skipped),
        skipped=skipped,
    )


def text_of(row: np.ndarray[Any, Any]) -> str:
    """Return a vector as base64 of float32, little-endian."""
    return base64.b64encode(np.ascontiguousarray(row, "<f4").tobytes()).decode()


def vector(text: str) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    """Return the vector of a base64 text, or nothing where it holds none."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
    except (ValueError, TypeError):
        return None


def _written(memory: Memory, row: np.ndarray[Any, Any] | None) -> dict[str, Any]:
    return {
        **asdict(memory),
        "metadata": dict(memory.metadata),
        "embedding_base64": None if row is None else text_of(row),
    }


def _memory(found: Mapping[str, Any]) -> Memory:
    fields = {key: value for key, value in found.items() if key != "embedding_base64"}
    fields["origin"] = Origin(**fields["origin"])
    fields["tags"] = tuple(fields["tags"])
    return Memory(**fields)


def _alias(found: Any) -> tuple[str, str, str]:
    agent, name, other = found
    return str(agent), str(name), str(other)


def _each(found: Mapping[str, Any], key: str, read: Any, skipped: list[Skip]) -> list[Any]:
    """Read each record of a list, and note those that cannot be read."""
    kept = []
    for number, each in enumerate(found.get(key) or []):
        try:
            kept.append(read(each))
        except (AttributeError, KeyError, TypeError, ValueError) as wrong:
            skipped.append(Skip(f"{key}[{number}]", f"cannot be read: {wrong}"))
    return kept
