"""Serves recalls from the stored payloads of a session, or from their live sources.

The session owns the entries and counts the accesses. The text of a recall by id is the live content
where the policy declares a source, else the stored copy, else the summary with a note that it is
stale, else an error (the protocol's pattern completion, section 7). No turn waits for a source.
A search finds lines in all contents; those that name nothing but what the view has rank low.
"""

from __future__ import annotations

import functools
import itertools
import json
import logging
import math
import re
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import NamedTuple

from hippocampus.entries.entry import ARGUMENTS, Record, Stage, content_key, entry_id, storable
from hippocampus.entries.origin import SourceOrigin
from hippocampus.errors import RecallError, StoreError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import (
    Item,
    ToolResult,
    is_image_block,
    text_of,
    without_envelope,
)
from hippocampus.formats.reader import tool_results
from hippocampus.indexing import ExtractionContext, index, kind_of, price_of
from hippocampus.models import tokens
from hippocampus.policy import Policy, Refetch, record_subject
from hippocampus.prices import Prices
from hippocampus.recall import calls, sources
from hippocampus.recall.calls import RecallCall
from hippocampus.recall.definition import TOOL_NAME
from hippocampus.recall.lines import NOTE_TOKENS, NumberedLine, fit, pages, start_of
from hippocampus.recall.slices import WORD, Request, content, numbers_of, take, terms
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.full_text import Content, PassageHit, Passages
from hippocampus.storage.state import StateStore

LOG = logging.getLogger("hippocampus")
HEADER = re.compile(r"^([a-z2-7]{8,12}):$", re.MULTILINE)
"""The line before the lines of an entry in a search result; other lines start with a number."""
MAX_HITS = 50
PIECE = re.compile(r".{1,240}(?!\S)|.{1,240}")
"""A longer line competes in pieces of this size, cut at spaces."""
LINE_CHARACTERS = 120
"""A line of this length counts half of its words' score: short lines take fewer tokens."""
UNNAMED, REPEATED = 0.4, 0.05
"""The worth of a line without names, and of one with known names only."""
NAME = re.compile(r"\w(?:[\w./:@#-]*\w)?")
DISTINCTIVE = re.compile(r"[\d_/]|[a-z][A-Z]|\w\.\w")
NUMBERED = re.compile(r"^\s*\d+(?:→|\t|: )")
LINE_TOKENS = 2
"""The least tokens of a line in addition to its text."""

Decode = Callable[[Record, bytes], str]
"""Returns the text of a stored content as the model reads it."""
Serve = Callable[[RecallCall], str]
"""Serves one recall, or raises `RecallError`."""


@dataclass(frozen=True, slots=True)
class Refetching:
    """What fetching again needs of a session: its policy and sources, and callables of the session."""

    policy: Policy
    sources: sources.Sources
    records: Callable[[], list[Record]]
    """Returns the session's entries, oldest first."""
    redacted: Callable[[Record, str], str]
    """Returns a fetched text of an entry as the policy redacts it."""
    add_version: Callable[[Record, str], Record]
    """Stores a newer text of an entry as an entry of its own, and returns that."""


