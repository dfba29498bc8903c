"""A store's contents out of and into files: our JSON, hippo's JSON, crib's database, a MEMORY.md.

The form of a file is recognised from its content; each form has its own module. What any file holds gets into a
store here: known memories stay as they are.
"""

from __future__ import annotations

import base64
import contextlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from hippocampus.errors import MALFORMED, FactError
from hippocampus.facts import upkeep, write
from hippocampus.facts.models import WRITTEN
from hippocampus.formats.signatures import problem_of
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.facts.rows import Block, Item, Memory, Triple

if TYPE_CHECKING:
    import numpy as np

    from hippocampus.facts.store import Facts
    from hippocampus.facts.tables import FactTables

SQLITE = b"SQLite format 3\0"
LISTS = frozenset({"", ".md", ".markdown", ".txt"})
"""The suffixes of files that are read as Markdown, where a list item is a memory."""
KNOWN = "no export of hippocampus or hippo, no database of crib, and no Markdown (.md, .txt)"
MAX_REASON_CHARACTERS = 200
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
    blocks: Sequence[Block] = ()
    agent: str = ""
    """Whose items they are."""
    items: Sequence[Item] = ()
    """What has no id of its own and is remembered like anything said."""
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


def import_file(
    facts: Facts, path: Path, *, agent: str | None = None, embedding_model: str | None = None
) -> Imported:
    """Bring in what a file holds and is not there yet; the same file again changes nothing.

    `agent` is whose memory it becomes; without it the file's own agent, or else the store's.
    `embedding_model` names the model of vectors in a file that does not say it.

    Raises:
        FactError: the file is of no known form, or nothing in it is a memory.
        StoreError: it cannot be read or written.
    """
    try:
        bundle = _read(path, facts.agent, embedding_model)
        found = bundle.memories or bundle.items or bundle.blocks
        if not (found or bundle.skipped):
            raise FactError(
                f"{path}: nothing in it is a memory: no export, no database of crib, no list in a text"
            )
        return bring(facts, bundle, agent)
    except (*MALFORMED, OverflowError) as wrong:
        reason = f"{type(wrong).__name__}: {str(wrong)[:MAX_REASON_CHARACTERS]}"
        raise FactError(f"{path}: its fields are not of the expected types: {reason}") from wrong


def _read(path: Path, agent: str, embedding_model: str | None) -> Bundle:
    from hippocampus.facts.exchange import crib, hippo, markdown, ours

    try:
        content = path.read_bytes()
    except OSError as failure:
        raise FactError(f"{path}: {failure.strerror or failure}") from None
    if content.startswith(SQLITE):
        return crib.bundle(path, agent)
    try:
        text = content.decode(json.detect_encoding(content))
        if not text.lstrip().startswith(("{", "[{")) and path.suffix.lower() != ".json":
            if path.suffix.lower() in LISTS and "\0" not in text:
                return markdown.bundle(text, agent)
            raise FactError(f"{path}: {KNOWN}")
        document = json.loads(text)
    except UnicodeDecodeError:
        raise FactError(f"{path}: {KNOWN}") from None
    except ValueError as wrong:
        raise FactError(f"{path}: no JSON: {wrong}") from None
    match document:
        case {"format": ours.FORMAT}:
            return ours.bundle(document)
        case {"agentId": _, "chunks": [*_]}:
            return hippo.bundle(document, embedding_model)
    raise FactError(f"{path}: neither an export of hippocampus nor of hippo")


def bring(facts: Facts, bundle: Bundle, agent: str | None = None) -> Imported:
    """Write what a bundle holds and the store does not; with `agent`, as that agent's."""
    if agent is not None:
        bundle = replace(
            bundle,
            agent=agent,
            memories=[replace(memory, agent=agent) for memory in bundle.memories],
            blocks=[block._replace(agent=agent) for block in bundle.blocks],
        )
    skipped = list(bundle.skipped)
    with facts.tables.database.transaction():
        added, embeddings = _add_memories(facts.tables, bundle, skipped)
        stated = [triple for triple in bundle.triples if triple.memory_id in added]
        for triple in stated:
            triples.add(facts.tables.database, *added[triple.memory_id], triple)
        for memory_id in added.keys() - {triple.memory_id for triple in stated}:
            upkeep.relate(facts.tables, *added[memory_id])
    held = [block for block in bundle.blocks if not facts.blocks.add(block)]
    skipped += [Skip(block.key, "a block of this name is there") for block in held]
    remembered = _remember_items(facts, bundle, skipped)
    return Imported(
        source=bundle.source,
        memories=len(added) + remembered,
        triples=len(stated),
        blocks=len(bundle.blocks) - len(held),
        embeddings=embeddings,
        skipped=tuple(skipped),
    )


