"""Writing: texts to rows, in chunks of one transaction each, and what a new statement ends.

What can fail by itself (models, limits) happens before a row is written, so that what was done before
a failure stays done.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from hippocampus.facts import judge, memories, triples
from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.ids import new_id
from hippocampus.facts.models import (
    HEARSAY,
    TRUSTED_ROLES,
    Action,
    Item,
    Kind,
    Memory,
    Outcome,
)
from hippocampus.facts.names import Relation, key
from hippocampus.facts.resolve import Ending, endings
from hippocampus.facts.statements import (
    Statement,
    own_words,
    read,
    sentences,
    topic,
    without_recalled,
    without_sentence,
)
from hippocampus.facts.strength import running_mean
from hippocampus.facts.tables import FactTables
from hippocampus.facts.timestamps import optional_seconds
from hippocampus.facts.wording import type_of
from hippocampus.facts.words import UNSPACED, match_of, query_terms, words

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix

CHUNK = 1000
SHORT = 5
NEWEST = 40
"""How many of the newest statements a new one that ends something is compared with, whatever their words."""
COMPARED = 50
"""How many of the statements that share most of its words a new one is compared with."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One text that is to be kept, with its properties before the file is asked."""

    item: Item
    kind: Kind
    type: str
    intensity: float
    raw: str = ""
    statement: Statement | None = None
    relations: tuple[Relation, ...] = ()
    replaces: bool = False
    """Whether the relations' earlier values end, by the caller's word."""
    vector: Matrix | None = None
    decision: judge.Judgement | None = None


@dataclass(slots=True)
class Chunk:
    """The texts of one transaction, and those of them that the file does not have yet."""

    agent: str
    next_row: int
    hashes: set[int]
    known: dict[str, int] = field(default_factory=dict)
    """The rows that a model was shown, by the names under which it saw them."""
    pending: list[tuple[int, Memory, str]] = field(default_factory=list)
    vectors: dict[int, Matrix] = field(default_factory=dict)


# What is wanted


def wanted_of(tables: FactTables, item: Item) -> list[Wanted]:
    """Return the statements of a text: a model's where there is one and it answers, else its sentences.

    Secrets are taken out before, so that no model sees them and no raw text holds them. A pasted
    part is no statement of the user; where there is nothing else, it is kept whole as such.
    """
    text = tables.without_secrets(item.content)
    if tables.complete is not None and item.origin.role in TRUSTED_ROLES:
        drafts = judge.extracted(tables.complete, own_words(text) or text)
        if drafts is not None:
            return [_of_draft(tables, item, draft, text) for draft in drafts]
    own = own_words(text)
    found = [each for each in sentences(own) if not each.endswith(("?", "？", "؟"))]
    if not found and not sentences(own):
        rest = without_recalled(text)
        tags = tuple(dict.fromkeys([*item.tags, HEARSAY]))
        pasted = replace(item, content=rest, type=item.type or "note", tags=tags)
        return [replace(claim(tables, pasted), statement=None, relations=())] if rest else []
    return [
        replace(claim(tables, replace(item, content=each)), raw=text) for each in _joined(found)
    ]


def _joined(found: Iterable[str]) -> list[str]:
    """Return sentences, a short correction together with the next one, which has the right value."""
    joined: list[str] = []
    for each in found:
        if joined and len(words(joined[-1])) <= SHORT and read(joined[-1]).corrects:
            joined[-1] = f"{joined[-1]} {each}"
        else:
            joined.append(each)
    return joined


def claim(tables: FactTables, item: Item) -> Wanted:
    """Return a text as one statement, as it is."""
    statement = read(item.content)
    kind = item.type or ("note" if statement.hearsay else type_of(item.content))
    if statement.hearsay and item.origin.role in TRUSTED_ROLES:
        item = replace(item, tags=tuple(dict.fromkeys([*item.tags, HEARSAY])))
    relations = (statement.relation,) if statement.relation else ()
    return Wanted(item, "fact", kind, _intensity(tables, item), "", statement, relations)


def content(tables: FactTables, item: Item) -> Wanted:
    """Return a text as it is, to be kept word by word."""
    return Wanted(item, "memory", item.type or tables.policy.type, _intensity(tables, item))


