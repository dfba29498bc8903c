"""What keeps the fact store in step with files that people read: by id, taken away, compacted.

What is taken away stays restorable until `purge`, as what `Facts.compact` takes away does.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from hippocampus.facts.kinds import EVERY_AGENT, Compaction, Memory

if TYPE_CHECKING:
    from hippocampus.facts.rooms import Rooms
    from hippocampus.facts.store import Facts

MOST_STEPS = 100
"""So many times a memory may have been superseded."""


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
