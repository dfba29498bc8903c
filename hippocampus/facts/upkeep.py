"""Keeping a store in order: what a person strikes out, what is meant by a description, twins, imports, erasing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from hippocampus.entries.text import storable
from hippocampus.facts import memories, triples
from hippocampus.facts.errors import FactError
from hippocampus.facts.ids import new_id
from hippocampus.facts.models import Action, Kind, Memory, Outcome, Recalled, Score
from hippocampus.facts.query import RecallQuery, find
from hippocampus.facts.statements import holds, read, sentences, without_sentence
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day, optional_seconds, within_dates
from hippocampus.facts.words import content_words, words

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix

LEAST_WORDS = 2
"""Of a message of which a sentence was struck out, fewer words are not kept."""
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


def is_current(memory: Memory) -> bool:
    """Return whether nothing replaces a memory and no one took it away."""
    return memory.removed is None and memory.superseded_by is None and memory.known_until is None


def successors(tables: FactTables, ids: Iterable[str]) -> dict[str, Memory | None]:
    """Return for each id that exists, or did, the current memory that it is or that replaces it, or nothing."""
    wanted_ids = list(ids)
    found = memories.by_id(tables.database, wanted_ids)
    gone = tables.database.rows(
        "SELECT id FROM forgotten WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(wanted_ids),),
    )
    known = {each: memory for each, (_, memory) in found.items()}
    asked = [*known, *(memory_id for (memory_id,) in gone)]
    while wanted := {each.superseded_by for each in known.values() if each.superseded_by} - {
        *known
    }:
        more = memories.by_id(tables.database, wanted)
        if not more:
            break
        known |= {each: memory for each, (_, memory) in more.items()}
    return {memory_id: _last(known, memory_id) for memory_id in asked}


def _last(known: Mapping[str, Memory], memory_id: str) -> Memory | None:
    memory = known.get(memory_id)
    for _ in range(MOST_STEPS):
        if memory is None or memory.superseded_by is None:
            break
        memory = known.get(memory.superseded_by)
    return memory if memory is not None and is_current(memory) else None


def retire(tables: FactTables, ids: Iterable[str], reason: str) -> list[Memory]:
    """Take current memories away and return them; `restore` brings them back."""
    db = tables.database
    with db.transaction():
        found = [pair for pair in memories.by_id(db, ids).values() if is_current(pair[1])]
        now = tables.clock()
        memories.remove(db, [(row, reason, None) for row, _ in found], now)
    return [memory for _, memory in found]


def withdraw(tables: FactTables, gone: Sequence[Memory], reason: str) -> Rewritten:
    """Take what a person struck out or reworded out of the messages that say it too, sentence by sentence.

    Where no sentence of a fact's own turn has its words, since a model worded it, the one with most of
    them goes. What a message said before is history; of fewer than two words nothing stays.
    """
    added: dict[int, str] = {}
    empty = []
    with tables.database.transaction():
        said = (
            "WHERE kind = 'memory' AND type = 'event' AND known_until IS NULL AND removed IS NULL"
        )
        now = tables.clock()
        for row, message in memories.select(tables.database, f"{said} ORDER BY row").items():
            left = message.content
            for fact in (each for each in gone if each.agent == message.agent):
                before, left = left, without_sentence(left, fact.content)
                if left == before and _is_source(message, fact):
                    left = without_sentence(left, _closest(left, fact.content))
            if left == message.content:
                continue
            if len(words(left)) < LEAST_WORDS:
                empty.append(message.id)
            else:
                memory = replace(
                    message,
                    id=new_id(tables.clock()),
                    content=left,
                    created=now,
                    embedding_model=None,
                )
                added[memories.insert(tables.database, memory)] = memory.id
                tables.end(row, memory.id, until=memory.valid_from, known=now)
        retired = retire(tables, empty, reason)
    texts = [each.content for each in memories.by_row(tables.database, added).values()]
    vectors = tables.embedded(texts)
    if vectors is not None:
        with tables.database.transaction():
            tables.put_vectors(dict(zip(sorted(added), vectors, strict=True)))
    return Rewritten(tuple(added.values()), tuple(each.id for each in retired))


def _is_source(message: Memory, fact: Memory) -> bool:
    one, other = message.origin, fact.origin
    return bool(other.session) and (one.session, one.turn, one.role) == (
        other.session,
        other.turn,
        other.role,
    )


def _closest(text: str, claim: str) -> str:
    """Return the sentence that has most of a claim's words, where that is a third of them."""
    wanted = content_words(claim)
    shares = {each: coverage(wanted, each) for each in sentences(text)}
    best = max(shares, key=lambda each: shares[each], default="")
    return best if best and shares[best] >= 1 / 3 else ""


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


def meant(tables: FactTables, text: str, query: RecallQuery, threshold: float) -> list[Recalled]:
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
    if not wanted:
        return 0.0
    return sum(holds(text, frozenset({word})) for word in wanted) / len(wanted)


# Compacting


def twins(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
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
        model = model or db.meta("embedding_model") or tables.embed_model
        vectors = {}
        for memory in taken:
            if reason := _unfit(memory, known):
                outcomes.append(Outcome(Action.REFUSED, reason, memory))
                continue
            known.add(memory.id)
            vector = embeddings.get(memory.id)
            row = memories.insert(
                db, replace(memory, embedding_model=None if vector is None else model)
            )
            relate(tables, row, memory)
            if vector is not None:
                vectors[row] = vector
            outcomes.append(Outcome(Action.ADDED, "taken in", memory))
        if vectors and model is not None:
            tables.vectors.lock(model, len(next(iter(vectors.values()))))
            tables.vectors.put(vectors)
    return outcomes


def relate(tables: FactTables, row: int, memory: Memory) -> None:
    """Write the relation that a fact states."""
    relation = read(memory.content).relation if memory.kind == "fact" else None
    if relation is not None:
        triples.add(tables.database, row, memory, relation)


def _unfit(memory: Memory, known: set[str]) -> str:
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


# Erasing


def of_session(tables: FactTables, session: str) -> dict[int, Memory]:
    """Return every memory that a session made, whatever became of it, by row."""
    return memories.select(tables.database, "WHERE session = ?", (storable(session),))


def erase(tables: FactTables, session: str) -> None:
    """Delete the memories of a session, so that its words are nowhere in the file.

    What these had superseded is current again. The file is rewritten: SQLite overwrites no deleted row.

    Raises:
        StoreError: the file cannot be written.

    """
    db = tables.database
    with db.transaction():
        gone = of_session(tables, session)
        tables.delete(gone)
        ids = [(each.id,) for each in gone.values()]
        db.run_many("DELETE FROM receipt WHERE memory = ?", ids)
        used = "SELECT subject FROM triple UNION SELECT object FROM triple"
        db.run(f"DELETE FROM entity_name WHERE entity NOT IN ({used})")  # noqa: S608 - of ours
        db.run(f"DELETE FROM entity WHERE id NOT IN ({used})")  # noqa: S608 - of ours
    db.run("INSERT INTO memory_text (memory_text) VALUES ('optimize')")
    db.run("VACUUM")
    db.rows("PRAGMA wal_checkpoint(TRUNCATE)")
