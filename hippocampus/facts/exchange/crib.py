"""A database of crib: entries become memories, relations become facts with their triples.

It is opened only for reading. Its vectors are left out: the file does not name their model.
"""

from __future__ import annotations

import uuid
from pathlib import Path

from hippocampus.errors import FactError
from hippocampus.facts.exchange import Bundle, Skip, memory_of
from hippocampus.facts.timestamps import optional_seconds, seconds
from hippocampus.storage.facts.rows import Triple
from hippocampus.storage.foreign_databases import crib_rows

FROM = {"from": "crib"}


def bundle(path: Path, agent: str) -> Bundle:
    """Return the memories and triples of a database of crib.

    Raises:
        FactError: the file is a database of another program.
        StoreError: it cannot be read.
    """
    found = crib_rows(path)
    if found is None:
        raise FactError(f"{path} is no database of crib")
    memories, triples = [], []
    for number, kind, content, created in found.entries:
        at = seconds(created)
        named = {"id": _id("entry", number, content), "kind": "memory", "type": kind}
        memories.append(memory_of(at, **named, content=content, agent=agent, metadata=FROM))
    ids = {
        number: _id("relation", number, *said) for number, *said, _, _, _, _, _ in found.relations
    }
    for row in found.relations:
        number, subject, predicate, obj, valid_from, valid_until, created, raw, follower = row
        at, since, ended = seconds(created), seconds(valid_from), optional_seconds(valid_until)
        content = f"{subject} {predicate.replace('_', ' ')} {obj}"
        by = None if ended is None or follower is None else ids[follower]
        named = {"id": ids[number], "kind": "fact", "type": "fact"}
        times = {"valid_from": since, "valid_until": ended, "known_until": ended}
        said = {"content": content, "raw": "" if raw == content else raw}
        known = {"superseded_by": by, "agent": agent, "metadata": FROM}
        memories.append(memory_of(at, **named, **times, **said, **known))
        triples.append(Triple(subject, predicate, obj, ids[number]))
    reason = "of a model that the file does not name"
    skipped = [Skip("vectors", reason)] if found.has_vectors else []
    return Bundle("crib", memories, triples=triples, skipped=skipped)


def _id(*values: object) -> str:
    """Return the id of a row, which is the same in each import."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\0".join(map(str, values))))
