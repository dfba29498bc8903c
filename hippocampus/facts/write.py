"""Writing: texts to rows, in chunks of one transaction each, and what a new statement ends.

What can fail by itself (models, limits) happens before a row is written, so that what was done before
a failure stays done.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from hippocampus.entries.entry import storable
from hippocampus.errors import FactError
from hippocampus.facts import judge
from hippocampus.facts.models import TRUSTED_ROLES, Action, Complete, Outcome
from hippocampus.facts.pasted import own_words
from hippocampus.facts.resolve import Ending, endings
from hippocampus.facts.sentences import sentences, without_recalled, without_sentence
from hippocampus.facts.statements import Statement, joined, read, type_of
from hippocampus.facts.tables import FactTables
from hippocampus.facts.timestamps import Moment, new_id, optional_seconds
from hippocampus.facts.topics import differ, holds, similarities, topic
from hippocampus.facts.upkeep import reword
from hippocampus.facts.words import UNSPACED_SIGN, key, normalised, query_terms, words
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.facts.rows import (
    EVERY_AGENT,
    HEARSAY,
    Item,
    Kind,
    Memory,
    Origin,
    Relation,
)

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix
    from hippocampus.storage.database import Database

SHOWN_CHARACTERS = 300
"""A longer sentence is shown to no model."""
CHUNK = 1000
MAX_SPEAKER = 40
"""A longer text before the first colon of a turn is no name."""
TYPE, IMPORTANCE = "note", 0.5
"""Of a memory that is stored without them."""
CANDIDATES = 5
"""How many of the nearest facts a new one is compared with."""
NEWEST = 40
"""How many of the newest statements a new one that ends something is compared with, whatever their words."""
MIN_WORDS = 2
"""Of a memory of which a sentence ended, fewer words are not kept."""
COMPARED = 50
"""How many of the statements that share most of its words a new one is compared with."""


class ShownSentence(NamedTuple):
    """A sentence of a memory, as a model is shown it."""

    memory_id: str
    sentence: str


class ItemFields(TypedDict, total=False):
    """What a caller may say of a text besides its words."""

    type: str | None
    intensity: float | None
    scope: str
    tags: Sequence[str]
    origin: Origin
    at: Moment | None
    """When it was said."""
    valid_from: Moment | None
    valid_until: Moment | None
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """One text that is to be kept, with its properties before the file is asked."""

    item: Item
    """Its type is named."""
    kind: Kind
    raw: str = ""
    statement: Statement | None = None
    relations: tuple[Relation, ...] = ()
    only_if_ending: bool = False
    """Whether it is kept only if it ends an earlier statement."""
    only_if_no_fact: bool = False
    """Whether it is left out where a fact has its words."""
    vector: Matrix | None = None
    decision: judge.Judgement | None = None
    name: str = ""
    """How a model's decisions name it."""
    refusal: str = ""
    """Why it is not kept; empty where it is."""


def remember_many(
    tables: FactTables, items: Iterable[Item], *, agent: str | None = None
) -> list[Outcome]:
    """Remember every item as one statement, as it is; a thousand to a transaction.

    Each sees those before it. No completion extracts; one a thousand decides.
    """
    return keep(tables, map(claim, items), agent)


def store_many(
    tables: FactTables, items: Iterable[Item], *, agent: str | None = None
) -> list[Outcome]:
    """Keep texts word by word; the same text again strengthens the first; a thousand to a transaction."""
    return keep(tables, map(verbatim, items), agent)


def item_of(content: str, *, tags: Sequence[str] = (), **fields: Any) -> Item:
    """Return an item of a caller's fields, with its dates read."""
    dates = ("at", "valid_from", "valid_until")
    fields |= {name: optional_seconds(fields.get(name)) for name in dates}
    return Item(content, tags=tuple(tags), **fields)


# Requests


