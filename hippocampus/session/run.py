"""A run of a session: its state, and the files to which its turns are committed.

`turn.take_turn` computes a turn, here it is committed. `Session` catches the failures.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hippocampus.entries.entry import Record, content_key
from hippocampus.errors import StoreError
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, Message
from hippocampus.models import tokens
from hippocampus.prices import TABLES
from hippocampus.prices.prompt_cache import Marker
from hippocampus.session import compaction
from hippocampus.session.guard import Guard
from hippocampus.session.history import History, Span, items_hash
from hippocampus.session.resources import (
    ContextLoadRequest,
    Resources,
    SessionInfo,
    SessionSnapshot,
)
from hippocampus.session.state import State, only_grows, read
from hippocampus.session.turn import LIMIT_REASON, Turn, largest_messages, take_turn
from hippocampus.session.turn_rules import Rules
from hippocampus.session.view import View
from hippocampus.storage.archive import Journal, RawList
from hippocampus.storage.database import ConflictError
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import (
    NO_CALL,
    DigestNotes,
    Ledger,
    Measure,
    RemovedError,
    TurnRows,
)

LOG = logging.getLogger("hippocampus")
MIN_PACKED_BYTES = 1 << 18
"""A conversation that continues elsewhere is packed in pieces of this size at least."""
MAX_CONFLICTS = 4
"""How many times a turn is computed again, after other workers that took turns of the session meanwhile."""
EXCESS = "the view passes its limit, and nothing more may be shortened"


class SessionRun:
    """The state of one session in this process, and the files to which its turns are committed."""

    def __init__(
        self, session_id: str, resources: Resources, info: SessionInfo, guard: Guard
    ) -> None:
        """Open nothing: the ledger opens when it is first used."""
        self.id = session_id
        self.lock = threading.RLock()
        """Held during a call of the session."""
        self.info = info
        self.rules = Rules(session_id, resources.policy, resources.prices)
        self.state = State()
        self.marker = Marker(resources.prices, resources.marks, tail=resources.tail_mark)
        self.is_consolidated = True
        """Whether a consolidation has read all that this run has read."""
        self.has_past = False
        """Whether an earlier run left calls that no consolidation has read."""
        self._resources = resources
        self._guard = guard
        self._opened: Ledger | None = None
        self._context_load: str | None = None
        """The text before the user's first words; None until it is decided."""
        is_kept = resources.policy.consolidation.archive
        name = resources.prices.name
        self._model = "" if name in TABLES else name
        self._journal = Journal(session_id, resources.policy.name, self._model) if is_kept else None
        self._warned_of_excess = False
        self._copies: dict[int, Item] = {}
        """The copies of edited items in the views sent so far, by their number in the list."""
        self.is_edit = False
        """Whether the last view changed what the request before it held."""
        self.lost: dict[str, Record] = {}
        """By id, the entries whose commits a server has lost, unless they were stored again."""
        self._counted = 0, 0
        """The failures and the raw calls that the ledger has."""
        self._measured: set[bytes] = set()
        """The digests of the long texts that the ledger has measures of."""

    @property
    def ledger(self) -> Ledger:
        """The session's ledger; where it could not be opened before, this tries again."""
        return self._opened or self.open()

    def deadline(self) -> contextlib.AbstractContextManager[None]:
        """Let a block wait for the store as long as a call may."""
        return bounded(self._resources.deadline_seconds)

    def open(self) -> Ledger:
        """Open the ledger, and restore the state from it.

        Raises:
            StoreError: it cannot be opened.
            ValueError: the session belongs to another agent.
        """
        with self.deadline(), contextlib.ExitStack() as closing:
            ledger = self._resources.state.session(self.id, self._journal)
            opened = closing.enter_context(contextlib.closing(ledger))
            self.info = replace(self.info, agent=opened.agent(self.info.agent))
            self.has_past = opened.pending() > 0
            measures = opened.measures()
            self._measured = {measure.digest for measure in measures}
            tokens.remember({measure.digest: measure.tokens for measure in measures})
            self.rules.kinds.update(
                {measure.digest: measure.kind for measure in measures if measure.kind}
            )
            self.rules = replace(self.rules, mark=opened.mark)
            self.state, self._context_load = State.of_ledger(opened), None
            self._opened = opened
            closing.pop_all()
        self._guard.problem = ""
        return opened

    def take(
        self, items: list[Item], same: int, request: Mapping[str, Any], idle_seconds: float
    ) -> bool:
        """Take a turn and commit it; return False where the raw list is to be sent.

        The first `same` items are those of the last list. Where another process has taken a turn of which
        this one did not know, it is computed again.

        Raises:
            MessagesError: the list is in no known format.
            StoreError: content that leaves the view cannot be stored; then nothing leaves it.
            ViewError: the view would separate a call from its result.
        """
        with self.deadline():
            for _ in range(MAX_CONFLICTS):
                try:
                    return self._take(items, same, request, idle_seconds)
                except ConflictError:
                    self._drop_list()
            return self._take(items, same, request, idle_seconds)

    def _take(
        self, items: list[Item], same: int, request: Mapping[str, Any], idle_seconds: float
    ) -> bool:
        cold = idle_seconds > self._resources.prices.cache_seconds
        self.is_edit = False
        self._load_changes()
        before = self.state.history
        history = self._extended(items, min(same, len(before.reading.items)))
        fresh = history.raw[history.reading.kept :]
        if history.reading.problem:
            self._guard.log_once(f"sending a message as it is: {history.reading.problem}")
        reason = reader.reason_of_request(request) or reader.reason_of_list(history.raw, fresh)
        self._guard.raw_reason = reason
        if reason:
            self._guard.log_once(f"sending the messages as they are: {reason}")
            return False
        last, sent_keys = self.state.last, self.state.sent_keys
        is_sent = last is not None and last.messages == len(history.raw) == self.state.view.sent
        # A list that the last call had has the same keys: these are compared after a restart only.
        is_sent = is_sent and (sent_keys is history.keys or [*sent_keys] == [*history.keys])
        is_retry = is_sent and not cold  # it gets the same view, and is no turn
        if is_retry:
            self.ledger.expect_newest()
        if is_retry and before.raw and history.repeats(before):
            return True
        is_continued = bool(self.state.records) and not before.raw
        summaries = self._resources.summaries
        rules = replace(self.rules, summaries=summaries.of_turn()) if summaries else self.rules
        taken = read(self.state, history, self._context_load_of(history), rules)
        rules = replace(rules, mark_tokens=self._marked_tokens(taken.state.view, items))
        if is_retry:  # another process has sent it, or marks differ
            taken.state.view.expect_pairs()
            view = replace(taken.state.view, sent=len(history.raw))
            self.state = replace(taken.state, view=view, sent_keys=history.keys)
        else:
            # A list that was cut keeps the sums of all its calls.
            if last is not None and history.turn < last.turn:
                self.ledger.go_on_from(history.turn)
            last = self.ledger.last_call(history.turn) or NO_CALL
            turn = take_turn(taken, last, rules, cold=cold)
            turn.state.view.expect_pairs()
            shown, kept = turn.state.view.shown, len(turn.state.sent_keys)
            self._commit(turn, self.marker.place(shown, kept, idle_seconds))
        if is_continued:
            self._store_lost()
        if not is_retry:
            self._warn_of_excess()
            reasons = {decision.reason for decision in turn.rows.decisions}
            self._consolidate_in_background(before, compacted=LIMIT_REASON in reasons)
        return True

    def _extended(self, items: list[Item], same: int = 0) -> History:
        """Return the history of a list; one that was cut, edited or branched is read as after a restart.

        What only this process knows of the last list would change the view, and the next process
        would change it back.
        """
        state = self.state
        history = state.history.extended(items, same, state.digests, state.notes)
        if self.state.is_dropped or not only_grows(self.state, history):
            self._reload()
            history = history.as_first()
        return history

    def _store_lost(self) -> None:
        """Store again the payloads of the list that are lost: a power cut takes the newest ones."""
        state = self.state
        payloads = {payload.id: payload for payload in state.payloads.items}
        for record in reversed(list(state.records.values())):
            payload, span = payloads.get(record.id), compaction.span_of(record)
            if payload is None and span not in state.view.folds:
                continue  # the list does not have it
            if not self.ledger.is_lost(self._resources.store, record.content):
                break  # those stored before it are not lost either
            if payload is not None:
                self._resources.store.put(payload.original(state.history))
            elif span is not None:
                self._resources.store.put(compaction.original_of(state.view, span))
        kept = {
            record.content
            for record in state.records.values()
            if record.kind in {"message", "state"}
            and self.ledger.is_lost(self._resources.store, record.content)
        }
        if kept:
            said = (part.text for message in state.history.raw for part in message.parts)
            states = (record.entry.summary for record in state.records.values())
            for text in itertools.chain(said, states):
                original = text.encode("utf-8", "surrogatepass")
                if content_key(original) in kept:
                    self._resources.store.put(original)

    def _marked_tokens(self, view: View, items: list[Item]) -> Sequence[int] | None:
        """Return the tokens of the last request up to its cache marks, as far as `view` begins with it."""
        self.marker.look(items, view.history.reading.adapter.NAME)
        last = self.ledger.last_call()
        if self.marker.is_lost and self.marker.is_marked and last is not None:
            self.marker.restore(view.shown[: view.unchanged], last.marks)
        return self.marker.mark_tokens

    @contextlib.contextmanager
    def dropping_list(self) -> Iterator[None]:
        """Forget the list where a block fails or is interrupted: the next call reads it again.

        That begins a session of which a server has lost the commits, as any other worker does.
        """
        try:
            yield
        except BaseException as failure:
            self._drop_list()
            if isinstance(failure, RemovedError) and self._opened:
                self.lost |= self.state.by_id
                self._opened.close()
                self._opened = None
                if self._journal:
                    self._journal.forget()
            raise

    def _drop_list(self) -> None:
        """Forget the list: its tables may have what was not committed."""
        self.state, self.marker.is_lost = self.state.dropped(), True

    def _load_changes(self) -> None:
        """Load the entries or turns that were recorded, and are not in the state.

        Another process may have taken the last turn, or this one was interrupted after its commit. After
        a turn the list is read again; entries, such as recalled ones, do not require that.
        """
        has_changed, last = self.ledger.has_changed(), self.ledger.last_call()
        is_known = last == self.state.last
        if is_known and not has_changed:
            return
        if self.ledger.has_lost:
            self.lost |= self.state.by_id
        if last is not None and is_known and not self.ledger.has_lost:
            self.state.save(self.ledger.records(), self.rules)
        else:
            self._reload()

    def _reload(self) -> None:
        """Replace the state by that of the ledger, as after a restart."""
        self.state, self.marker.is_lost = State.of_ledger(self.ledger), True

    def _commit(self, turn: Turn, marks: str) -> None:
        """Store the decisions of a turn, then adopt its state; after a failure its caller drops the list.

        `marks` are the positions of our cache marks in its view.
        """
        store, put_longer = self._resources.store, self.ledger.put_longer
        # First the contents, then the rows that name them: an interruption leaves no row without one.
        for original in turn.originals:
            self.ledger.put(store, original)
        for span, record, items, parts, known in turn.digests:
            if not known:
                self.ledger.put(store, items, parts)
            elif not put_longer(store, record.content, known, items, parts):
                self.ledger.put(store, compaction.original_of(turn.state.view, span), parts)
        state, before, measures = turn.state, self.state.history, self._new_measures(turn)
        start, keys, counts = len(state.sent_keys), state.history.keys, state.history.tokens
        self._write(
            turn.rows._replace(
                call=replace(turn.rows.call, marks=marks),
                first=start,
                sent=[*zip(keys[start:], counts[start:], strict=True)],
                measures=measures,
                notes=self._notes_of(turn),
                raw=_raw_list(state.history),
                model=self._model,
            )
        )
        self._measured.update(measure.digest for measure in measures)
        self.state = replace(
            state.with_committed(turn.rows.records),
            sent_keys=state.history.keys,
            last=self.ledger.last_call(),
        )
        if turn.digests:
            self.state.drop_texts()
        self.is_consolidated &= state.history.repeats(before)
        self.is_edit = turn.is_edit

    def _write(self, rows: TurnRows) -> None:
        """Commit rows with the numbers of calls that sent the raw list since the last ones."""
        counts = self._guard.failures, self._guard.raw_calls
        failures, raw_calls = (
            now - before for now, before in zip(counts, self._counted, strict=True)
        )
        self.ledger.commit(rows._replace(failures=failures, raw_calls=raw_calls))
        self._counted = counts

    def count_raw(self) -> None:
        """Write these numbers where no list is left to write them with, and the session is still there."""
        if self._opened and self._counted != (self._guard.failures, self._guard.raw_calls):
            lost = "raw views are not counted"
            self._guard.run(lambda: self._write(TurnRows()), lambda: None, lost)

    def _notes_of(self, turn: Turn) -> list[DigestNotes]:
        """Return what the messages brought that the digests of a turn replace, and no earlier one."""
        if self.rules.policy.redacts:  # names are as a list has them
            return []
        state, history, found = turn.state, turn.state.history, []
        ids = {*state.by_id, *(record.id for record in turn.rows.records)}
        for span, record, _, _, known in turn.digests:
            same = (at for at in state.digests if at.start == span.start)
            inner = (at.end for at in same if known and at.content == known)
            added = Span(next(inner, span.start), span.end)
            items = [item for message in history.raw[slice(*added)] for item in message.raw]
            found.append(
                DigestNotes(
                    start=span.start,
                    content=record.content,
                    continues=known,
                    parts=state.payloads.notes_of(added, history, ids),
                    messages=history.known_messages(*added),
                    items=items_hash(items),
                    format=history.reading.adapter.NAME,
                )
            )
        return found

    def _new_measures(self, turn: Turn) -> list[Measure]:
        """Return the measures of a turn's long texts that the ledger does not have."""
        texts = {record.shown for record in turn.rows.records}
        texts.update(text.shown for text in turn.rows.candidates)
        history, sent = turn.state.history, len(turn.state.sent_keys)
        # Those of the last request have their measures.
        for message in history.raw[max(history.reading.kept, sent) :]:
            texts.update(part.text for part in message.parts)
        found = []
        for text in texts:
            key = tokens.digest(text) if len(text) > tokens.MAX_SHORT_CHARACTERS else b""
            if key and key not in self._measured:
                count, kind = tokens.count(text), self.rules.kinds.get(key, "")
                found.append(Measure(key, count, kind))
        return found

    def _context_load_of(self, history: History) -> str:
        """Return the text before the user's first words, the same all session."""
        place = history.first_words() if self._context_load is None else None
        if place is None:
            return self._context_load or ""
        loaded = self.ledger.context_load()
        wanted = self._resources.policy.consolidation.context_load_tokens
        if loaded is None and wanted and self.ledger.last_call() is None:
            number, part = place
            words, started = history.raw[number].parts[part].text, self.info.context_time
            request = ContextLoadRequest(self.id, self.info.agent, words, started, self.rules.mark)
            loaded = self._resources.consolidator.context_load(request, self.ledger)
            self.state = self.state.with_committed(self.ledger.records())
        self._context_load = loaded or ""
        return self._context_load

    def _warn_of_excess(self) -> None:
        """Warn that a view passes its limit, and not again until one has fitted."""
        largest = largest_messages(self.state.view, self.rules)
        if largest and not self._warned_of_excess:
            LOG.warning("session %s: %s: %s", self.id, EXCESS, "; ".join(largest))
        self._warned_of_excess = bool(largest)

    def _consolidate_in_background(self, before: History, *, compacted: bool) -> None:
        """Start a consolidation where the view was compacted, or the host has cut its list."""
        is_cut = len(self.state.history.raw) < len(before.raw)
        cut = before.quotable_range(0, len(before.raw)) if is_cut else None
        if compacted or cut is not None:  # the protocol's `context_threshold`
            self._resources.consolidator.start(self.snapshot(cut), last=cut is not None)

    def snapshot(self, messages: Sequence[Message] | None = None) -> SessionSnapshot:
        """Return the session for a consolidation, with the given messages or its own."""
        history = self.state.history
        said = history.quotable_range(0, len(history.raw)) if messages is None else messages
        records = list(self.state.records.values())
        return SessionSnapshot(self.id, self.info.agent, history.turn, said, records)

    def read(self, items: list[Item]) -> None:
        """Read and store a final list, with the messages after its last call; no view is made of it."""
        before = self.state.history
        history = self._extended(items)
        taken = read(self.state, history, self._context_load_of(history), self.rules)
        if history.repeats(before):
            self.state = taken.state
            return
        for _, original in taken.noted:
            self.ledger.put(self._resources.store, original)
        records = [*taken.accessed, *(record for record, _ in taken.noted)]
        raw = _raw_list(taken.state.history)
        self._write(TurnRows(records=records, raw=raw, replaced=taken.stale))
        self.state, self.is_consolidated = taken.state.with_committed(records), False
        self._consolidate_in_background(before, compacted=False)

    def view(self, items: list[Item]) -> list[Item]:
        """Return the view of the last turn's list, with the cache marks of this session."""
        view = self.state.view
        return view.joined(self.marker.with_marks(view.write(items, self._copies)))

    def save(self, *records: Record) -> None:
        """Record entries that an access or the host has changed.

        Raises:
            StoreError: the ledger cannot be written; then nothing has changed.
        """
        with self.lock, self.deadline():
            self.ledger.save(*records)
            with self.dropping_list():  # the state never lacks a stored row
                self.state.save(records, self.rules)

    def current(self, record: Record) -> Record:
        """Return the current record of an entry, which turns may have changed since it was read."""
        return self.state.records.get(record.origin, record)

    def records(self) -> list[Record]:
        """Return the entries, oldest first, with their texts in the view."""
        with self.lock:
            return list(self.state.records.values())

    def known(self) -> dict[str, Record]:
        """Return the entries by id, with those of other processes."""
        with self.lock, self.deadline():
            return {record.id: record for record in self.ledger.records()} | dict(self.state.by_id)

    def keep_facts(self) -> None:
        """Consolidate in a thread what no consolidation has read.

        Another process may have consolidated less than this one has read. Where neither this process
        nor an archive has the messages, nothing could be kept: the process that has the list does it.
        """
        is_seen = self.is_consolidated and not self.ledger.pending()
        if self._resources.consolidator.closed or is_seen:
            return
        is_here = bool(self.state.history.raw) or self.ledger.last_call() is None
        if is_here or self.ledger.is_archived():
            self._resources.consolidator.end(self.snapshot(), is_whole=self.is_whole())

    def is_whole(self) -> bool:
        """Return whether the list has all that a consolidation reads."""
        is_here = bool(self.state.history.raw) and not self.has_past
        return is_here and not self.ledger.is_shared()

    def close(self, *, is_end: bool) -> None:
        """Close the files; what cannot be packed now is packed when the session ends again."""
        if self._opened is not None:
            try:
                self._opened.pack(0 if is_end else MIN_PACKED_BYTES)
            except StoreError as failure:
                LOG.warning("session %s: its conversation is not packed: %s", self.id, failure)
            self._opened.close()


def _raw_list(history: History) -> RawList:
    """Return a list to archive."""
    messages, reading = history.quotable_range(0, len(history.raw)), history.reading
    return RawList(messages, reading.kept, reading.adapter.NAME, history.turn)
