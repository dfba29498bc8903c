"""Keeping a store in order: struck-out sentences, described memories, twins, imports, erasing, uses."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from hippocampus.entries.text import storable
from hippocampus.errors import ProviderError
from hippocampus.facts import memories, triples
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import Kind, Memory, Recalled, Score
from hippocampus.facts.query import RecallQuery, find
from hippocampus.facts.sentences import RECALLED, without_sentence
from hippocampus.facts.statements import read
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day, new_id
from hippocampus.facts.topics import coverage
from hippocampus.facts.words import content_words, words

LEAST_WORDS = 2
"""Of a message of which a sentence was struck out, fewer words are not kept."""
EMBEDDED_AT_ONCE = 256
REMADE = "reembedding"
SURE_COSINE = 0.85
"""From this cosine on a description certainly means a memory that lacks a word of it."""


_ID = re.compile(r"\bid ([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\b")
_ENTRY = re.compile(r"^- \[(\d{4}-\d\d-\d\d) [^\]]*\] (.+)$", re.MULTILINE)
_TRIPLE = re.compile(r"^- (.+) → (.+) → (.+) \(since \d{4}-\d\d-\d\d[^)]*\)$", re.MULTILINE)
KINDS: tuple[Kind, ...] = ("fact", "memory")
LEAST_TELLING = 2
"""How many of a memory's words, which the question did not have, an answer has that uses it."""


def is_current(memory: Memory) -> bool:
    """Return whether nothing replaces a memory and no one took it away."""
    return memory.removed is None and memory.superseded_by is None and memory.known_until is None


def successors(tables: FactTables, ids: Iterable[str]) -> dict[str, Memory | None]:
    """Return for each id that exists, or did, the current memory that it is or that replaces it, or nothing."""
    db, wanted = tables.database, json.dumps(list(ids))
    among = "IN (SELECT value FROM json_each(?))"
    asked = db.rows(
        f"SELECT id FROM memory WHERE id {among} UNION SELECT id FROM forgotten WHERE id {among}",  # noqa: S608 - names of ours
        (wanted, wanted),
    )
    chains = db.rows(
        "WITH RECURSIVE chain(first, last) AS (SELECT id, id FROM memory"  # noqa: S608 - names of ours
        f" WHERE id {among} UNION SELECT first, superseded_by FROM chain JOIN memory ON id = last"
        " WHERE superseded_by IS NOT NULL) SELECT first, last FROM chain",
        (wanted,),
    )
    current = {
        last: memory
        for last, (_, memory) in memories.by_id(db, [last for _, last in chains]).items()
        if is_current(memory)
    }
    found: dict[str, Memory | None] = {memory_id: None for (memory_id,) in asked}
    return found | {first: current[last] for first, last in chains if last in current}


def retire(tables: FactTables, ids: Iterable[str], reason: str) -> list[Memory]:
    """Take current memories away and return them; `restore` brings them back."""
    db = tables.database
    with db.transaction():
        found = [pair for pair in memories.by_id(db, ids).values() if is_current(pair[1])]
        now = tables.clock()
        memories.remove(db, [(row, reason, None) for row, _ in found], now)
    return [memory for _, memory in found]


def withdraw(
    tables: FactTables, gone: Sequence[Memory], reason: str
) -> tuple[list[str], list[Memory]]:
    """Take what a person struck out or reworded out of the messages that say it too, sentence by sentence.

    What a message said before is history; of fewer than two words nothing stays.
    Returns the ids of the shorter messages, and the messages of which nothing is left.
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
                left = without_sentence(left, fact.content)
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
    return list(added.values()), retired


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


def relate(tables: FactTables, row: int, memory: Memory) -> None:
    """Write the relation that a fact states."""
    relation = read(memory.content).relation if memory.kind == "fact" else None
    if relation is not None:
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
        db.run("UPDATE memory SET embedding_model = NULL")
        db.set_meta(REMADE, model)
    total = int(db.value("SELECT count(*) FROM memory"))
    missing = "SELECT row, content FROM memory WHERE embedding_model IS NULL ORDER BY row LIMIT ?"
    while found := db.rows(missing, (EMBEDDED_AT_ONCE,)):
        rows: dict[int, str] = dict(found)
        vectors = tables.embedded(list(rows.values()))
        if vectors is None:
            raise ProviderError("the embedding model failed; run it again to go on from here")
        with db.transaction():
            tables.put_vectors(dict(zip(rows, vectors, strict=True)))
            tables.vectors.changed()
        left = db.value("SELECT count(*) FROM memory WHERE embedding_model IS NULL")
        yield total - left, total
    db.run("DELETE FROM meta WHERE key = ?", (REMADE,))


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


# Using


def used(tables: FactTables, printed: str, said: str, agent: str) -> list[str]:
    """Return the ids of the memories of a printed text that what was said after it uses."""
    asked = set(content_words(RECALLED.sub(" ", printed)))
    answer = set(content_words(said))
    found = []
    for memory in _printed(tables, printed, agent).values():
        telling = set(content_words(memory.content)) - asked
        if len(telling & answer) >= min(LEAST_TELLING, len(telling)) > 0:
            found.append(memory.id)
    return found


def _printed(tables: FactTables, printed: str, agent: str) -> dict[str, Memory]:
    """Return the memories that a text shows, by the ids or the words in it."""
    db = tables.database
    found = {each.id: each for _, each in memories.by_id(db, _ID.findall(printed)).values()}
    for frame in RECALLED.findall(printed):
        texts = [text for _, text in _ENTRY.findall(frame)]
        texts += [
            f"{subject} {predicate.replace('_', ' ')} {value}"
            for subject, predicate, value in _TRIPLE.findall(frame)
        ]
        for text in texts:
            plain = re.sub(r" \((?:about: .*|until \d{4}-\d\d-\d\d)\)$", "", text)
            for kind in KINDS:
                same = (memories.hashed(plain, kind), agent)
                where = "WHERE hash = ? AND agent = ? AND known_until IS NULL"
                found |= {each.id: each for each in memories.select(db, where, same).values()}
    return found