def relation(tables: FactTables, item: Item, said: Relation, *, replaces: bool, raw: str) -> Wanted:
    """Return one relation as a fact."""
    raw = tables.without_secrets(raw)
    return Wanted(item, "fact", "fact", _intensity(tables, item), raw, None, (said,), replaces)


def _of_draft(tables: FactTables, item: Item, draft: judge.Draft, text: str) -> Wanted:
    plain = replace(item, content=draft.content)
    statement = read(draft.content)
    own = (statement.relation,) if statement.relation else ()
    intensity = item.intensity if item.intensity is not None else draft.intensity
    return Wanted(
        plain,
        "fact",
        item.type or draft.type,
        tables.policy.importance if intensity is None else intensity,
        text,
        statement,
        draft.relations or own,
    )


def _intensity(tables: FactTables, item: Item) -> float:
    return tables.policy.importance if item.intensity is None else item.intensity


# Keeping


def keep(tables: FactTables, wanted: Iterable[Wanted], agent: str) -> list[Outcome]:
    """Write texts, a thousand to a transaction, each seeing those before it."""
    outcomes: list[Outcome] = []
    chunk: list[Wanted] = []
    for one in wanted:
        chunk.append(one)
        if len(chunk) == CHUNK:
            outcomes += _keep_chunk(tables, chunk, agent)
            chunk = []
    return outcomes + (_keep_chunk(tables, chunk, agent) if chunk else [])


def _keep_chunk(tables: FactTables, wanted: list[Wanted], agent: str) -> list[Outcome]:
    refused: dict[int, Outcome] = {}
    for place, one in enumerate(wanted):
        if not 0 <= one.intensity <= 1:
            raise FactError(f"intensity {one.intensity} is not between 0 and 1")
        for at in (one.item.at, one.item.valid_from, one.item.valid_until):
            optional_seconds(at)
        if reason := tables.refusal(one.item.content):
            refused[place] = Outcome(Action.REFUSED, reason, None)
    good = [one for place, one in enumerate(wanted) if place not in refused]
    kept = iter(_write(tables, good, agent) if good else [])
    return [refused[place] if place in refused else next(kept) for place in range(len(wanted))]


def _write(tables: FactTables, wanted: list[Wanted], agent: str) -> list[Outcome]:
    vectors = tables.embedded([_spoken(one.item) for one in wanted])
    if vectors is not None:
        wanted = [replace(one, vector=vectors[place]) for place, one in enumerate(wanted)]
    known: dict[str, int] = {}
    if tables.complete is not None:
        wanted, known = _decided(tables, wanted, agent)
    with tables.database.transaction():
        hashes = (memories.hashed(one.item.content, one.kind) for one in wanted)
        chunk = Chunk(
            agent,
            memories.next_row(tables.database),
            memories.hashes_among(tables.database, hashes),
            known,
        )
        outcomes = [_once(tables, one, chunk, place) for place, one in enumerate(wanted)]
        _flush(tables, chunk)
        tables.put_vectors(chunk.vectors)
    return outcomes


def _spoken(item: Item) -> str:
    """Return the words of a turn that are embedded: without the name of who speaks."""
    name, colon, rest = item.content.partition(": ")
    is_name = item.origin.turn is not None and colon and len(name) <= 40 and "\n" not in name
    return rest if is_name and rest.strip() else item.content


def _flush(tables: FactTables, chunk: Chunk) -> None:
    if chunk.pending:
        memories.insert(tables.database, chunk.pending)
        chunk.pending.clear()


def _once(tables: FactTables, wanted: Wanted, chunk: Chunk, place: int) -> Outcome:
    """Keep a text, but for one that counts once and has counted."""
    chunk.known[f"n{place + 1}"] = chunk.next_row
    once = wanted.item.once
    if not once:
        return _keep_one(tables, wanted, chunk)
    receipt = memories.receipt(tables.database, once)
    if receipt is None:
        outcome = _keep_one(tables, wanted, chunk)
        kept = outcome.memory.id if outcome.memory else ""
        memories.give_receipt(tables.database, once, kept, outcome.action)
        return outcome
    _flush(tables, chunk)
    memory_id, action = receipt
    found = memories.by_id(tables.database, [memory_id]).get(memory_id)
    return Outcome(Action(action), "it was kept before", found[1] if found else None)