class Retrieval:
    """Reads the stored contents of one session, and fetches them again from declared sources."""

    def __init__(
        self,
        state: StateStore,
        session: str,
        store: ContentStore,
        refetching: Refetching,
        decode: Decode,
    ) -> None:
        """Prepare it; the search index is made at its first use.

        `decode` reads the bytes of all forms.
        """
        self.outcomes = Counter(dict.fromkeys(sources.OUTCOMES, 0))
        """How the recalls of this session ended, since it was opened."""
        self._decode = decode
        self._state = state
        self._session = session
        self._store = store
        self._refetching = refetching
        rules = refetching.policy.lifecycle_policies
        self._has_sources = any(rule.action.source is not None for rule in rules)
        self._records: Mapping[str, Record] = {}
        self._passages: Passages | None = None
        self._opening = threading.Lock()

    def record_of(self, entry_id: str, records: Mapping[str, Record]) -> Record:
        """Return the entry of an id.

        Raises:
            RecallError: it never existed here (the error lists similar ids), or belongs to another
                session (the error names it).
        """
        if entry_id in records:
            return records[entry_id]
        found = self._state.entry_of(entry_id)
        if found is not None:
            raise calls.other_session(entry_id, found[0])
        raise calls.never_existed(entry_id, records)

    def original(self, record: Record) -> bytes:
        """Return the exact bytes of an entry's content.

        Raises:
            RecallError: it cannot be read, or is no longer stored; with the time and the rule of its removal.
        """
        try:
            stored = self._store.get(record.content)
        except StoreError as damage:
            raise calls.unreadable(record, damage) from damage
        if stored is not None:
            return stored
        left = self._state.tombstone(record.content) or ()
        raise calls.expired(record, *left)

    def text(self, record: Record) -> str:
        """Return the text of an entry's content as the model reads it.

        Raises:
            RecallError: it is no longer stored, or damaged.
        """
        return self._decode(record, self.original(record))

    def search(
        self,
        query: str,
        records: Mapping[str, Record],
        max_tokens: int,
        known: AbstractSet[str] = frozenset(),
    ) -> tuple[str, tuple[str, ...]]:
        """Return the best lines of all these entries, and the ids of their entries.

        Raises:
            RecallError: no entry contains a word of the query.
        """
        self._records = records
        with self._opening:
            if self._passages is None:
                self._passages = Passages(self._searchable)
            index = self._passages
        most, ids = max(1, max_tokens), list(records)

        def text(entry_id: str) -> str:
            return self._text_or_none(records[entry_id]) or ""

        found = search(index, query, most, ids, text, known, lambda id_: records[id_].arguments)
        return found, tuple(dict.fromkeys(HEADER.findall(found)))

    def close(self) -> None:
        """Give the memory of the search index back; a later search makes it again."""
        with self._opening:
            self._passages = None

    def _searchable(self, entry_id: str) -> Content | None:
        record = self._records.get(entry_id)
        text = record and self._text_or_none(record)
        return content(text, f"{record.tool} {record.arguments}") if record and text else None

    def _text_or_none(self, record: Record) -> str | None:
        try:
            return self.text(record)
        except (RecallError, StoreError):
            return None

    def slice(self, record: Record, request: Request, max_tokens: int) -> tuple[str, str]:
        """Return a part of an entry's content, within `max_tokens`, and its outcome.

        Raises:
            RecallError: nothing is left of it, the part cannot be served, or its source has changed;
                then the source's present content has become an entry of its own.
            StoreError: the disk cannot be read, or that entry cannot be written.
        """
        newer = self._newer(record)
        plan = None if newer else self._plan(record)
        if plan is None:
            try:
                text = self.text(record)
            except RecallError:
                self.outcomes["failed"] += 1
                raise
            self.outcomes["full"] += 1
            stale = ""
            if newer is not None:
                stale = (
                    f"(stale: the source of {record.entry.id} had changed by turn "
                    f"{newer.entry.source.turn}; its version of then is {newer.entry.id})\n"
                )
            return stale + slice_of(text, record, request, max_tokens - tokens.count(stale)), "full"
        read = json_text.read(record.arguments or "{}")
        wanted = sources.FetchRequest(record.tool, read if isinstance(read, dict) else {})
        copy = sources.StoredCopy(
            lambda: self._text_or_none(record),
            record.entry.summary,
            lambda present: self._refetching.redacted(record, present),
        )
        found = sources.fetch(wanted, copy, plan, self._refetching.sources)
        if found.failure:
            LOG.info("session %s: recall of %s: %s", self._session, record.entry.id, found.failure)
        if found.changed:
            newer = self._refetching.add_version(record, found.content)
        self.outcomes[found.outcome] += 1
        if found.outcome == "failed":
            raise calls.lost(record, found.failure)
        if newer is not None:
            difference = start_of(found.difference, max_tokens)
            raise calls.stale(record, newer.entry.id, found.source, difference)
        # Where only the summary is left, it is returned whole for any request.
        request = Request() if found.outcome == "partial" else request
        return slice_of(found.content, record, request, max_tokens), found.outcome

    def _newer(self, record: Record) -> Record | None:
        """Return the entry of the source's last known content, where that differs from this one."""
        since, seen = replaced(self._refetching.records()), {record.entry.id}
        found = since.get(record.entry.id)
        while found is not None and found.entry.id in since and found.entry.id not in seen:
            seen.add(found.entry.id)
            found = since[found.entry.id]
        return found

    def _plan(self, record: Record) -> Refetch | None:
        """Return how an entry is fetched again; only tool results are."""
        is_result = record.entry.type == "tool_result" and record.kind != ARGUMENTS
        if not (self._has_sources and is_result):
            return None
        subject = record_subject(record, self._text_or_none(record) or "")
        return self._refetching.policy.resolve(subject).source


