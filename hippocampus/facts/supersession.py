"""What keeps the fact store in step with files that people read: by id, taken away, compacted.

What is taken away stays restorable until `purge`, as what `Facts.compact` takes away does.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.facts.ids import new_id
from hippocampus.facts.memories import hashed
from hippocampus.facts.models import EVERY_AGENT, Compaction, Kind, Memory

if TYPE_CHECKING:
    from hippocampus.facts.fact_tables import Rooms
    from hippocampus.facts.store import Facts

ENDED = """
    SELECT hash FROM memory WHERE kind = ?4 AND hash IN (SELECT value FROM json_each(?2))
    AND agent = ?3 GROUP BY hash
    HAVING sum(removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?1)) = 0
"""
MOST_STEPS = 100
"""So many times a memory may have been superseded."""


class Rewritten(NamedTuple):
    """What became of memories of which something was taken out, by id."""

    added: tuple[str, ...]
    """What stands for those that say less."""
    retired: tuple[str, ...]
    """Those of which nothing was left."""


def is_current(memory: Memory) -> bool:
    """Say whether nothing stands for a memory and nobody took it away."""
    return memory.removed is None and memory.superseded_by is None and memory.known_until is None


def by_ids(facts: Facts, ids: Iterable[str]) -> dict[str, Memory]:
    """Return the memories of those ids that exist, whatever became of them."""
    found = _rooms(facts).memories.by_id(ids)
    return {memory_id: memory for memory_id, (_, memory) in found.items()}


def successors(facts: Facts, ids: Iterable[str]) -> dict[str, Memory | None]:
    """Return for each id the current memory that it is or that stands for it, or nothing."""
    known = by_ids(facts, ids)
    wanted = {each.superseded_by for each in known.values() if each.superseded_by} - set(known)
    for _ in range(MOST_STEPS):
        if not wanted:
            break
        more = by_ids(facts, wanted)
        known |= more
        wanted = {each.superseded_by for each in more.values() if each.superseded_by} - set(known)
    return {memory_id: _last(known, memory_id) for memory_id in ids}


def _last(known: dict[str, Memory], memory_id: str) -> Memory | None:
    memory = known.get(memory_id)
    for _ in range(MOST_STEPS):
        if memory is None or memory.superseded_by is None:
            break
        memory = known.get(memory.superseded_by)
    return memory if memory is not None and is_current(memory) else None


def retire(facts: Facts, ids: Iterable[str], reason: str) -> list[Memory]:
    """Take current memories away and return them; `Facts.restore` brings them back."""
    rooms = _rooms(facts)
    with rooms.database.transaction():
        found = [pair for pair in rooms.memories.by_id(ids).values() if is_current(pair[1])]
        now = rooms.clock()
        rooms.memories.remove(((row, reason, None) for row, _ in found), now)
        for row, _ in found:
            rooms.triples.end(row, now, now)
    return [memory for _, memory in found]


def rewrite(facts: Facts, shorter: Mapping[str, str], reason: str) -> Rewritten:
    """Let shorter texts stand for memories, by id; one of which nothing is left is taken away.

    What they said before is history: `known_as_of` finds it, and `restore` brings it back.
    """
    rooms, texts = _rooms(facts), {each: text for each, text in shorter.items() if text}
    vectors = rooms.embedded(list(texts.values()))
    by_id = {} if vectors is None else dict(zip(texts, vectors, strict=True))
    with rooms.database.transaction():
        found, now = rooms.memories.by_id(texts), rooms.clock()
        fresh = {
            each: _worded(memory, texts[each], new_id(rooms.clock()), now)
            for each, (_, memory) in found.items()
        }
        known = {fresh[each].id: vector for each, vector in by_id.items() if each in fresh}
        facts.import_memories(fresh.values(), known)
        for each, memory in fresh.items():
            rooms.end(found[each][0], memory.id, until=memory.valid_from, known=now)
        gone = retire(facts, [each for each, text in shorter.items() if not text], reason)
    return Rewritten(tuple(each.id for each in fresh.values()), tuple(each.id for each in gone))


def _worded(memory: Memory, text: str, memory_id: str, at: float) -> Memory:
    return replace(memory, id=memory_id, content=text, created=at, embedding_model=None)


def ended(facts: Facts, texts: Iterable[str], agent: str, kind: Kind = "fact") -> list[str]:
    """Return those of some texts that were facts of an agent, or memories, and are none any more."""
    by_hash = {hashed(text, kind): text for text in texts}
    now = _rooms(facts).clock()
    rows = _rooms(facts).database.rows(ENDED, (now, json.dumps(list(by_hash)), agent, kind))
    return [by_hash[number] for (number,) in rows]


def compacted(facts: Facts, keep: Collection[str], *, dry_run: bool) -> Compaction:
    """Compact the memories of every agent, but for those that are to be kept."""
    return facts._upkeep.compact(EVERY_AGENT, dry_run=dry_run, keep=keep)  # noqa: SLF001 - as above


def next_row(facts: Facts) -> int:
    """Return the number of the row that is written next: what is older was there before."""
    return _rooms(facts).memories.next_row()


def written_since(facts: Facts, ids: Iterable[str], row: int) -> list[str]:
    """Return those of some memories that were written at a row or later."""
    found = _rooms(facts).memories.by_id(ids)
    return [memory_id for memory_id, (number, _) in found.items() if number >= row]


def _rooms(facts: Facts) -> Rooms:
    """Return the tables behind a store, as `exchange` does."""
    return facts._rooms  # noqa: SLF001 - see above
