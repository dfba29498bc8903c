"""The recalls of a session, slices and searches of stored payloads, and its entries for the host.

`recall` decides what may be returned; here it is read under the session's lock, and counted as an access.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hippocampus import recall
from hippocampus.entries import decay
from hippocampus.entries.entry import ARGUMENTS, Entry, Record, adopted
from hippocampus.errors import DamageError, RecallError, StoreError
from hippocampus.formats import json_text, reader
from hippocampus.formats.conversation import Item
from hippocampus.models import tokens
from hippocampus.policy import record_subject
from hippocampus.recall import RecallRequest, calls, retrieval, sources
from hippocampus.recall.lines import MIN_TOKENS, start_of
from hippocampus.recall.slices import content
from hippocampus.session import digest
from hippocampus.session.guard import Guard
from hippocampus.session.renderer import redacted_text
from hippocampus.session.resources import Resources
from hippocampus.session.run import SessionRun
from hippocampus.storage.deadline import bounded
from hippocampus.storage.full_text import Content, Passages

LOG = logging.getLogger("hippocampus")
MAX_RECALL_FACTOR = 4
"""A model may ask for this many times the tokens that one recall returns by the policy."""
FAILED = "it failed inside, which the log has. Do not retry; call the original tool again."


class SessionRecalls:
    """Serves the recalls of one session from its stored payloads, or from their live sources.

    The text of a recall by id is the live content where the policy declares a source, else the stored copy,
    else the summary with a note that it is stale, else an error (the protocol's pattern completion,
    section 7). No turn waits for a source.
    """

    def __init__(
        self,
        run: SessionRun,
        resources: Resources,
        guard: Guard,
        report: Callable[[str, float], None],
    ) -> None:
        """Call `report` after a recall with its outcome and its seconds."""
        self.outcomes = Counter(dict.fromkeys(sources.OUTCOMES, 0))
        """How the recalls of an id ended, since the session was opened."""
        self._run = run
        self._resources = resources
        self._guard = guard
        self._report = report
        rules = resources.policy.lifecycle_policies
        self._has_sources = any(rule.action.source is not None for rule in rules)
        self._searched: Mapping[str, Record] = {}
        """The entries of the last search, which its index reads where it lacks them."""
        self._is_late = False
        """Whether the store has not answered in this search."""
        self._passages: Passages | None = None
        """The search index, made at its first use."""
        self._index_lock = threading.Lock()

    def close(self) -> None:
        """Give the memory of the search index back; a later search makes it again."""
        with self._index_lock:
            self._passages = None

    # Entries and their texts

    def record_of(self, entry_id: str) -> Record:
        """Return the entry of an id, which another process may have stored.

        Raises:
            RecallError: it never existed here (the error lists similar ids), or belongs to another
                session (the error names it).
        """
        known: Mapping[str, Record] = self._run.state.by_id
        known = known if entry_id in known else self._run.known()
        if entry_id in known:
            return known[entry_id]
        with self._run.deadline():
            found = self._resources.state.entry_of(entry_id)
        if found is not None:
            raise calls.other_session(entry_id, found[0])
        if record := self._run.lost.get(entry_id):
            raise calls.lost(record, "the server has lost its last changes")
        raise calls.never_existed(entry_id, known)

    def original(self, record: Record) -> bytes:
        """Return the exact bytes of an entry's content.

        Raises:
            RecallError: it cannot be read, or is no longer stored; with the time and the rule of its removal.
        """
        try:
            with self._run.deadline():
                stored = self._resources.store.get(record.content)
        except StoreError as damage:
            raise calls.unreadable(record, damage) from damage
        if stored is not None:
            return stored
        with self._run.deadline():
            left = self._resources.state.tombstone(record.content) or ()
        raise calls.expired(record, *left)

    def text(self, record: Record) -> str:
        """Return the text of an entry's content as the model reads it.

        Raises:
            RecallError: it is no longer stored, or damaged.
        """
        content = self.original(record)
        if record.form == "messages":
            items = json.loads(content.decode("utf-8", "surrogatepass"))
            return self._redacted(record, digest.transcript(reader.read(items)))
        return self._redacted(record, retrieval.text_in(record, content))

    def _text_or_none(self, record: Record) -> str | None:
        with contextlib.suppress(RecallError, StoreError):
            return self.text(record)
        return None

    def _searched_text(self, record: Record) -> str | None:
        """Return a text for a search: once the store has not answered, it waits for no other."""
        try:
            with bounded(0.0 if self._is_late else math.inf):
                return self.text(record)
        except (RecallError, StoreError) as problem:
            cause = problem.__cause__
            self._is_late |= isinstance(cause, StoreError) and not isinstance(cause, DamageError)
        return None

    def _redacted(self, record: Record, text: str) -> str:
        return redacted_text(record, text, self._resources.policy)

    # Recalls

    def serve(self, request: RecallRequest) -> str:
        """Return the result of a model's recall, of at most `MAX_RECALL_FACTOR` times the usual tokens.

        Raises:
            RecallError: nothing can be served, or it fails inside: the loop gets an answer (law 3).
        """
        usual = self._resources.policy.recall_tokens
        bound = min(request.max_tokens or usual, MAX_RECALL_FACTOR * usual)

        def broken() -> str:
            raise RecallError("failed", FAILED, request.entry_id)

        return self._guard.run(
            lambda: self.slice(request, bound),
            broken,
            "a recall is not answered",
            raises=(RecallError,),
        )

    def slice(self, request: RecallRequest, bound: int) -> str:
        """Return what a recall brings, of at most `bound` tokens, and report it.

        Raises:
            RecallError: nothing can be served.
        """
        started, outcome = time.perf_counter(), "failed"
        try:
            if request.entry_id is None:
                found = self._search(request.query or request.pattern, bound)
                outcome = "done"
            else:
                record = self.record_of(request.entry_id)
                room = self._room_tokens(record, bound)
                found, outcome = self._part(record, request, room)
                self._note_access([record])
        except RecallError as problem:
            # The difference to a source that has changed is an answer, made from the full text.
            outcome = "full" if problem.reason == "stale" else outcome
            raise
        except StoreError as failure:
            text = f"{failure}. Do not retry in this step; call the original tool again."
            raise RecallError("unreadable", text, request.entry_id) from failure
        finally:
            if request.entry_id is not None:
                self.outcomes[outcome] += 1
            self._report(outcome, time.perf_counter() - started)
        return found

    def _room_tokens(self, record: Record, bound: int) -> int:
        """Return how many tokens a recall may have: none passes the model's window."""
        window_tokens = self._resources.prices.window_tokens
        if not window_tokens:
            return bound
        with self._run.lock:
            room = window_tokens - self._run.state.shown_tokens
        if room < min(bound, MIN_TOKENS):
            raise calls.too_large(record, min(bound, record.tokens), max(0, room))
        return min(bound, room)

    def _search(self, query: str | None, bound: int) -> str:
        """Return the best lines of every stored payload; the words of a pattern are a query too."""
        if not query:
            raise RecallError("bad_request", "name an entry_id, or a query to search everything")
        every = self._run.known()
        stale = retrieval.replaced(every.values())
        known = {entry_id: record for entry_id, record in every.items() if entry_id not in stale}
        with self._run.lock:
            texts = [text for message in self._run.state.view.shown for text in message.texts()]
        shown = set().union(*map(recall.names_in, texts))
        self._searched, self._is_late = known, False

        with self._index_lock:
            if self._passages is None:
                self._passages = Passages(self._content_of)
            passages = self._passages
        found = retrieval.search(
            passages,
            query,
            max(1, bound),
            entry_ids=list(known),
            text=lambda entry_id: self._searched_text(known[entry_id]) or "",
            known=shown,
            arguments=lambda entry_id: retrieval.numbered_by(known[entry_id]),
        )
        entry_ids = dict.fromkeys(calls.HEADER.findall(found))
        self._note_access([known[entry_id] for entry_id in entry_ids if entry_id in known])
        return found

    def _content_of(self, entry_id: str) -> Content | None:
        """Return what the search index has of an entry; None where its text cannot be read."""
        record = self._searched.get(entry_id)
        text = record and self._searched_text(record)
        return content(text, f"{record.tool} {record.arguments}") if record and text else None

    def _part(self, record: Record, request: RecallRequest, max_tokens: int) -> tuple[str, str]:
        """Return a part of an entry's content, within `max_tokens`, and its outcome.

        Raises:
            RecallError: nothing is left of it, the part cannot be served, or its source has changed;
                then the source's present content has become an entry of its own.
            StoreError: the disk cannot be read, or that entry cannot be written.
        """
        newer = retrieval.newest(record, self._run.records())
        plan = None
        is_result = record.entry.type == "tool_result" and record.kind != ARGUMENTS
        if newer is None and self._has_sources and is_result:  # only results are fetched again
            subject = record_subject(record, self._text_or_none(record) or "")
            plan = self._resources.policy.resolve(subject).source
        if plan is None:
            text, stale = self.text(record), ""
            if newer is not None:
                stale = (
                    f"(stale: the source of {record.entry.id} had changed by turn "
                    f"{newer.entry.source.turn}; its version of then is {newer.entry.id})\n"
                )
            left = max_tokens - tokens.count(stale)
            return stale + retrieval.slice_of(text, record, request, left), "full"
        read = json_text.read(record.arguments or "{}")
        wanted = sources.FetchRequest(record.tool, read if isinstance(read, dict) else {})
        copy = sources.StoredCopy(
            lambda: self._text_or_none(record),
            record.entry.summary,
            lambda present: self._redacted(record, present),
        )
        found = sources.fetch(wanted, copy, plan, self._resources.sources)
        if found.failure:
            LOG.info("session %s: recall of %s: %s", self._run.id, record.entry.id, found.failure)
        if found.changed:
            newer = self._add_version(record, found.content)
        if found.outcome == "failed":
            raise calls.lost(record, found.failure)
        if newer is not None:
            difference = start_of(found.difference, max_tokens)
            raise calls.stale(record, newer.entry.id, found.source, difference)
        # Where only the summary is left, it is returned whole for any request.
        request = RecallRequest() if found.outcome == "partial" else request
        return retrieval.slice_of(found.content, record, request, max_tokens), found.outcome

    def _add_version(self, record: Record, text: str) -> Record:
        """Store a newer text of an entry's source as an entry of its own, linked to it."""
        prices = self._resources.prices
        with self._run.lock, self._run.deadline():
            turn, is_taken = self._run.state.turn, self._run.state.by_id.__contains__
            mark = self._run.ledger.mark
            newer = retrieval.version(mark, self._run.id, record, text, turn, prices, is_taken)
            self._resources.store.put(text.encode("utf-8", "surrogatepass"))
            current = self._run.current(record)
            linked = replace(current, entry=current.entry.associated([newer.id]))
            self._run.save(newer, linked)
        return newer

    def images(self, request: RecallRequest) -> tuple[Item, ...]:
        """Return the image blocks of the entry that a recall requests as a whole; none where it fails."""

        def found() -> tuple[Item, ...]:
            with contextlib.suppress(RecallError, StoreError):  # the answer's text has the reason
                record = self.record_of(request.entry_id or "")
                if record.form == "blocks":
                    return retrieval.images_in(self.original(record))
            return ()

        if request.names_part:
            return ()
        return self._guard.run(found, tuple, "a recall has no images")

    def _note_access(self, records: Sequence[Record]) -> None:
        """Restore the strength of entries that a recall has returned."""
        if not records:
            return
        with self._run.lock:
            turn = self._run.state.turn
            now = list(map(self._run.current, records))
            try:
                self._run.save(
                    *(replace(record, entry=decay.accessed(record.entry, turn)) for record in now)
                )
            except StoreError as failure:  # the content was found: that counts more
                LOG.warning("session %s: access not written down: %s", self._run.id, failure)