# Newer versions of an entry's content, fetched from its source: linked entries


def replaced(records: Iterable[Record]) -> dict[str, Record]:
    """Return the entries of newer versions, by the ids of the stale entries."""
    return {
        record.origin.entry_id: record
        for record in records
        if isinstance(record.origin, SourceOrigin)
    }


def version(  # noqa: PLR0913, PLR0917 - an entry is made of all these
    mark: str, session: str, record: Record, text: str, turn: int, prices: Prices,
    is_taken: Callable[[str], bool],
) -> Record:  # fmt: skip
    """Return the entry of the present text of another entry's source."""
    payload = content_key(text.encode("utf-8", "surrogatepass"))
    origin = SourceOrigin(record.entry.id, payload)
    named = entry_id(mark, session, origin, payload, is_taken)
    count, kind = tokens.count(text), kind_of(text)
    hints = ExtractionContext(record.arguments, content_tokens=count)
    kept = index(text, hints, price_of(kind, "normal", prices, count, turn))
    entry = replace(
        record.entry,
        id=named,
        source=replace(record.entry.source, ref=payload, turn=turn),
        summary=storable(kept.summary),
        key_data=kept.key_data or None,
        strength=1.0,
        decay=replace(record.entry.decay, last_access=turn),
        modifiers=replace(record.entry.modifiers, associations=[record.entry.id]),
        lifecycle=replace(record.entry.lifecycle, created=turn),
    )
    return Record(
        entry, origin, payload, "text", kind, record.tool, record.arguments, count,
        Stage.DORMANT, "",
    )  # fmt: skip


def linked(record: Record, newer: Record) -> Record:
    """Return an entry that is linked to its newer version."""
    known = dict.fromkeys([*record.entry.modifiers.associations, newer.entry.id])
    modifiers = replace(record.entry.modifiers, associations=list(known))
    return replace(record, entry=replace(record.entry, modifiers=modifiers))


# Answers


def slice_of(text: str, record: Record, request: Request, max_tokens: int) -> str:
    """Return a slice of an entry's text.

    Raises:
        RecallError: it cannot be served; the message has the alternative.
    """
    try:
        return take(text, request, max(1, max_tokens), record.arguments)
    except RecallError as problem:
        raise calls.completed(problem, record) from problem


def text_in(record: Record, payload: bytes) -> str:
    """Return the text of a payload that a message held as text, as blocks or as an object."""
    text = payload.decode("utf-8", "surrogatepass")
    if record.form == "blocks":
        text = text_of(json.loads(text))
    return without_envelope(text)


def images_in(payload: bytes) -> tuple[Item, ...]:
    """Return the image blocks of a payload that a message held as blocks."""
    return tuple(filter(is_image_block, json_text.read_exactly(payload)))


def handle(
    items: Sequence[Item],
    serve: Serve,
    images: Callable[[RecallCall], tuple[Item, ...]] = lambda _: (),
    names: Container[str] = (TOOL_NAME,),
) -> list[Item]:
    """Return the items to append that answer the pending recalls at the end of a list.

    `images` returns the image blocks of the entry that a recall names; `names` are those of the tool.

    Raises:
        MessagesError: the list is in no known format.
    """
    results = [
        ToolResult(
            call_id, *answer(call := calls.read_call(call_id, text), serve), tool, images(call)
        )
        for call_id, tool, text in calls.unanswered(items)
        if tool in names
    ]
    return tool_results(items, results)


def answer(call: RecallCall, serve: Serve) -> tuple[str, bool]:
    """Return the slice that a call requests, or why it cannot be served; and whether it is the second."""
    try:
        if call.problem is not None:
            raise call.problem
        return serve(call), False
    except RecallError as problem:
        return calls.render(problem), True
    except StoreError as failure:
        todo = "Do not retry in this step; call the original tool again."
        return f"recall failed (unreadable): {failure}. {todo}", True


# The search of all content: lines compete, so that few tokens contain the answer


class CandidateLine(NamedTuple):
    """A line that competes, or a piece of a long one."""

    hit: int
    """The index of its passage."""
    number: int
    text: str
    start: int = 0
    """Where it starts in its line."""
    worth: float = 1.0


