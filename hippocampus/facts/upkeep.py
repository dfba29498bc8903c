"""Keeping a store in order: other wordings, deleting and restoring, compacting, embedding anew.

What it reads and writes is in `memories`; here it is decided which.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from hippocampus.errors import FactError, ProviderError
from hippocampus.facts import judge
from hippocampus.facts.models import Compaction, Recalled, Score
from hippocampus.facts.query import find
from hippocampus.facts.statements import read
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import Moment, day, new_id, optional_seconds
from hippocampus.facts.topics import coverage, differ, features, jaccard
from hippocampus.facts.words import content_words
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.facts.rows import Memory
from hippocampus.storage.facts.search import RecallQuery

EMBEDDED_AT_ONCE = 256
MAX_ASKED = 50
"""How many pairs a model is asked about in one compaction."""
REMADE = "reembedding"
MERGED = "merged"
"""Why a duplicate is away: the one that it repeats is there."""
SURE_COSINE = 0.85
"""From this cosine on a description certainly means a memory that lacks a word of it."""


def update(tables: FactTables, memory_id: str, content: str) -> Memory:
    """Put another content in a memory's place, with its vector and triples; its history has the old one.

    Raises:
        FactError: there is no memory of that id, or the content cannot be kept.
    """
    db = tables.database
    if why := tables.refusal(content):
        raise FactError(f"the new content cannot be kept: {why}")
    vectors = tables.embedded([content])
    with db.transaction():
        found = memories.by_id(db, [memory_id])
        if not found:
            raise FactError(f"there is no memory {memory_id!r}")
        row, old = found[memory_id]
        memory = reword(tables, row, old, content)
        if vectors is not None:
            tables.put_vectors({row: vectors[0]})
    return memory


def reword(tables: FactTables, row: int, old: Memory, content: str) -> Memory:
    """Put another content in a memory's place, without its vector, inside the caller's transaction."""
    db, now = tables.database, tables.clock()
    before = replace(
        old,
        id=new_id(now),
        valid_until=now,
        known_until=now,
        superseded_by=old.id,
        removed=memories.REWORDED,
        embedding_model=None,
    )
    memories.insert(db, before)
    memory = memories.rewrite(db, row, old, content)
    if tables.has_vectors:
        tables.vectors.drop([row])
    relate(tables, row, memory)
    return memory


# Away, and back


def delete(tables: FactTables, memory_ids: Iterable[str]) -> list[Memory]:
    """Delete memories for good, bring back those that they had superseded, and return the deleted ones."""
    with tables.database.transaction():
        gone = dict(memories.by_id(tables.database, memory_ids).values())
        delete_rows(tables, gone)
    return list(gone.values())


def delete_rows(tables: FactTables, gone: Mapping[int, Memory]) -> None:
    """Delete memories with all that belongs to them, inside the caller's transaction.

    What a deleted one had superseded is current again, or superseded by its successor, where it has one.
    Its earlier wordings go with it.
    """
    db, gone = tables.database, dict(gone)
    for memory in list(gone.values()):
        below = memories.superseded(db, memory.id)
        gone |= {row: old for row, old in below.items() if old.removed == memories.REWORDED}
    going = {memory.id: memory for memory in gone.values()}
    for memory in going.values():
        heir = memories.heir(memory, going)
        freed = memories.superseded(db, memory.id)
        if heir is None:
            memories.reopen(db, freed)
        else:
            memories.update(db, freed, superseded_by=heir)
    if tables.has_vectors:
        tables.vectors.drop(gone)
    memories.delete(db, gone)


def restore(tables: FactTables, memory_ids: Iterable[str]) -> list[Memory]:
    """Bring back what was superseded, or taken away by `compact`; what replaced it ends."""
    db = tables.database
    with db.transaction():
        found = dict(memories.by_id(db, memory_ids).values())
        gone = {row: old for row, old in found.items() if old.superseded_by or old.removed}
        for row, memory in gone.items():
            heir, now = memories.successors(db, [memory.id])[memory.id], tables.clock()
            again = memories.same(db, replace(memory, valid_until=None), memory.kind, now)
            memories.reopen(db, [row])
            if memory.removed == MERGED:
                continue
            if heir is not None:
                numbers = memories.by_id(db, [heir.id])
                ended = [numbers[heir.id][0]]
                memories.update(db, ended, superseded_by=memory.id, ended=now, known_until=now)
            # The same may have been said anew meanwhile.
            until = memories.by_row(db, [row])[row].valid_until
            if again is not None and (until is None or until > now):
                memories.remove(db, [(again, MERGED, memory.id)], now)
        return list(memories.by_row(db, gone).values())


def purge(
    tables: FactTables,
    *,
    before: Moment | None = None,
    agent: str | None = None,
    dry_run: bool = False,
) -> list[Memory]:
    """Delete superseded and removed memories for good, and return them."""
    with tables.database.transaction():
        limit = optional_seconds(before)
        gone = memories.past(tables.database, agent or tables.agent, limit)
        if not dry_run:
            delete_rows(tables, gone)
    return list(gone.values())


# By meaning


def matching(tables: FactTables, text: str, query: RecallQuery, threshold: float) -> list[Recalled]:
    """Return the memory of an id, or those that a description certainly means, closest first.

    Those are the ones that have all of its words, or a cosine as high as that.
    """
    kept = memories.named(tables.database, text.strip())
    close = {row: 1.0 for row, memory in kept.items() if query.reaches(memory)}
    if not kept and text.strip():
        found, wanted = find(tables, text, query, seconds=WRITING_SECONDS), content_words(text)
        kept = memories.by_row(tables.database, found.rows)
        whole = [row for row, memory in kept.items() if coverage(wanted, memory.content) == 1.0]
        near = {row: cosine for row, cosine in found.cosines.items() if cosine >= SURE_COSINE}
        heirs = memories.successors(tables.database, (kept[row].id for row in whole)).values()
        # One word means a memory only where no other has it, but for what it replaced.
        is_one = len({heir and heir.id for heir in heirs}) == 1 and not near
        close = near | (dict.fromkeys(whole, 1.0) if len(wanted) > 1 or is_one else {})
    return [
        Recalled(kept[row], Score(close[row]), day(kept[row].valid_from))
        for row in sorted(close, key=lambda row: -close[row])
        if close[row] >= threshold
    ]


# Compacting


def compact(
    tables: FactTables,
    *,
    dry_run: bool = False,
    agent: str | None = None,
    keep: Collection[str] = (),
) -> Compaction:
    """Take faded and duplicate memories away; `restore` brings them back until `purge`.

    The ids in `keep` do not fade, and neither does a preference.
    """
    db, now = tables.database, tables.clock()
    current = memories.current(db, agent or tables.agent, now)
    pruned = {
        row: reason
        for row, memory in current.items()
        if memory.id not in keep and (reason := tables.policy.due_for_pruning(memory, now))
    }
    left = {row: memory for row, memory in current.items() if row not in pruned}
    # One that begins later does not replace one that is true already.
    merged = _twins(tables, {row: one for row, one in left.items() if one.valid_from <= now})
    if not dry_run:
        with db.transaction():
            gone = [(row, reason, None) for row, reason in pruned.items()]
            twins = [(row, MERGED, left[winner].id) for row, winner in merged.items()]
            memories.remove(db, [*gone, *twins], now)
    return Compaction(
        tuple(current[row].id for row in pruned),
        tuple(left[row].id for row in merged),
        len(current) - len(pruned) - len(merged),
        dry_run,
    )


def _twins(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
    """Return the rows that repeat an earlier one, word by word or for a model, with that row."""
    first: dict[tuple[object, ...], int] = {}
    losers: dict[int, int] = {}
    for row, memory in kept.items():
        wording = memories.hashed(tables.database, memory.content, "fact")
        same = (*_place(memory), memory.kind, wording)
        if first.setdefault(same, row) != row:
            losers[row] = first[same]
    policy = tables.policy
    if tables.complete is None or not policy.duplicate_minhash:
        return losers
    # The pairs between the policy's two bands are the model's to decide.
    said = {row: features(memory.content) for row, memory in kept.items() if row not in losers}
    unsure = []
    for one, other in itertools.combinations(said, 2):
        value = jaccard(said[one], said[other])
        is_near = value >= policy.new_minhash and _place(kept[one]) == _place(kept[other])
        if is_near and not differ(kept[one].content, kept[other].content):
            if value >= policy.duplicate_minhash:
                losers[other] = one
            else:
                unsure.append((one, other))
    asked = [pair for pair in unsure if pair[1] not in losers][:MAX_ASKED]
    known = {f"k{number}": kept[one].content for number, (one, _) in enumerate(asked, 1)}
    new = [kept[other].content for _, other in asked]
    answers = judge.decide(tables.complete, new, known) if asked else {}
    for at, decision in answers.items():
        if decision.action == "same" and f"k{at + 1}" in decision.known:
            losers[asked[at][1]] = asked[at][0]
    return losers


def _place(memory: Memory) -> tuple[str, str, str]:
    return memory.agent, memory.scope, memory.type


# Taking in


def relate(tables: FactTables, row: int, memory: Memory) -> None:
    """Write the relation that a fact states."""
    for relation in read(memory.content).relations if memory.kind == "fact" else ():
        triples.add(tables.database, row, memory, relation)


# Embedding


def reembed(tables: FactTables) -> Iterator[tuple[int, int]]:
    """Embed all anew with the store's model, yielding (done, all); open it with `reembedding=True`.

    A stopped run goes on where it was.
    """
    db, model = tables.database, tables.embed_model
    if model is None:
        raise FactError("there is no embedding model to embed with")
    if db.meta(REMADE) != model and db.meta("embedding_model") != model:
        tables.vectors.clear()
        db.set_meta(REMADE, model)
    total = memories.total(db)
    while rows := memories.unembedded(db, EMBEDDED_AT_ONCE):
        vectors = tables.embedded(list(rows.values()))
        if vectors is None:
            raise ProviderError("the embedding model failed; run it again to go on from here")
        with db.transaction():
            tables.put_vectors(dict(zip(rows, vectors, strict=True)))
            tables.vectors.changed()
        yield total - memories.total(db, unembedded=True), total
    db.set_meta(REMADE, "")