def _add_memories(
    tables: FactTables, bundle: Bundle, skipped: list[Skip]
) -> tuple[dict[str, tuple[int, Memory]], int]:
    """Add the memories whose ids are not there; return them by id with their rows, and the number of vectors."""
    db = tables.database
    model = bundle.embedding_model or db.meta("embedding_model") or tables.embed_model
    added: dict[str, tuple[int, Memory]] = {}
    embedded: dict[int, Any] = {}
    known = set(memories.by_id(db, [memory.id for memory in bundle.memories]))
    for memory in bundle.memories:
        if memory.id in known:
            skipped.append(Skip(memory.id, "that id is there already"))
            continue
        known.add(memory.id)
        vector = bundle.embeddings.get(memory.id)
        name = None if vector is None else model
        row = memories.insert(db, replace(memory, embedding_model=name))
        added[memory.id] = row, memory
        embedded |= {} if vector is None else {row: vector}
    if embedded and model is not None:
        tables.vectors.lock(model, len(next(iter(embedded.values()))))
        tables.vectors.put(embedded)
    return added, len(embedded)


def _remember_items(facts: Facts, bundle: Bundle, skipped: list[Skip]) -> int:
    """Remember the texts without an id that no memory of the agent has; return how many became memories."""
    if not bundle.items:
        return 0
    there = facts.memories(agent=bundle.agent, superseded=True, removed=True)
    texts = {memory.content for memory in there}
    skipped += [
        Skip(item.content, "the text is known") for item in bundle.items if item.content in texts
    ]
    fresh = [item for item in bundle.items if item.content not in texts]
    outcomes = write.remember_many(facts.tables, fresh, agent=bundle.agent)
    left_out = [outcome for outcome in outcomes if outcome.action not in WRITTEN]
    skipped += [Skip(left.memory.content if left.memory else "", left.reason) for left in left_out]
    return len(outcomes) - len(left_out)


# For the readers of the forms


def memory_of(created: float, **fields: Any) -> Memory:
    """Return the memory of a record of a foreign form, whose fields are checked."""
    times = {"created": created, "accessed": created, "valid_from": created}
    return MEMORY.validate_python({**times, **fields})


def each_read(
    found: Mapping[str, Any], name: str, read: Callable[[Any], Record], skipped: list[Skip]
) -> list[Record]:
    """Read the records of a list, and note those that cannot be read."""
    kept = []
    for number, record in enumerate(found.get(name) or []):
        try:
            kept.append(read(record))
        except ValidationError as wrong:
            skipped.append(Skip(f"{name}[{number}]", f"cannot be read: {problem_of(wrong)}"))
        except (*MALFORMED, FactError) as wrong:
            skipped.append(Skip(f"{name}[{number}]", f"cannot be read: {wrong}"))
    return kept


def text_of(row: np.ndarray[Any, Any] | None) -> str:
    """Return a vector as base64 of float32, little-endian; empty for none."""
    import numpy as np

    return "" if row is None else base64.b64encode(np.asarray(row, "<f4").tobytes()).decode()


def vectors(records: Iterable[Any], skipped: list[Skip]) -> dict[str, Any]:
    """Return the vectors of records by id, of the length that most have; note those of another."""
    import numpy as np

    found = {}
    for record in records:
        if isinstance(record, dict) and "id" in record and (text := record.get("embedding_base64")):
            with contextlib.suppress(ValueError, TypeError):
                data = base64.b64decode(text, validate=True)
                found[str(record["id"])] = np.frombuffer(data, "<f4").astype(np.float32)
    lengths = Counter(len(row) for row in found.values()).most_common(1)
    kept = {memory_id: row for memory_id, row in found.items() if len(row) == lengths[0][0]}
    kept = {memory_id: row for memory_id, row in kept.items() if np.isfinite(row).all()}
    skipped += [
        Skip(f"embedding of {memory_id}", f"is no vector of {lengths[0][0]} numbers")
        for memory_id in found.keys() - kept.keys()
    ]
    return kept
