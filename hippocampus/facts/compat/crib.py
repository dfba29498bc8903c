"""A database of crib: entries become memories, relations become facts with their triples.

It is opened for reading alone. Its vectors stay behind: the file does not name their model.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from hippocampus.facts.exchange.bundle import Bundle, Skip, steady_id
from hippocampus.facts.models import Outcome
from hippocampus.facts.pasted import own_words
from hippocampus.facts.sentences import sentences
from hippocampus.facts.statements import read
from hippocampus.facts.timestamps import optional_seconds, seconds
from hippocampus.storage.facts import memories
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.models import Item, Memory, Triple
from hippocampus.storage.foreign import CribRelation, crib_rows

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

INTENSITY = 0.5


def bundle(path: Path, agent: str) -> Bundle:
    """Return what a database of crib holds.

    Raises:
        FactError: it is a database of something else.
        StoreError: it cannot be read.
    """
    found = crib_rows(path)
    if found is None:
        raise FactError(f"{path} is no database of crib")
    relations, entries = found.relations, [_entry(row, agent) for row in found.entries]
    ids = {row[0]: steady_id(seconds(row[6]), "crib relation", *row[:4]) for row in relations}
    stated = [_stated(row, agent, ids) for row in relations]
    reason = "of a model that the file does not name"
    return Bundle(
        "crib",
        [*entries, *(memory for memory, _ in stated)],
        triples=[triple for _, triple in stated],
        skipped=[Skip("vectors", reason)] if found.has_vectors else [],
    )


def _entry(row: tuple[int, str, str, str], agent: str) -> Memory:
    number, type_name, content, created = row
    at, item = seconds(created), Item(content, metadata={"from": "crib"})
    memory_id = steady_id(at, "crib entry", number, content)
    return memories.made(
        item, memory_id, "memory", agent, at, type_name=type_name, intensity=INTENSITY
    )


def _stated(row: CribRelation, agent: str, ids: dict[int, str]) -> tuple[Memory, Triple]:
    """Return a relation as a fact and its triple."""
    number, subject, predicate, obj, valid_from, valid_until, created, raw, follower = row
    at, since, ended = seconds(created), seconds(valid_from), optional_seconds(valid_until)
    item = Item(
        f"{subject} {predicate.replace('_', ' ')} {obj}",
        valid_from=since,
        valid_until=ended,
        metadata={"from": "crib"},
    )
    memory = memories.made(
        item, ids[number], "fact", agent, at, type_name="fact", intensity=INTENSITY, raw=raw
    )
    by = None if ended is None or follower is None else ids[follower]
    triple = Triple(number, subject, predicate, obj, since, ended, at, ended, ids[number])
    return replace(memory, known_until=ended, superseded_by=by), triple


def written(
    facts: Facts, text: str, type_name: str, scope: str, *, extracts: bool
) -> list[Outcome]:
    """Keep a text word by word, and what it states as facts: a model's where it `extracts`, else by its words."""
    kept = facts.store(text, type=type_name, scope=scope)
    said = sentences(own_words(text))
    claims = [text] if extracts else [each for each in said if read(each).may_end]
    source = {} if kept.memory is None else {"written": kept.memory.id}
    stated = [facts.remember(each, scope=scope, metadata=source) for each in claims]
    return [kept, *(outcome for each in stated for outcome in each)]