def search(  # noqa: PLR0913, PLR0917 - a search depends on all these
    contents: Passages,
    query: str,
    max_tokens: int,
    entry_ids: Sequence[str],
    text: Callable[[str], str],
    known: AbstractSet[str] = frozenset(),
    arguments: Callable[[str], str] = lambda _: "",
) -> str:
    """Return the best lines of all these entries for a query, within `max_tokens`.

    `text` returns that of an entry, `arguments` those of its call. `known` are the names in the view (see
    `names_in`): lines that name nothing beyond these and the query rank low.

    Raises:
        RecallError: no stored content contains a word of the query.
    """
    hits = contents.search(terms(query), entry_ids, MAX_HITS)
    text = functools.cache(text)  # a second reading may fail, or find another text
    of = functools.cache(lambda entry_id: pages(text(entry_id)))
    lines = _distinct(hits, of, known | names_in(query))
    if not lines:
        problem = "no word of the query is in the stored content; try other words"
        raise RecallError("no_match", problem)
    # The score of a line: by its rare query words, its worth and its length.
    wanted = set(terms(query))
    found = [wanted.intersection(terms(line.text)) for line in lines]
    holding = Counter(term for words in found for term in words)
    scored = []
    for line, words in zip(lines, found, strict=True):
        rarity = sum(math.log(1 + len(lines) / holding[term]) for term in sorted(words))
        scored.append(line.worth * rarity * LINE_CHARACTERS / (LINE_CHARACTERS + len(line.text)))
    chosen: list[CandidateLine] = []
    budget_tokens = max_tokens - NOTE_TOKENS
    for at in sorted(range(len(lines)), key=lambda at: (-scored[at], at)):
        cost = tokens.count(str(NumberedLine(lines[at].number, lines[at].text))) + LINE_TOKENS
        if cost > budget_tokens and chosen:
            break
        budget_tokens -= cost
        chosen.append(lines[at])
    note = "(weaker lines are left out; ask with other words, or by entry_id)"
    return fit(
        _rendered(chosen, hits, lambda entry_id: numbers_of(text(entry_id), arguments(entry_id))),
        max_tokens,
        lambda *_: note,
    )


def _distinct(
    hits: Sequence[PassageHit], of: Callable[[str], list[str]], known: AbstractSet[str]
) -> list[CandidateLine]:
    """Return the lines of the passages, no text twice, with their worth for any query.

    A line is worth little where all of its names are known.
    """
    seen: set[str] = set()
    lines: list[CandidateLine] = []
    for at, hit in enumerate(hits):
        found = of(hit.entry_id)[hit.first - 1 : hit.last]
        for number, line in enumerate(found, start=hit.first):
            for piece in PIECE.finditer(line):
                words = " ".join(WORD.findall(NUMBERED.sub("", piece[0])))
                if words and words not in seen:
                    seen.add(words)
                    fresh = names_in(piece[0]) - known
                    is_distinctive = any(map(DISTINCTIVE.search, fresh))
                    worth = 1.0 if is_distinctive else UNNAMED if fresh else REPEATED
                    lines.append(CandidateLine(at, number, piece[0], piece.start(), worth))
    return lines


def names_in(text: str) -> set[str]:
    """Return the names in a text: its words, and compounds such as `a.b_c`."""
    return set(NAME.findall(text))


def _rendered(
    chosen: Sequence[CandidateLine],
    hits: Sequence[PassageHit],
    numbers: Callable[[str], Sequence[int]],
) -> Iterator[NumberedLine]:
    """Yield the lines grouped under their entries' ids, the entry of the best passage first.

    Those of a part of a file have the numbers of the file, by which a recall takes them.
    """
    best: dict[str, int] = {}
    for line in chosen:
        entry_id = hits[line.hit].entry_id
        best[entry_id] = min(best.get(entry_id, line.hit), line.hit)
    ordered = sorted(
        chosen, key=lambda line: (best[hits[line.hit].entry_id], line.number, line.start)
    )
    for entry_id, group in itertools.groupby(ordered, key=lambda line: hits[line.hit].entry_id):
        yield NumberedLine(0, f"{entry_id}:")
        own = numbers(entry_id)
        for line in group:
            number = own[line.number - 1]
            yield NumberedLine(number, f"…{line.text}" if line.start else line.text)
