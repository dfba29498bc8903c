"""A database of crib: entries become memories, relations become facts with their triples.

It is opened only for reading. Its vectors are left out: the file does not name their model.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus.facts.exchange.bundle import Bundle, Skip, memory_of, steady_id
from hippocampus.facts.models import Outcome
from hippocampus.facts.pasted import own_words
from hippocampus.facts.sentences import sentences
from hippocampus.facts.statements import read
from hippocampus.facts.timestamps import optional_seconds, seconds
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.models import Triple
from hippocampus.storage.foreign_databases import crib_rows

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

FROM = {"from": "crib"}


def bundle(path: Path, agent: str) -> Bundle:
    """Return what a database of crib holds.

    Raises:
        FactError: it is a database of something else.
        StoreError: it cannot be read.
    """
    found = crib_rows(path)
    if found is None:
        raise FactError(f"{path} is no database of crib")
    memories, triples = [], []
    for number, kind, content, created in found.entries:
        at = seconds(created)
        named = {"id": steady_id(at, "crib entry", number, content), "kind": "memory", "type": kind}
        memories.append(memory_of(at, **named, content=content, agent=agent, metadata=FROM))
    ids = {row[0]: steady_id(seconds(row[6]), "crib relation", *row[:4]) for row in found.relations}
    for row in found.relations:  # each is a fact and its triple
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


def written(
    facts: Facts, text: str, type_name: str, scope: str, *, extracts: bool
) -> list[Outcome]:
    """Keep a text word by word, and what it states as facts: a model's where it `extracts`, else by its words."""
    kept = facts.store(text, type=type_name, scope=scope)
    said = sentences(own_words(text))
    claims = [text] if extracts else [sentence for sentence in said if read(sentence).may_end]
    source = {} if kept.memory is None else {"written": kept.memory.id}
    stated = [facts.remember(claim, scope=scope, metadata=source) for claim in claims]
    return [kept, *(outcome for outcomes in stated for outcome in outcomes)]