def _keep_one(tables: FactTables, wanted: Wanted, chunk: Chunk) -> Outcome:
    item, now = wanted.item, tables.clock()
    at = now if item.at is None else item.at
    number = memories.hashed(item.content, wanted.kind)
    if number in chunk.hashes:
        _flush(tables, chunk)
        same = memories.with_hash(tables.database, number, wanted.kind, chunk.agent, item.scope)
        if same:
            return _strengthen(tables, same[0], wanted, at, "the same text")
    chunk.hashes.add(number)
    memory = memories.made(
        item,
        new_id(at),
        wanted.kind,
        chunk.agent,
        at,
        type_name=wanted.type,
        intensity=wanted.intensity,
        raw=wanted.raw,
    )
    if wanted.decision is not None:
        return _follow(tables, wanted, memory, chunk)
    if (duplicate := _in_band(tables, wanted, chunk)) is not None:
        return _strengthen(tables, duplicate, wanted, at, "it says the same")
    return _resolve(tables, wanted, memory, chunk)


def _resolve(tables: FactTables, wanted: Wanted, memory: Memory, chunk: Chunk) -> Outcome:
    """Add a memory, and end what its own words, or its caller, say it ends."""
    if not wanted.relations and not (wanted.statement and wanted.statement.may_end):
        return _added(tables, wanted, memory, chunk, Action.ADDED, "new")
    _flush(tables, chunk)
    ends = _ends(tables, wanted, memory)
    olds = memories.by_row(tables.database, [each.row for each in ends]).values()
    later = [old for old in olds if old.valid_from > memory.valid_from]
    if later:
        first = min(later, key=lambda old: old.valid_from)
        past = replace(
            memory, valid_until=first.valid_from, superseded_by=first.id, known_until=memory.created
        )
        outcome = _added(
            tables, wanted, past, chunk, Action.ADDED, "it was true before what is known"
        )
        return replace(outcome, others=(first.id,))
    return _superseding(tables, wanted, memory, chunk, ends)


def _ends(tables: FactTables, wanted: Wanted, memory: Memory) -> list[Ending]:
    db, statement = tables.database, wanted.statement
    rivals: dict[int, Memory] = {}
    for each in wanted.relations:
        resolved = triples.resolved(db, memory.agent, each)
        found = triples.rivals(db, memory, resolved)
        rivals |= memories.by_row(
            db, [row for row, value in found if key(value) != key(resolved.object)]
        )
    if wanted.replaces:
        return [
            Ending(row, old.content, "", "the caller says that it changed")
            for row, old in rivals.items()
        ]
    if statement is None or not statement.may_end:
        return []
    place = memory.agent, memory.scope, memory.created
    newest = memories.newest(db, *place, NEWEST)
    candidates = rivals | newest | _likely(db, memory.content, *place, COMPARED)
    return endings(
        statement,
        memory,
        sorted(candidates.items(), key=lambda each: (-each[1].valid_from, -each[0])),
    )


def _likely(  # noqa: PLR0913, PLR0917 - each is one filter
    db: Database, text: str, agent: str, scope: str, now: float, most: int
) -> dict[int, Memory]:
    """Return the current facts and memories that share most of their words with a text."""
    match = match_of(text)
    if not match:
        return {}
    found = db.rows(
        "SELECT memory_text.rowid FROM memory_text JOIN memory ON row = memory_text.rowid WHERE memory_text MATCH ?"  # noqa: S608 - names of ours
        f" AND agent = ? AND scope = ? AND {memories.CURRENT} ORDER BY rank LIMIT ?",
        (match, agent, scope, now, most),
    )
    ranked = [row for (row,) in found]
    there = memories.by_row(db, ranked)
    return {row: there[row] for row in ranked}