def requests_of(tables: FactTables, item: Item) -> list[MemoryRequest]:
    """Return the statements of a text: a model's where there is one and it answers, else its sentences.

    Secrets are taken out before, so that no model sees them and no raw text holds them. A pasted
    part is no statement of the user; where there is nothing else, it is kept whole as such.
    """
    text = tables.without_secrets(item.content)
    if tables.complete is not None and item.origin.role in TRUSTED_ROLES:
        drafts = judge.extract(tables.complete, own_words(text) or without_recalled(text))
        if drafts is not None:
            requests = []
            for draft, stated in drafts:
                intensity = draft.intensity if item.intensity is None else item.intensity
                kind = item.type or draft.type or type_of(draft.content)
                one = replace(item, content=draft.content, intensity=intensity, type=kind)
                statement = read(draft.content)
                relations = tuple(stated) or statement.relations
                requests.append(
                    MemoryRequest(one, "fact", raw=text, statement=statement, relations=relations)
                )
            return requests
    own = own_words(text)
    found = [sentence for sentence in sentences(own) if not sentence.endswith(("?", "？", "؟"))]
    if not found and not sentences(own):
        rest = without_recalled(text)
        tags = tuple(dict.fromkeys([*item.tags, HEARSAY]))
        pasted = replace(item, content=rest, type=item.type or "note", tags=tags)
        return [replace(claim(pasted), statement=None, relations=())] if rest else []
    return [replace(claim(replace(item, content=sentence)), raw=text) for sentence in joined(found)]


def claim(item: Item) -> MemoryRequest:
    """Return a text as one statement, as it is."""
    statement = read(item.content)
    kind = item.type or ("note" if statement.hearsay else type_of(item.content))
    is_hearsay = statement.hearsay and item.origin.role in TRUSTED_ROLES
    tags = tuple(dict.fromkeys([*item.tags, HEARSAY])) if is_hearsay else item.tags
    kept = replace(item, type=kind, tags=tags)
    return MemoryRequest(kept, "fact", statement=statement, relations=statement.relations)


def verbatim(item: Item) -> MemoryRequest:
    """Return a text that is kept word by word."""
    return MemoryRequest(replace(item, type=item.type or TYPE), "memory")


# Keeping


def keep(
    tables: FactTables, wanted: Iterable[MemoryRequest], agent: str | None = None
) -> list[Outcome]:
    """Write texts, a thousand to a transaction; a later one sees those before it."""
    agent = agent or tables.agent
    if agent == EVERY_AGENT:
        raise FactError(f"{EVERY_AGENT!r} asks for all agents; name the one that remembers")
    outcomes: list[Outcome] = []
    waiting = iter(wanted)
    while chunk := list(itertools.islice(waiting, CHUNK)):
        outcomes += write_prepared(tables, agent, *prepare(tables, chunk, agent))
    return outcomes


def _refusal(tables: FactTables, item: Item) -> str:
    more = str(dict(item.metadata)) if item.metadata else ""
    return tables.refusal(item.content) or tables.refusal_of_secrets(more)


def prepare(
    tables: FactTables,
    chunk: Sequence[MemoryRequest],
    agent: str,
    known: Mapping[str, ShownSentence] | None = None,
) -> tuple[list[MemoryRequest], dict[str, ShownSentence]]:
    """Return texts with all that models say of them, and what decisions name; no transaction waits for a model.

    Raises:
        FactError: an intensity or a date is invalid.
    """
    for one in chunk:
        if one.item.intensity is not None and not 0 <= one.item.intensity <= 1:
            raise FactError(f"intensity {one.item.intensity} is not between 0 and 1")
        for at in (one.item.at, one.item.valid_from, one.item.valid_until):
            optional_seconds(at)
    requests = [replace(one, refusal=_refusal(tables, one.item)) for one in chunk]
    good = [at for at, one in enumerate(requests) if not one.refusal]
    spoken = []  # the embedded words: a turn without the name of who speaks
    for item in (requests[at].item for at in good):
        name, colon, rest = item.content.partition(": ")
        is_name = (
            item.origin.turn is not None and colon and len(name) <= MAX_SPEAKER and "\n" not in name
        )
        spoken.append(rest if is_name and rest.strip() else item.content)
    vectors = tables.embedded(spoken)
    for at, vector in zip(good, () if vectors is None else vectors, strict=False):
        requests[at] = replace(requests[at], vector=vector)
    if tables.complete is not None and known is None:
        places = [at for at in good if requests[at].kind == "fact"]
        facts = [requests[at] for at in places]
        facts, known = ask_judge(tables, facts, agent, tables.complete, judge.SECONDS)
        for at, one in zip(places, facts, strict=True):
            requests[at] = one
    return requests, dict(known or {})


def write_prepared(
    tables: FactTables,
    agent: str,
    requests: Iterable[MemoryRequest],
    known: dict[str, ShownSentence],
) -> list[Outcome]:
    """Write prepared texts in one transaction, or as a part of the open one; each sees those before it."""
    writer = _Transaction(tables, agent, known)
    kept = []
    with tables.database.transaction():
        for one in requests:
            kept.append(outcome := writer.keep(one))
            if outcome.memory:  # what a model decides of later ones may name it
                known[one.name] = ShownSentence(outcome.memory.id, outcome.memory.content)
        tables.put_vectors(writer.vectors)
    return kept


