"""Keeping a store in order: changes by id, what compaction takes away, what comes back, lists and counts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.facts import memories, triples
from hippocampus.facts.errors import FactError
from hippocampus.facts.ids import new_id
from hippocampus.facts.memories import COLUMNS, CURRENT, for_agent, memory_of
from hippocampus.facts.models import (
    Action,
    Compaction,
    Kind,
    Memory,
    Outcome,
    Recalled,
    Score,
)
from hippocampus.facts.query import find
from hippocampus.facts.recall_query import RecallQuery
from hippocampus.facts.strength import due_for_pruning
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day, optional_seconds, within_dates
from hippocampus.facts.words import content_words, words

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix

MOST_STEPS = 100
"""How many times a memory may have been superseded."""
SURE_COSINE = 0.85
"""From this cosine on a description certainly means a memory that lacks a word of it."""


class Rewritten(NamedTuple):
    """What became of memories of which something was taken out, by id."""

    added: tuple[str, ...]
    """What replaces those that say less."""
    retired: tuple[str, ...]
    """Those of which nothing was left."""


# By id


def by_ids(tables: FactTables, ids: Iterable[str]) -> dict[str, Memory]:
    """Return the memories of those ids that exist, whatever became of them."""
    return {
        memory_id: memory for memory_id, (_, memory) in memories.by_id(tables.database, ids).items()
    }


def is_current(memory: Memory) -> bool:
    """Return whether nothing replaces a memory and no one took it away."""
    return memory.removed is None and memory.superseded_by is None and memory.known_until is None


def successors(tables: FactTables, ids: Iterable[str]) -> dict[str, Memory | None]:
    """Return for each id that exists, or did, the current memory that it is or that replaces it, or nothing."""
    wanted_ids = list(ids)
    known = by_ids(tables, wanted_ids)
    gone = tables.database.rows(
        "SELECT id FROM forgotten WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(wanted_ids),),
    )
    asked = [*known, *(memory_id for (memory_id,) in gone)]
    for _ in range(MOST_STEPS):
        wanted = {each.superseded_by for each in known.values() if each.superseded_by} - set(known)
        if not wanted:
            break
        known |= by_ids(tables, wanted)
    return {memory_id: _last(known, memory_id) for memory_id in asked}


def _last(known: Mapping[str, Memory], memory_id: str) -> Memory | None:
    memory = known.get(memory_id)
    for _ in range(MOST_STEPS):
        if memory is None or memory.superseded_by is None:
            break
        memory = known.get(memory.superseded_by)
    return memory if memory is not None and is_current(memory) else None


def delete(tables: FactTables, ids: Iterable[str]) -> list[Memory]:
    """Delete for good, and bring back what these had superseded."""
    with tables.database.transaction():
        gone = dict(memories.by_id(tables.database, ids).values())
        tables.delete(gone)
    return list(gone.values())


def update(tables: FactTables, memory_id: str, content: str) -> Memory:
    """Put another content in a memory's place."""
    db = tables.database
    if why := tables.refusal(content):
        raise FactError(f"the new content cannot be kept: {why}")
    vectors = tables.embedded([content])
    with db.transaction():
        found = memories.by_id(db, [memory_id])
        if not found:
            raise FactError(f"there is no memory {memory_id!r}")
        row, old = found[memory_id]
        memories.rewrite(db, row, old, content)
        if tables.has_vectors:
            tables.vectors.drop([row])
        if vectors is not None:
            tables.put_vectors({row: vectors[0]})
        memory = memories.by_row(db, [row])[row]
        triples.delete(db, [row])
        _relate(tables, {row: memory})
    return memory


def retire(tables: FactTables, ids: Iterable[str], reason: str) -> list[Memory]:
    """Take current memories away and return them; `restore` brings them back."""
    db = tables.database
    with db.transaction():
        found = [pair for pair in memories.by_id(db, ids).values() if is_current(pair[1])]
        now = tables.clock()
        memories.remove(db, ((row, reason, None) for row, _ in found), now)
        for row, _ in found:
            triples.end(db, row, now, now)
    return [memory for _, memory in found]