def _superseding(
    tables: FactTables, wanted: Wanted, memory: Memory, chunk: Chunk, ends: Sequence[Ending]
) -> Outcome:
    if not ends:
        return _added(tables, wanted, memory, chunk, Action.ADDED, "new")
    olds = memories.by_row(tables.database, [each.row for each in ends])
    context = " ".join(dict.fromkeys(_without_value(each) for each in ends)).strip()
    about = _about(ends[0]) if wanted.statement is not None and wanted.statement.corrects else ""
    if about:
        memory = replace(memory, metadata={**memory.metadata, "about": about})
    outcome = _added(tables, wanted, memory, chunk, Action.SUPERSEDED, ends[0].reason, context)
    _flush(tables, chunk)
    for each in ends:
        end_sentence(tables, each.row, each.sentence, memory, chunk)
    return replace(outcome, others=tuple(dict.fromkeys(olds[each.row].id for each in ends)))


def _without_value(ending: Ending) -> str:
    """Return the words of an ended sentence without its old value: who looks for them means the new one."""
    if re.search(f"[{UNSPACED}]", ending.old):
        return ending.sentence.replace(ending.old, " ")
    gone = set(words(ending.old))
    return " ".join(word for word in ending.sentence.split() if not gone & set(words(word)))


def _about(ending: Ending) -> str:
    """Return the words of a corrected sentence before its wrong value, which say what a correction is about."""
    place = ending.sentence.lower().find(ending.old.lower()) if ending.old else -1
    before = ending.sentence[: max(place, 0)].strip()
    return f"{before} …" if topic(before) else ""


def end_sentence(
    tables: FactTables, row: int, sentence: str, by: Memory, chunk: Chunk | None = None
) -> None:
    """End a sentence wherever the agent's memories have it: a longer memory goes on without it."""
    db = tables.database
    there = memories.by_row(db, [row])
    phrase = " ".join(words(sentence))
    if phrase:
        match = " AND ".join(f"({term})" for term in query_terms(sentence).values())
        there |= memories.matching(db, match, by.agent, by.scope, tables.clock(), COMPARED)
    for number, old in there.items():
        if old.id == by.id or old.known_until is not None:
            continue
        left = without_sentence(old.content, sentence)
        if number != row and left == old.content:
            continue
        if left == old.content or len(words(left)) < 2:
            tables.end(number, by.id, until=max(by.valid_from, old.valid_from), known=by.created)
            continue
        shorter = replace(old, id=new_id(tables.clock()), content=left, embedding_model=None)
        new_row = memories.next_row(db)
        memories.insert(db, [(new_row, shorter, "")])
        if chunk is not None:
            chunk.next_row = new_row + 1
        tables.end(number, shorter.id, until=max(by.valid_from, old.valid_from), known=by.created)


# What follows


def _added(  # noqa: PLR0913, PLR0917 - each is one thing that is written
    tables: FactTables,
    wanted: Wanted,
    memory: Memory,
    chunk: Chunk,
    action: Action,
    reason: str,
    context: str = "",
) -> Outcome:
    row, chunk.next_row = chunk.next_row, chunk.next_row + 1
    if wanted.vector is not None:
        chunk.vectors[row] = wanted.vector
        memory = replace(memory, embedding_model=tables.embed_model)
    chunk.pending.append((row, memory, context))
    if not wanted.relations:
        return Outcome(action, reason, memory)
    _flush(tables, chunk)
    for each in wanted.relations:
        triples.add(
            tables.database, row, memory, triples.resolved(tables.database, memory.agent, each)
        )
    return Outcome(
        action, reason, memory, triples=triples.of_rows(tables.database, [row]).get(row, ())
    )


def _strengthen(tables: FactTables, row: int, wanted: Wanted, at: float, reason: str) -> Outcome:
    old = memories.by_row(tables.database, [row])[row]
    intensity = running_mean(old.intensity, old.encounters, wanted.intensity)
    memories.strengthen(tables.database, row, intensity, at)
    memory = memories.by_row(tables.database, [row])[row]
    return Outcome(Action.STRENGTHENED, reason, memory, others=(memory.id,))


def _in_band(tables: FactTables, wanted: Wanted, chunk: Chunk) -> int | None:
    """Return the row that is the same by the bands of a foreign store, where the policy has them."""
    policy = tables.policy
    if wanted.kind != "fact" or not (policy.duplicate_cosine or policy.duplicate_minhash):
        return None
    from hippocampus.facts.compat.bands import duplicate_of

    _flush(tables, chunk)
    return duplicate_of(tables, wanted.item, wanted.type, wanted.vector, chunk.agent, chunk.vectors)


