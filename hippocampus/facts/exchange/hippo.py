"""hippo's JSON, both ways: an agent's chunks and blocks.

What hippo has no field for (type, tags, origin, the ends of validity, triples) does not travel; our own form
has it.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hippocampus.errors import FactError
from hippocampus.facts.exchange import Bundle, Skip, each_read, memory_of, text_of, vectors
from hippocampus.facts.timestamps import seconds
from hippocampus.storage.facts.memories import agents
from hippocampus.storage.facts.rows import EVERY_AGENT, Block, Memory

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

VERSION = 1
TYPES = {"fact": "fact", "memory": "note"}
"""hippo's kinds, and the type that each becomes where the metadata names none."""
SAME = {
    **{name: name for name in ("id", "kind", "content", "superseded_by")},
    "running_intensity": "intensity",
    "encounter_count": "encounters",
    "access_count": "accesses",
}
"""hippo's fields that a memory has too, and their names there."""
PLAIN = "hippo:metadata"
"""Where metadata that is no JSON object is kept."""


def document(facts: Facts, agent: str) -> dict[str, Any]:
    """Return an agent's memories and blocks as hippo exports them.

    Raises:
        FactError: all agents are asked for, and there are several: hippo's form has one.
    """
    if agent == EVERY_AGENT:
        agent, *others = agents(facts.tables.database) or [facts.agent]
        if others:
            listed = ", ".join([agent, *others])
            raise FactError(f"hippo's form holds one agent; export them one by one: {listed}")
    memories = facts.memories(agent=agent, superseded=True)[::-1]
    rows = facts.tables.vectors_of([memory.id for memory in memories])
    chunks = []
    for memory in memories:
        digest = hashlib.sha256(memory.content.encode()).hexdigest()
        metadata: Any = dict(memory.metadata)
        text = json.dumps(metadata, ensure_ascii=False, separators=(",", ":")) if metadata else None
        chunk = {name: getattr(memory, ours) for name, ours in SAME.items()}
        chunk |= {
            "scope": memory.scope or None,
            "content_hash": digest if memory.kind == "memory" else None,
            "metadata": str(metadata[PLAIN]) if set(metadata) == {PLAIN} else text,
            "embedding_base64": text_of(rows.get(memory.id)),
            "created_at": iso(memory.created),
            "last_accessed_at": iso(memory.accessed),
        }
        chunks.append(chunk)
    return {
        "agentId": agent,
        "version": VERSION,
        "exportedAt": iso(time.time()),
        "blocks": [
            {
                "key": block.key,
                "scope": block.scope or None,
                "updatedAt": iso(block.updated),
                "value": block.value,
            }
            for block in facts.blocks.list(agent=agent)
        ],
        "chunks": chunks,
    }


def bundle(found: Mapping[str, Any], embedding_model: str | None) -> Bundle:
    """Return what an export of hippo holds.

    Its vectors are taken only with the name of their model, which the file does not say; they keep
    their direction and get the length 1.

    Raises:
        FactError: it is of a later version.
    """
    if found.get("version", VERSION) != VERSION:
        raise FactError(f"an export of hippo's version {found['version']!r}; this reads {VERSION}")
    agent, skipped = str(found["agentId"]), list[Skip]()
    chunks = [chunk for chunk in found["chunks"] if isinstance(chunk, dict)]
    created = {chunk.get("id"): chunk.get("created_at") for chunk in chunks}
    memories = each_read(found, "chunks", lambda chunk: _memory(chunk, agent, created), skipped)
    rows = vectors(chunks, skipped)
    if rows and embedding_model is None:
        reason = "vectors of a model that the file does not name"
        skipped.append(Skip(f"{len(rows)} embeddings", reason))
        rows = {}

    def block(record: Mapping[str, Any]) -> Block:
        scope, updated = record.get("scope") or "", seconds(record["updatedAt"])
        return Block(agent, scope, str(record["key"]), str(record["value"]), updated)

    blocks = each_read(found, "blocks", block, skipped)
    return Bundle("hippo", memories, rows, embedding_model, blocks=blocks, skipped=skipped)


def iso(at: float) -> str:
    """Return a time as JavaScript writes it, with more digits only where it has them.

    >>> iso(1770595200.25)
    '2026-02-09T00:00:00.250Z'
    """
    moment = datetime.fromtimestamp(at, tz=UTC)
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def _memory(found: Mapping[str, Any], agent: str, created: Mapping[Any, Any]) -> Memory:
    at, accessed = seconds(found["created_at"]), seconds(found["last_accessed_at"])
    by, metadata = found.get("superseded_by"), found.get("metadata")
    if isinstance(metadata, str):  # hippo keeps any text
        try:
            metadata = json.loads(metadata)
        except ValueError:
            metadata = None
        metadata = metadata if isinstance(metadata, dict) else {PLAIN: found["metadata"]}
    ended = None if by is None else seconds(created.get(by) or accessed)
    same = {ours: found[name] for name, ours in SAME.items() if name != "superseded_by"}
    return memory_of(
        at,
        **{**same, "id": str(found["id"])},
        type=TYPES[found["kind"]],
        agent=agent,
        scope=found.get("scope") or "",
        accessed=accessed,
        valid_until=ended,
        known_until=ended,
        superseded_by=by,
        metadata=metadata or {},
    )