class _Transaction:
    """Writes the texts of one transaction."""

    def __init__(self, tables: FactTables, agent: str, known: dict[str, ShownSentence]) -> None:
        self._tables = tables
        self._db = tables.database
        self._agent = agent
        self._known = known
        """By the names under which a model was shown them."""
        self.vectors: dict[int, Matrix] = {}

    def keep(self, wanted: MemoryRequest) -> Outcome:
        """Keep a text: strengthen an equal one, else follow a model's decision or the text's own words."""
        if wanted.refusal:
            return Outcome(Action.REFUSED, wanted.refusal, None)
        item, now = wanted.item, self._tables.clock()
        at = now if item.at is None else item.at
        memory = Memory(
            id=new_id(at),
            kind=wanted.kind,
            type=item.type or TYPE,
            content=storable(item.content),
            intensity=IMPORTANCE if item.intensity is None else item.intensity,
            agent=self._agent,
            scope=item.scope,
            tags=tuple(item.tags),
            origin=item.origin,
            created=at,
            accessed=at,
            valid_from=at if item.valid_from is None else item.valid_from,
            valid_until=item.valid_until,
            raw=storable(wanted.raw) if wanted.raw != item.content else "",
            metadata=item.metadata,
        )
        if wanted.only_if_no_fact and memories.same(self._db, memory, "fact", now) is not None:
            return Outcome(Action.REFUSED, "a fact has its words", None)
        if (row := memories.same(self._db, memory, wanted.kind, now)) is not None:
            return self._strengthen(row, memory, "the same text")
        if wanted.decision is not None:
            return self._follow(wanted, wanted.decision, memory)
        if (duplicate := self._in_band(wanted)) is None:
            return self._resolve(wanted, memory)
        outcome = self._strengthen(duplicate, memory, "it says the same")
        if self._tables.policy.duplicate_minhash and outcome.memory is not None:
            # As scriptling does, put the new words in the place of the old ones.
            if wanted.vector is not None:
                self.vectors[duplicate] = wanted.vector
            memory = reword(self._tables, duplicate, outcome.memory, item.content)
            outcome = outcome._replace(reason="a very similar one was updated", memory=memory)
        return outcome

    def _in_band(self, wanted: MemoryRequest) -> int | None:
        """Return the current row that is the same by the bands of a foreign store, where the policy has them."""
        tables, policy, item = self._tables, self._tables.policy, wanted.item
        if wanted.kind != "fact":
            return None
        likely: dict[int, float] = {}
        if wanted.vector is not None and policy.duplicate_cosine:
            if tables.has_vectors:
                likely = tables.vectors.nearest(wanted.vector, CANDIDATES)
            likely |= {row: float(wanted.vector @ other) for row, other in self.vectors.items()}
            likely = {row: near for row, near in likely.items() if near > policy.duplicate_cosine}
        if policy.duplicate_minhash:
            near = close_to(tables, item.content, self._agent, item.scope)
            alike = similarities(item.content, near)
            likely |= {row: one for row, one in alike.items() if one >= policy.duplicate_minhash}
        place = (self._agent, item.scope, item.type, "fact")
        same = [
            row
            for row, old in (memories.by_row(self._db, likely) if likely else {}).items()
            if (old.agent, old.scope, old.type, old.kind) == place
            and memories.is_current(old)
            and HEARSAY not in old.tags
            and item.origin.role in {*TRUSTED_ROLES, old.origin.role}
            and not differ(old.content, item.content)
        ]
        return max(same, key=likely.__getitem__, default=None)

    def _strengthen(self, row: int, again: Memory, reason: str) -> Outcome:
        """Count an encounter; the intensity is the mean of all encounters."""
        old = memories.by_row(self._db, [row])[row]
        total, count = old.intensity * old.encounters, old.encounters + 1
        changed: dict[str, Any] = {
            "intensity": (total + again.intensity) / count,
            "encounters": count,
            "accessed": max(old.accessed, again.created),
        }
        # What was said earlier, such as that of an older store, does not end what was said later.
        if again.valid_until is not None and again.created >= old.created:
            changed["valid_until"] = again.valid_until
        memory = replace(old, **changed)
        memories.update(self._db, [row], **changed)
        return Outcome(Action.STRENGTHENED, reason, memory, others=(memory.id,))

    def _add(
        self,
        wanted: MemoryRequest,
        memory: Memory,
        reason: str = "new",
        action: Action = Action.ADDED,
        context: str = "",
    ) -> Outcome:
        row = memories.insert(self._db, memory, context)
        if wanted.vector is not None:
            self.vectors[row] = wanted.vector
            memory = replace(memory, embedding_model=self._tables.embed_model)
        for relation in wanted.relations:
            triples.add(self._db, row, memory, relation)
        return Outcome(action, reason, memory)

    def _resolve(self, wanted: MemoryRequest, memory: Memory) -> Outcome:
        """Add a memory, and end what its own words say it ends."""
        ends = self._ends(wanted, memory)
        if wanted.only_if_ending and not ends:
            return Outcome(Action.REFUSED, "it ends nothing that is known", None)
        olds = memories.by_row(self._db, [end.row for end in ends]).values()
        later = (old for old in olds if old.valid_from > memory.valid_from)
        first = min(later, key=lambda old: old.valid_from, default=None)
        if first is None:
            return self._supersede(wanted, memory, ends)
        past = replace(
            memory, valid_until=first.valid_from, superseded_by=first.id, known_until=memory.created
        )
        outcome = self._add(wanted, past, "it was true before what is known")
        return outcome._replace(others=(first.id,))

    def _ends(self, wanted: MemoryRequest, memory: Memory) -> list[Ending]:
        db, statement = self._db, wanted.statement
        if statement is None or not statement.may_end:
            return []
        rivals = memories.by_row(db, _rivals(db, memory.agent, memory.scope, wanted))
        newest = memories.newest(db, memory.agent, [memory.scope], memory.created, NEWEST)
        likely = close_to(self._tables, memory.content, memory.agent, memory.scope)
        known = [
            (row, old)
            for row, old in (rivals | newest | likely).items()
            if HEARSAY not in old.tags  # the words of others are no statement of the speaker
        ]
        found = endings(
            statement, memory, sorted(known, key=lambda pair: (-pair[1].valid_from, -pair[0]))
        )
        if statement.moves and memory.origin.role in TRUSTED_ROLES:
            ended = {end.row for end in found}
            reason = "another value has taken its place"
            # What took a value's place has its relation, which its own words do not name.
            found += [
                Ending(row, old.content, "", reason)
                for row, old in known
                if row in rivals and row not in ended and not read(old.content).relations
            ]
        return found

    def _supersede(self, wanted: MemoryRequest, memory: Memory, ends: Sequence[Ending]) -> Outcome:
        if not ends:
            return self._add(wanted, memory)
        if wanted.statement and not wanted.relations:
            inherited = dict.fromkeys(  # with the values that it puts in the place of theirs
                Relation(known.subject, known.predicate, swap.new)
                for end in ends
                for known in read(end.sentence).relations
                for swap in wanted.statement.swaps
                if swap.new and swap.old == end.old and key(known.object) == key(end.old)
            )
            wanted = replace(wanted, relations=tuple(inherited))
        olds = memories.by_row(self._db, [end.row for end in ends])
        contexts = []
        for end in ends:  # without the old values: who looks for the other words means the new one
            gone = set(words(end.old))
            left = (word for word in end.sentence.split() if not gone & set(words(word)))
            is_unspaced = UNSPACED_SIGN.search(end.old)
            contexts.append(end.sentence.replace(end.old, " ") if is_unspaced else " ".join(left))
        context = " ".join(dict.fromkeys(contexts)).strip()
        # The words of an ended sentence before its value, which the text leaves out.
        first = ends[0]
        place = first.sentence.lower().find(first.old.lower()) if first.old else -1
        before = first.sentence[: max(place, 0)].strip()
        if (named := topic(before)) and not holds(memory.content, named):
            memory = replace(memory, metadata={**memory.metadata, "about": f"{before} …"})
        outcome = self._add(wanted, memory, ends[0].reason, Action.SUPERSEDED, context)
        for end in ends:
            self._end_sentence(end.row, end.sentence, memory)
        return outcome._replace(others=tuple(dict.fromkeys(olds[end.row].id for end in ends)))

    def _end_sentence(self, row: int, sentence: str, by: Memory) -> None:
        """End a sentence wherever the agent's memories have it: a longer memory goes on without it.

        Pasted words stay as they are.
        """
        there = memories.by_row(self._db, [row])
        match = " AND ".join(f"({term})" for term in query_terms(sentence).values())
        there |= memories.matching(
            self._db, match, by.agent, by.scope, self._tables.clock(), COMPARED
        )
        for number, old in there.items():
            left = without_sentence(old.content, sentence)
            is_meant = number == row or (left != old.content and HEARSAY not in old.tags)
            if old.id == by.id or old.known_until is not None or not is_meant:
                continue
            heir = by.id
            if left != old.content and len(words(left)) >= MIN_WORDS:
                now = self._tables.clock()
                heir = new_id(now)  # of the rest of the memory, which `reembed` embeds
                rest = replace(old, id=heir, content=left, created=now, embedding_model=None)
                memories.insert(self._db, rest)
            until = max(by.valid_from, old.valid_from)
            memories.update(
                self._db, [number], superseded_by=heir, ended=until, known_until=by.created
            )

    def _follow(self, wanted: MemoryRequest, decision: judge.Judgement, memory: Memory) -> Outcome:
        """Do what a model decided; it ends nothing that a more trusted role said.

        Where nothing that it was shown is concerned, the statement's own words decide.
        """
        named = dict(self._known[name] for name in decision.known if name in self._known)
        trusted = memory.origin.role in TRUSTED_ROLES
        olds = {
            row: old
            for row, old in memories.by_id(self._db, named).values()
            if old.known_until is None and (trusted or old.origin.role == memory.origin.role)
        }
        if decision.action == "same" and olds:
            reason = "a model says that it is the same"
            return self._strengthen(next(iter(olds)), memory, reason)
        if decision.action in {"update", "end"} and olds:
            text = self._tables.without_secrets(decision.text)
            if decision.action == "update" and text and not self._tables.refusal(text):
                memory = replace(memory, content=text, raw=memory.raw or wanted.item.content)
                wanted = replace(wanted, vector=None)
            reason = f"a model decided: {decision.action}"
            ends = [Ending(row, named[old.id], "", reason) for row, old in olds.items()]
            return self._supersede(wanted, memory, ends)
        if decision.action == "keep" and olds:
            others = tuple(old.id for old in olds.values())
            return self._add(wanted, memory)._replace(action=Action.KEPT_APART, others=others)
        return self._resolve(wanted, memory)