# With a model


def _decided(
    tables: FactTables, wanted: list[Wanted], agent: str
) -> tuple[list[Wanted], dict[str, int]]:
    """Ask once about all new facts that have stored ones on the same subject."""
    facts = [place for place, one in enumerate(wanted) if one.kind == "fact" and not one.replaces]
    shown: dict[int, Memory] = {}
    for place in facts:
        if len(shown) < judge.MOST_ASKED:
            shown |= _related(tables, wanted[place], agent)
    known = {f"k{number}": row for number, row in enumerate(shown, 1)}
    texts = {name: shown[row].content for name, row in known.items()}
    if len(facts) > 1:
        texts |= {f"n{place + 1}": wanted[place].item.content for place in facts[:-1]}
    if not texts or not facts or tables.complete is None:
        return wanted, known
    answers = judge.decided(tables.complete, [wanted[place].item.content for place in facts], texts)
    decided = list(wanted)
    for number, decision in answers.items():
        earlier = tuple(
            each for each in decision.known if each[0] == "k" or int(each[1:]) - 1 < facts[number]
        )
        if earlier or decision.action in {"add", "keep"}:
            decided[facts[number]] = replace(
                wanted[facts[number]], decision=decision._replace(known=earlier)
            )
    return decided, known


def _related(tables: FactTables, wanted: Wanted, agent: str) -> dict[int, Memory]:
    """Return the stored facts that are about what a new one is about: by subject and relation, then by words."""
    db, item = tables.database, wanted.item
    probe = memories.made(item, "", "fact", agent, tables.clock(), type_name="", intensity=0)
    rows: list[int] = []
    for each in wanted.relations:
        rows += [row for row, _ in triples.rivals(db, probe, triples.resolved(db, agent, each))]
    found = memories.by_row(db, rows[: tables.policy.candidates])
    by_words = _likely(db, item.content, agent, item.scope, probe.created, COMPARED)
    facts = [(row, each) for row, each in by_words.items() if each.kind == "fact"]
    likely = dict(facts[: tables.policy.candidates])
    if wanted.vector is not None and tables.has_vectors:
        near = tables.vectors.nearest(wanted.vector, tables.policy.candidates)
        close = [row for row, cosine in near.items() if cosine >= (tables.policy.new_cosine or 0.5)]
        likely |= memories.by_row(db, close)
    own = {
        row: each for row, each in likely.items() if (each.agent, each.scope) == (agent, item.scope)
    }
    current = {
        row: each
        for row, each in (found | own).items()
        if each.known_until is None and each.kind == "fact"
    }
    return {row: each for row, each in current.items() if each.content != item.content}


def _follow(tables: FactTables, wanted: Wanted, memory: Memory, chunk: Chunk) -> Outcome:
    """Do what a model decided; it ends nothing that a more trusted role said."""
    decision = wanted.decision
    assert decision is not None
    _flush(tables, chunk)
    rows = [chunk.known[name] for name in decision.known if name in chunk.known]
    olds = memories.by_row(tables.database, rows)
    trusted = memory.origin.role in TRUSTED_ROLES
    olds = {
        row: old
        for row, old in olds.items()
        if old.known_until is None and (trusted or old.origin.role == memory.origin.role)
    }
    outcome: Outcome
    if decision.action == "same" and olds:
        return _strengthen(
            tables, next(iter(olds)), wanted, memory.created, "a model says that it is the same"
        )
    if decision.action in {"update", "end"} and olds:
        text = tables.without_secrets(decision.text) if decision.action == "update" else ""
        if text and not tables.refusal(text):
            memory = replace(memory, content=text, raw=memory.raw or wanted.item.content)
            wanted = replace(wanted, vector=None)
        ends = [
            Ending(row, old.content, "", f"a model says: {decision.action}")
            for row, old in olds.items()
        ]
        outcome = _superseding(tables, wanted, memory, chunk, ends)
    else:
        outcome = _added(tables, wanted, memory, chunk, Action.ADDED, "new")
    if decision.action == "keep" and olds:
        outcome = replace(
            outcome, action=Action.KEPT_APART, others=tuple(old.id for old in olds.values())
        )
    return outcome