class SessionEntries:
    """The entries that left the view, oldest first."""

    def __init__(self, run: SessionRun, resources: Resources, recalls: SessionRecalls) -> None:
        """Share the session's run, resources and recalls."""
        self._run = run
        self._resources = resources
        self._recalls = recalls

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries as they are now."""
        return (record.entry for record in self._run.records())

    def __getitem__(self, number: int) -> Entry:
        """Return an entry by its position, from 0, or from the end with a negative number."""
        return self._run.records()[number].entry

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._run.records())

    def content(self, entry_id: str) -> Any:
        """Return the whole content of an entry exactly as the message list held it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause.
        """
        record = self._recalls.record_of(entry_id)
        original = self._recalls.original(record).decode("utf-8", "surrogatepass")
        return original if record.form == "text" else json_text.read_exactly(original)

    def text(self, entry_id: str) -> str:
        """Return the whole text of an entry's content as the model would read it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause.
        """
        return self._recalls.text(self._recalls.record_of(entry_id))

    def adopt(self, entry_id: str) -> None:
        """Take over an entry of another session of this memory, so that it can be recalled here.

        Raises:
            RecallError: no session has an entry of that id, or its content is gone.
        """
        with self._run.lock, self._run.deadline():
            if entry_id in self._run.known():
                return
            found = self._resources.state.entry_of(entry_id)
            if found is None:
                self._recalls.record_of(entry_id)
                return
            owner, record = found
            self._recalls.original(record)
            self._run.save(adopted(record, owner, self._run.state.turn))