def withdraw(tables: FactTables, gone: Sequence[Memory], reason: str) -> Rewritten:
    """Take what a person struck out or reworded out of the messages that say it too, sentence by sentence.

    Where no sentence of a fact's own turn has its words, since a model worded it, the one with most of
    them goes. What a message said before is history; of fewer than two words nothing stays.
    """
    from hippocampus.facts.statements import without_sentence

    shorter: dict[str, str] = {}
    for agent in {each.agent for each in gone}:
        for message in listed(tables, agent, kind="memory"):
            left = message.content
            for fact in (each for each in gone if each.agent == agent):
                before, left = left, without_sentence(left, fact.content)
                if left == before and _is_source(message, fact):
                    left = without_sentence(left, _closest(left, fact.content))
            if left != message.content and message.type == "event":
                shorter[message.id] = left if len(words(left)) >= 2 else ""
    return _rewrite(tables, shorter, reason)


def _is_source(message: Memory, fact: Memory) -> bool:
    one, other = message.origin, fact.origin
    return bool(other.session) and (one.session, one.turn, one.role) == (
        other.session,
        other.turn,
        other.role,
    )


def _closest(text: str, claim: str) -> str:
    """Return the sentence that has most of a claim's words, where that is a third of them."""
    from hippocampus.facts.statements import sentences

    wanted = content_words(claim)
    shares = {each: coverage(wanted, each) for each in sentences(text)}
    best = max(shares, key=lambda each: shares[each], default="")
    return best if best and shares[best] >= 1 / 3 else ""


def _rewrite(tables: FactTables, shorter: Mapping[str, str], reason: str) -> Rewritten:
    db = tables.database
    texts = {each: text for each, text in shorter.items() if text}
    vectors = tables.embedded(list(texts.values()))
    with db.transaction():
        found, now = memories.by_id(db, texts), tables.clock()
        fresh = {
            each: replace(
                memory,
                id=new_id(tables.clock()),
                content=texts[each],
                created=now,
                embedding_model=None,
            )
            for each, (_, memory) in found.items()
        }
        known = (
            {}
            if vectors is None
            else dict(zip((fresh[each].id for each in texts), vectors, strict=True))
        )
        take_in(tables, fresh.values(), known, None)
        for each, memory in fresh.items():
            tables.end(found[each][0], memory.id, until=memory.valid_from, known=now)
        gone = retire(tables, [each for each, text in shorter.items() if not text], reason)
    return Rewritten(tuple(each.id for each in fresh.values()), tuple(each.id for each in gone))


def next_row(tables: FactTables) -> int:
    """Return the number of the row that is written next: older rows were there before."""
    return memories.next_row(tables.database)


def written_since(tables: FactTables, ids: Iterable[str], row: int) -> list[str]:
    """Return those of some memories that were written at a row or later."""
    found = memories.by_id(tables.database, ids)
    return [memory_id for memory_id, (number, _) in found.items() if number >= row]


def ended(tables: FactTables, texts: Iterable[str], agent: str, kind: Kind = "fact") -> list[str]:
    """Return those of some texts that were facts of an agent, or memories, and are none any more."""
    by_hash = {memories.hashed(text, kind): text for text in texts}
    rows = tables.database.rows(
        "SELECT hash FROM memory WHERE kind = ? AND hash IN (SELECT value FROM json_each(?)) AND agent = ?"
        " GROUP BY hash HAVING sum(removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?)) = 0",
        (kind, json.dumps(list(by_hash)), agent, tables.clock()),
    )
    return [by_hash[number] for (number,) in rows]


# By meaning


