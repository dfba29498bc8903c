"""hippo's JSON, both ways: an agent's chunks and blocks.

What hippo has no field for (type, tags, origin, the ends of validity) travels in the metadata under
`hippocampus`. What `compact` took away and triples do not travel.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hippocampus.facts.errors import FactError
from hippocampus.facts.exchange.bundle import Bundle, Skip, alike
from hippocampus.facts.exchange.ours import text_of, vector
from hippocampus.facts.models import Block, Memory, Origin
from hippocampus.facts.timestamps import seconds

if TYPE_CHECKING:
    import numpy as np

    from hippocampus.facts.store import Facts

VERSION = 1
KINDS = {"fact": "fact", "memory": "note"}
"""hippo's kinds, and the type that each becomes where the metadata names none."""
EVERYBODY = "*"
EXTRA = "hippocampus"
PLAIN = "text"
"""Where metadata that is no JSON object is kept."""


def document(facts: Facts, agent: str) -> dict[str, Any]:
    """Return an agent's memories and blocks as hippo exports them.

    Raises:
        FactError: all agents are asked for, and there are several: hippo's form has one.

    """
    agent = _only(facts) if agent == EVERYBODY else agent
    memories = facts.memories(agent=agent, superseded=True)[::-1]
    vectors = facts.embeddings([each.id for each in memories])
    return {
        "agentId": agent,
        "version": VERSION,
        "exportedAt": iso(time.time()),
        "blocks": [_block_written(each) for each in facts.blocks.list(agent=agent)],
        "chunks": [_written(each, vectors.get(each.id)) for each in memories],
    }


def _only(facts: Facts) -> str:
    agents = list(facts.agents())
    if len(agents) > 1:
        told = "hippo's form holds one agent; export them one by one"
        raise FactError(f"{told}: {', '.join(agents)}")
    return agents[0] if agents else facts.agent


def is_one(found: Any) -> bool:
    """Return whether a JSON value is an export of hippo."""
    return isinstance(found, dict) and "agentId" in found and isinstance(found.get("chunks"), list)


def bundle(found: Mapping[str, Any], embedding_model: str | None) -> Bundle:
    """Return what an export of hippo holds.

    Its vectors are taken only with the name of their model, which the file does not say; they keep
    their direction and get the length 1.

    Raises:
        FactError: it is of a later version.

    """
    if found.get("version", VERSION) != VERSION:
        raise FactError(f"an export of hippo's version {found['version']!r}; this reads {VERSION}")
    agent, skipped = str(found["agentId"]), []
    ends = {
        each.get("id"): each.get("created_at") for each in found["chunks"] if isinstance(each, dict)
    }
    memories: dict[str, Memory] = {}
    rows: dict[str, Any] = {}
    for number, each in enumerate(found["chunks"]):
        try:
            memory = _memory(each, agent, ends, embedding_model)
        except (AttributeError, FactError, KeyError, TypeError, ValueError) as wrong:
            skipped.append(Skip(f"chunks[{number}]", f"cannot be read: {wrong}"))
        else:
            memories[memory.id] = memory
            rows[memory.id] = vector(each.get("embedding_base64") or "")
    vectors, odd = _vectors(rows, embedding_model)
    blocks = [_block(each, agent) for each in found.get("blocks") or []]
    return Bundle(
        "hippo",
        [*memories.values()],
        vectors,
        embedding_model,
        blocks=blocks,
        skipped=[*skipped, *odd],
    )


def _vectors(
    rows: Mapping[str, Any], embedding_model: str | None
) -> tuple[dict[str, Any], list[Skip]]:
    """Return the vectors that can be used; none where their model is not named."""
    found, odd = alike({key: row for key, row in rows.items() if row is not None and row.size})
    if found and embedding_model is None:
        told = "vectors of a model that the file does not name"
        return {}, [*odd, Skip(f"{len(found)} embeddings", told)]
    return found, odd


