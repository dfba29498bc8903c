"""The recalls of a session, slices and searches of stored payloads, and its entries for the host.

`recall` decides what may be returned; here it is read under the session's lock, and counted as an access.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hippocampus import recall
from hippocampus.entries import decay
from hippocampus.entries.entry import Entry, Record, adopted
from hippocampus.errors import RecallError, StoreError
from hippocampus.formats import json_text, reader
from hippocampus.formats.conversation import Item
from hippocampus.recall import calls, retrieval
from hippocampus.recall.lines import MIN_TOKENS
from hippocampus.session import digest
from hippocampus.session.guard import Guard
from hippocampus.session.redactor import redacted_text
from hippocampus.session.resources import Resources
from hippocampus.session.run import SessionRun

LOG = logging.getLogger("hippocampus")
MAX_RECALL_FACTOR = 4
"""A model may ask for this many times the tokens that one recall returns by the policy."""
FAILED = "it failed inside, which the log has. Do not retry; call the original tool again."


class SessionRecalls:
    """Serves the recalls of one session."""

    def __init__(
        self,
        run: SessionRun,
        resources: Resources,
        guard: Guard,
        use_files: Callable[[], None],
        report: Callable[[str, float], None],
    ) -> None:
        """Call `use_files` before a recall, and `report` after it with its outcome and its seconds."""
        self._run = run
        self._resources = resources
        self._guard = guard
        self._use_files = use_files
        self._report = report
        refetching = retrieval.Refetching(
            resources.policy, resources.sources, run.records, self._redacted, self._add_version
        )
        self.retrieval = retrieval.Retrieval(
            resources.state, run.id, resources.store, refetching, self._decode
        )

    # Texts

    def _decode(self, record: Record, content: bytes) -> str:
        """Return the text of a payload as the model reads it."""
        if record.form == "messages":
            items = json.loads(content.decode("utf-8", "surrogatepass"))
            return self._redacted(record, digest.transcript(reader.read(items)))
        return self._redacted(record, retrieval.text_in(record, content))

    def _redacted(self, record: Record, text: str) -> str:
        return redacted_text(record, text, self._resources.policy)

    def _add_version(self, record: Record, text: str) -> Record:
        """Store a newer text of an entry's source as an entry of its own, linked to it."""
        prices = self._resources.prices
        with self._run.lock:
            turn, is_taken = self._run.state.turn, self._run.state.by_id.__contains__
            mark = self._run.ledger.mark
            newer = retrieval.version(mark, self._run.id, record, text, turn, prices, is_taken)
            self._resources.store.put(text.encode("utf-8", "surrogatepass"))
            self._run.save(newer, retrieval.linked(self._run.current(record), newer))
        return newer

    def record_of(self, entry_id: str) -> Record:
        """Return the entry of an id, which another process may have stored.

        Raises:
            RecallError: the id names no entry.
        """
        known: Mapping[str, Record] = self._run.state.by_id
        return self.retrieval.record_of(entry_id, known if entry_id in known else self._run.known())

    # Recalls

    def serve(self, call: calls.RecallCall) -> str:
        """Return the result of a model's recall, of at most `MAX_RECALL_FACTOR` times the usual tokens.

        Raises:
            RecallError: nothing can be served, or it fails inside: the loop gets an answer (law 3).
            StoreError: the disk refuses.
        """
        usual = self._resources.policy.recall_tokens
        bound = min(call.max_tokens or usual, MAX_RECALL_FACTOR * usual)

        def broken() -> str:
            raise RecallError("failed", FAILED, call.entry_id)

        return self._guard.run(
            lambda: self.slice(call, bound),
            broken,
            "a recall is not answered",
            raises=(RecallError, StoreError),
        )

    def slice(self, call: calls.RecallCall, bound: int) -> str:
        """Return what a recall brings, of at most `bound` tokens, and report it.

        Raises:
            RecallError: nothing can be served.
        """
        started, outcome = time.perf_counter(), "failed"
        try:
            self._use_files()
            if call.entry_id is None:
                found = self._search(call.request.query or call.request.pattern, bound)
                outcome = "done"
            else:
                record = self.record_of(call.entry_id)
                room = self._room_tokens(record, bound)
                found, outcome = self.retrieval.slice(record, call.request, room)
                self._note_access([record])
        finally:
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
        text, entry_ids = self.retrieval.search(query, known, bound, shown)
        self._note_access([known[entry_id] for entry_id in entry_ids if entry_id in known])
        return text

    def images(self, call: calls.RecallCall) -> tuple[Item, ...]:
        """Return the image blocks of the entry that a recall requests as a whole."""
        if call.request != recall.Request():
            return ()
        try:
            record = self.record_of(call.entry_id or "")
            has_blocks = record.form == "blocks"
            return retrieval.images_in(self.retrieval.original(record)) if has_blocks else ()
        except (RecallError, StoreError):
            return ()

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
        original = self._recalls.retrieval.original(record).decode("utf-8", "surrogatepass")
        return original if record.form == "text" else json_text.read_exactly(original)

    def text(self, entry_id: str) -> str:
        """Return the whole text of an entry's content as the model would read it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause.
        """
        return self._recalls.retrieval.text(self._recalls.record_of(entry_id))

    def adopt(self, entry_id: str) -> None:
        """Take over an entry of another session of this memory, so that it can be recalled here.

        Raises:
            RecallError: no session has an entry of that id, or its content is gone.
        """
        with self._run.lock:
            if entry_id in self._run.known():
                return
            found = self._resources.state.entry_of(entry_id)
            if found is None:
                self._recalls.record_of(entry_id)
                return
            owner, record = found
            self._recalls.retrieval.original(record)
            self._run.save(adopted(record, owner, self._run.state.turn))