def matching(tables: FactTables, text: str, query: RecallQuery, threshold: float) -> list[Recalled]:
    """Return the memory of an id, or those that a description certainly means, closest first.

    Those are the ones that have all of its words, or a cosine as high as that; of several that
    share but some of its words, none is certain.
    """
    named = memories.by_id(tables.database, [text.strip()])
    if named or not text.strip():
        return [
            Recalled(memory, Score(1.0), day(memory.valid_from)) for _, memory in named.values()
        ]
    found = find(tables, text, query, seconds=WRITING_SECONDS)
    kept = memories.by_row(tables.database, found.rows)
    wanted = content_words(text)
    close: dict[int, float] = {}
    for row, memory in kept.items():
        share, cosine = coverage(wanted, memory.content), found.cosines.get(row, 0.0)
        if (share == 1.0 and len(wanted) > 1) or cosine >= max(threshold, SURE_COSINE):
            close[row] = max(share, cosine)
    if not close:
        single = [row for row, memory in kept.items() if coverage(wanted, memory.content) == 1.0]
        close = dict.fromkeys(single, 1.0) if len(single) == 1 else {}
    return [
        Recalled(kept[row], Score(close[row]), day(kept[row].valid_from))
        for row in sorted(close, key=lambda row: -close[row])
        if close[row] >= threshold
    ]


def coverage(wanted: Sequence[str], text: str) -> float:
    """Return the share of some words that a text has, in whatever inflection.

    >>> coverage(["live", "berlin"], "She lives in Berlin")
    1.0
    """
    from hippocampus.facts.statements import holds

    if not wanted:
        return 0.0
    return sum(holds(text, frozenset({word})) for word in wanted) / len(wanted)


# Compacting


def compact(
    tables: FactTables, agent: str, *, dry_run: bool, keep: Collection[str] = ()
) -> Compaction:
    """Remove faded and duplicate memories; they stay restorable until `purge`.

    The ids in `keep` do not fade, and neither does a preference.
    """
    db, now = tables.database, tables.clock()
    current = _current(tables, agent, now)
    policy = tables.policy
    pruned = {
        row: reason
        for row, m in current.items()
        if m.id not in keep
        and (reason := due_for_pruning(policy, m.type, m.intensity, m.accesses, m.accessed, now))
    }
    left = {row: memory for row, memory in current.items() if row not in pruned}
    merged = _twins(tables, left)
    if not dry_run:
        with db.transaction():
            memories.remove(db, ((row, reason, None) for row, reason in pruned.items()), now)
            memories.remove(
                db, ((row, "merged", left[winner].id) for row, winner in merged.items()), now
            )
            for row in merged:
                triples.end(db, row, left[row].valid_from, now)
    return Compaction(
        tuple(current[row].id for row in pruned),
        tuple(left[row].id for row in merged),
        len(current) - len(pruned) - len(merged),
        dry_run,
    )


def _current(tables: FactTables, agent: str, now: float) -> dict[int, Memory]:
    condition, values = for_agent(agent)
    rows = tables.database.rows(
        f"SELECT {COLUMNS} FROM memory WHERE {CURRENT} AND {condition} ORDER BY row",  # noqa: S608 - names of ours
        (now, *values),
    )
    return {row[0]: memory_of(row) for row in rows}