def iso(at: float) -> str:
    """Return a time as JavaScript writes it, with more digits only where it has them.

    >>> iso(1770595200.25)
    '2026-02-09T00:00:00.250Z'
    """
    moment = datetime.fromtimestamp(at, tz=UTC)
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def _written(memory: Memory, row: np.ndarray[Any, Any] | None) -> dict[str, Any]:
    digest = hashlib.sha256(memory.content.encode()).hexdigest()
    return {
        "id": memory.id,
        "kind": memory.kind,
        "scope": memory.scope or None,
        "content": memory.content,
        "content_hash": digest if memory.kind == "memory" else None,
        "metadata": _metadata_written(memory),
        "embedding_base64": "" if row is None else text_of(row),
        "running_intensity": memory.intensity,
        "encounter_count": memory.encounters,
        "access_count": memory.accesses,
        "created_at": iso(memory.created),
        "last_accessed_at": iso(memory.accessed),
        "superseded_by": memory.superseded_by,
    }


def _metadata_written(memory: Memory) -> str | None:
    """Return the metadata as JSON text, with our own fields where they say something."""
    extra = {key: value for key, value in _ours(memory).items() if value != _plain(memory)[key]}
    metadata = dict(memory.metadata)
    if not extra and set(metadata) == {PLAIN}:
        return str(metadata[PLAIN])
    if extra:
        metadata[EXTRA] = extra
    return json.dumps(metadata, ensure_ascii=False) if metadata else None


def _ours(memory: Memory) -> dict[str, Any]:
    return {
        "type": memory.type,
        "tags": list(memory.tags),
        "origin": asdict(memory.origin),
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until if memory.superseded_by is None else None,
        "raw": memory.raw,
    }


def _plain(memory: Memory) -> dict[str, Any]:
    """Return what our own fields are in a memory of which nothing more is known."""
    return {
        "type": KINDS[memory.kind],
        "tags": [],
        "origin": asdict(Origin()),
        "valid_from": memory.created,
        "valid_until": None,
        "raw": "",
    }


def _memory(
    found: Mapping[str, Any], agent: str, created: Mapping[Any, Any], embedding_model: str | None
) -> Memory:
    at = seconds(found["created_at"])
    metadata = _metadata(found.get("metadata"))
    extra = metadata.pop(EXTRA, {})
    by = found.get("superseded_by")
    ended = None if by is None else seconds(created.get(by) or found["last_accessed_at"])
    return Memory(
        id=str(found["id"]),
        kind=found["kind"],
        type=extra.get("type", KINDS[found["kind"]]),
        content=str(found["content"]),
        intensity=float(found["running_intensity"]),
        agent=agent,
        scope=found.get("scope") or "",
        tags=tuple(extra.get("tags", ())),
        origin=Origin(**extra.get("origin", {})),
        created=at,
        accessed=seconds(found["last_accessed_at"]),
        accesses=int(found["access_count"]),
        encounters=int(found["encounter_count"]),
        valid_from=extra.get("valid_from", at),
        valid_until=extra.get("valid_until", ended),
        known_until=ended,
        superseded_by=by,
        removed=None,
        embedding_model=embedding_model if found.get("embedding_base64") else None,
        raw=extra.get("raw", ""),
        metadata=metadata,
    )


def _metadata(told: Any) -> dict[str, Any]:
    """Return metadata as an object, whatever text hippo was given."""
    if told is None or isinstance(told, dict):
        return dict(told or {})
    try:
        found = json.loads(told)
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {PLAIN: told}


def _block_written(block: Block) -> dict[str, Any]:
    return {
        "key": block.key,
        "scope": block.scope or None,
        "updatedAt": iso(block.updated),
        "value": block.value,
    }


def _block(found: Mapping[str, Any], agent: str) -> Block:
    return Block(
        agent,
        found.get("scope") or "",
        str(found["key"]),
        str(found["value"]),
        seconds(found["updatedAt"]),
    )