def close_to(tables: FactTables, text: str, agent: str, scope: str) -> dict[int, Memory]:
    """Return the current memories that share most words with a text."""
    match, now = " OR ".join(query_terms(text).values()), tables.clock()
    return memories.matching(tables.database, match, agent, scope, now, COMPARED)


def _rivals(db: Database, agent: str, scope: str, wanted: MemoryRequest) -> list[int]:
    """Return the rows with other values of a text's relations."""
    return [
        row for relation in wanted.relations for row in triples.rivals(db, agent, scope, relation)
    ]


# With a model


def ask_judge(
    tables: FactTables, new: Sequence[MemoryRequest], agent: str, complete: Complete, seconds: float
) -> tuple[list[MemoryRequest], dict[str, ShownSentence]]:
    """Ask once what new statements do to the newest ones of the speaker; return them with the answers.

    Other values of the new relations are shown too. The second result has what the answers name. A statement that the model leaves out gets no answer.
    """
    db, scopes = tables.database, [one.item.scope for one in new]
    rows = [row for one in new for row in _rivals(db, agent, one.item.scope, one)]
    found = memories.by_row(db, rows[:CANDIDATES])
    roles, now = [*TRUSTED_ROLES], tables.clock()
    found |= memories.newest(db, agent, scopes, now, judge.MAX_ASKED, roles)
    shown = {
        normalised(sentence): ShownSentence(memory.id, sentence)
        for memory in found.values()
        if HEARSAY not in memory.tags
        for sentence in sentences(memory.content)
        if len(sentence) <= SHOWN_CHARACTERS
    }
    # Sentences, not memories, have the numbers: an answer may end one of several in a memory.
    most = list(shown.values())[: judge.MAX_ASKED]
    known = {f"k{number}": said for number, said in enumerate(most, 1)}
    if not known and len(new) < 2:
        return list(new), known
    texts = {name: said.sentence for name, said in known.items()}
    answers = judge.decide(complete, [one.item.content for one in new], texts, seconds)
    named = [replace(one, name=f"n{number}") for number, one in enumerate(new, 1)]
    return [replace(one, decision=answers.get(at)) for at, one in enumerate(named)], known