def _twins(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
    """Return the rows that repeat an earlier one word by word, with that row."""
    first: dict[tuple[object, ...], int] = {}
    losers: dict[int, int] = {}
    for row, memory in kept.items():
        same = (
            memory.agent,
            memory.scope,
            memory.kind,
            memory.type,
            memories.hashed(memory.content, "fact"),
        )
        if first.setdefault(same, row) != row:
            losers[row] = first[same]
    if tables.complete is not None and tables.policy.duplicate_minhash:
        from hippocampus.facts.compat.bands import merged_by_model

        losers |= merged_by_model(
            tables, {row: each for row, each in kept.items() if row not in losers}
        )
    return losers


# Taking in


def take_in(
    tables: FactTables,
    listed_: Iterable[Memory],
    embeddings: Mapping[str, Matrix],
    model: str | None,
) -> list[Outcome]:
    """Write memories as they are; those whose id is there, or whose dates are none, are refused."""
    db, taken = tables.database, list(listed_)
    outcomes: list[Outcome] = []
    with db.transaction():
        known = set(memories.by_id(db, (memory.id for memory in taken)))
        row, new = memories.next_row(db), dict[int, Memory]()
        for memory in taken:
            if reason := _unfit(memory, known):
                outcomes.append(Outcome(Action.REFUSED, reason, memory))
                continue
            known.add(memory.id)
            new[row + len(new)] = memory
            outcomes.append(Outcome(Action.ADDED, "taken in", memory))
        model = model or db.meta("embedding_model") or tables.embed_model
        vectors = {
            row: embeddings[memory.id] for row, memory in new.items() if memory.id in embeddings
        }
        memories.insert(
            db,
            [
                (row, replace(memory, embedding_model=model if row in vectors else None), "")
                for row, memory in new.items()
            ],
        )
        _relate(tables, new)
        if vectors and model is not None:
            tables.vectors.lock(model, len(next(iter(vectors.values()))))
            tables.vectors.put(vectors)
    return outcomes


def _relate(tables: FactTables, new: Mapping[int, Memory]) -> None:
    """Write the relations that facts state."""
    from hippocampus.facts.statements import read

    for row, memory in new.items():
        relation = read(memory.content).relation if memory.kind == "fact" else None
        if relation is not None:
            triples.add(tables.database, row, memory, relation)


def _unfit(memory: Memory, known: Collection[str]) -> str:
    """Return why a memory cannot be taken in, or nothing."""
    if memory.id in known:
        return "that id is there already"
    try:
        for at in (memory.created, memory.accessed, memory.valid_from):
            within_dates(at)
        optional_seconds(memory.valid_until)
    except FactError as wrong:
        return str(wrong)
    return ""


# Looking


def listed(  # noqa: PLR0913 - each is one filter
    tables: FactTables,
    agent: str,
    *,
    kind: Kind | None = None,
    superseded: bool = False,
    removed: bool = False,
    before: float | None = None,
    limit: int = -1,
    containing: str = "",
) -> list[Memory]:
    """List memories, newest first."""
    condition, values = for_agent(agent)
    parts = [condition, "(? IS NULL OR kind = ?)", "(? IS NULL OR created < ?)"]
    if not superseded:
        parts.append("(known_until IS NULL OR removed IS NOT NULL)")
    if not removed:
        parts.append("removed IS NULL")
    if containing:
        with tables.database.guarded():  # the case of every script; SQLite's own knows ASCII only
            tables.database.connection.create_function(
                "folded", 1, str.casefold, deterministic=True
            )
        parts.append("instr(folded(content), folded(?)) > 0")
    rows = tables.database.rows(
        f"SELECT {COLUMNS} FROM memory WHERE {' AND '.join(parts)} ORDER BY created DESC, row DESC LIMIT ?",  # noqa: S608 - names of ours
        (*values, kind, kind, before, before, *([containing] if containing else []), limit),
    )
    return [memory_of(row) for row in rows]


def history(tables: FactTables, memory_id: str) -> list[Memory]:
    """Return a memory and all that it superseded, newest first."""
    rows = tables.database.rows(
        "WITH RECURSIVE past(id) AS (SELECT ? UNION SELECT memory.id FROM memory JOIN past"  # noqa: S608 - names of ours
        f" ON superseded_by = past.id) SELECT {COLUMNS} FROM memory WHERE id IN past ORDER BY valid_from DESC, row DESC",
        (memory_id,),
    )
    return [memory_of(row) for row in rows]


def returning(tables: FactTables, ids: Iterable[str]) -> list[Memory]:
    """Return what would be true again if some memories were deleted, since they superseded it."""
    gone = by_ids(tables, ids)
    below = {each.id: each for memory_id in gone for each in history(tables, memory_id)}
    return [each for each in below.values() if each.id not in gone and _is_freed(each, gone)]


def _is_freed(memory: Memory, gone: Mapping[str, Memory]) -> bool:
    """Return whether all that replaces a memory is among what goes."""
    heir = memory.superseded_by
    while heir is not None and heir in gone:
        heir = gone[heir].superseded_by
    return heir is None
