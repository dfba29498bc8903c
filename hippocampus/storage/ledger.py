"""The stored entries of a session, and the changes of its view with their turns and reasons.

Rows of all sessions are in one database, a file or a server's. The only module that reads or writes these
tables; nothing is decided here.
"""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import math
import time
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hippocampus.entries.entry import Decision, Entry, Record, Stage, storable
from hippocampus.entries.origin import parsed
from hippocampus.errors import StoreError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import KnownMessage
from hippocampus.storage import consolidated, database, packing
from hippocampus.storage.archive import ADD_LINES, LINES, Journal, RawList, pack
from hippocampus.storage.content_store import LEVEL, ContentStore, DiskStore, damage
from hippocampus.storage.database import ConflictError, Database, Query, Row
from hippocampus.storage.packing import packed_text, text_of

if TYPE_CHECKING:
    from hippocampus.storage.state import StateStore

BEGIN = """
    INSERT INTO session (name, active_at, mark)
    VALUES (?, ?, coalesce((SELECT mark FROM session WHERE mark != '' ORDER BY number LIMIT 1), ?))
    ON CONFLICT (name) DO NOTHING
"""
SAVE = """
    INSERT INTO entry AS known (session, id, origin, content, form, kind, tool, arguments, tokens, stage,
        shown, entry, is_pinned)
    SELECT * FROM (VALUES {(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)}) AS new
    WHERE NOT EXISTS (
        SELECT 1 FROM entry WHERE session = column1 AND substr(origin, -12) = substr(column3, -12)
            AND origin = column3 AND id != column2
    )
    ON CONFLICT (id, session) DO UPDATE SET stage = excluded.stage, entry = excluded.entry,
        is_pinned = excluded.is_pinned,
        shown = CASE known.stage WHEN excluded.stage THEN known.shown ELSE excluded.shown END
    WHERE known.tool = excluded.tool AND (
        excluded.stage = 'dormant' OR (known.stage, excluded.stage) IN (
            VALUES ('full', 'full'), ('full', 'indexed'), ('indexed', 'indexed')
        )
    )
"""
"""An entry keeps its row, and so its rank by age; its payload never changes, nor does the tool, with whose
name its texts are packed. The index has the end of an origin, which is of a hash: the whole is 77 bytes.

No stage is taken back, and the text of a stage is frozen: a process that has not read the commits of
another overwrites none. The session is locked, so that no other writes its origin meanwhile.
"""
CANDIDATE = """
    INSERT INTO candidate (session, id, entry, stage, shown, note) VALUES {(?, ?, ?, ?, ?, ?)}
    ON CONFLICT (session, id) DO UPDATE SET stage = excluded.stage, shown = excluded.shown,
        entry = excluded.entry, note = excluded.note
"""
DROP_CANDIDATES = (
    "DELETE FROM candidate WHERE session = ? AND id IN (SELECT value FROM json_each(?))"
)
WRITE_CALL = """
    INSERT INTO call (session, number, turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost,
        recall_cost, marks, first, sent, measures, decisions, notes)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
CALL = "turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost, recall_cost, marks"
TWO_CALLS = f"SELECT {CALL} FROM call WHERE session = ? AND turn < ? ORDER BY number DESC LIMIT 2"
ENTRY = "id, origin, content, form, kind, tool, arguments, tokens, stage, shown, entry"
ENTRIES = f"SELECT {ENTRY} FROM entry WHERE session = ?"
ROWS = {
    "session": "SELECT agent, changes, consolidated, context_load FROM session WHERE number = ?",
    "entry": f"{ENTRIES} ORDER BY number",
    "measures": "SELECT measures FROM call WHERE session = ? AND measures != '[]' ORDER BY number",
    "candidate": "SELECT id, entry, stage, shown, note FROM candidate WHERE session = ? ORDER BY number",
    "sent": "SELECT first, sent FROM call WHERE session = ? AND (first > 0 OR sent != '[]') ORDER BY number",
    "notes": "SELECT notes FROM call WHERE session = ? AND notes IS NOT NULL ORDER BY number",
    "decisions": "SELECT decisions FROM call WHERE session = ? ORDER BY number",
}
"""The rows of a session."""
STARTING = ("session", "entry", "measures", "candidate", "sent", "notes")
"""What a run reads when it begins, and when another process has changed the session."""
DIG_UP = "DELETE FROM tombstone WHERE content IN (SELECT value FROM json_each(?))"
CHANGED = (
    "UPDATE session SET changes = changes + 1, active_at = ?, model = coalesce(?, model),"
    " failures = failures + ?, raw_calls = raw_calls + ? WHERE number = ? RETURNING changes"
)
"""The first statement of a change: other changes of the session wait for it."""
EXPECT = "SELECT expect_changes(?, ?)"
"""On a server, refuses a change of another number (`database.ConflictError`)."""
LOG = logging.getLogger("hippocampus")
LOST = (
    "session %s: %s has lost its last changes (%d): results come back from the list, while pins, states and "
    "facts of then are gone"
)
COMPACT = json.JSONEncoder(separators=(",", ":"))
NOTES_LEVEL = 13
"""How hard the notes of a digest are packed: 0.1 ms a kilobyte, for up to 30 percent less than at 3."""
EVER = 1 << 62
QUIET_TURNS = 3
"""After as many turns without a change by others, a server is not asked for one before the commit."""
CLOSED = "the session is closed; memory.session(id) opens it again"
NEXT_FIELDS = ("summary", "key_data", "decay", "modifiers")


class RemovedError(StoreError):
    """The row of a session is gone: another process removed it, or a server lost its last commits."""


class NextText(NamedTuple):
    """The next stage of an entry: the changed fields, and the text with its note."""

    entry_id: str
    fields: Mapping[str, Any]
    """The fields of the entry in `NEXT_FIELDS`."""
    stage: Stage
    shown: str
    note: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request that was sent."""

    turn: int
    messages: int
    raw_tokens: int
    sent_tokens: int
    raw_cost: float = 0.0
    """The cost of all calls up to this one without us, in base input tokens."""
    sent_cost: float = 0.0
    """Their cost with us."""
    edit_cost: float = 0.0
    """The part of that for edits of earlier messages."""
    recall_cost: float = 0.0
    """The part of that for recalls."""
    marks: str = ""
    """The positions of our cache marks, as `prices.prompt_cache.Marker` writes them; empty for none."""


NO_CALL = ModelCall(0, 0, 0, 0)
SUMS = ("raw_cost", "sent_cost", "edit_cost", "recall_cost")


class StoredSession(NamedTuple):
    """A session as its ledger is on disk."""

    name: str
    active_at: float
    """When it was last written, in seconds since 1970; infinite while a process has it open."""
    call: ModelCall
    """The last one, of turn 0 before the first."""
    records: tuple[Record, ...]
    damaged: tuple[str, ...]
    """The ids of entries that cannot be read."""


class Measure(NamedTuple):
    """The tokens and the kind of a long text, by its hash, so that they are determined only once."""

    digest: bytes
    """As `tokens.digest` makes it."""
    tokens: int
    kind: str
    """The kind of content, such as `json`; empty where no turn has asked for it."""


class NotedPayload(NamedTuple):
    """A payload that a digest replaces."""

    message: int
    part: int
    entry_id: str
    names: str
    """Its identifiers, between blanks."""
    columns: Sequence[Any]
    """Its record, as `noted` writes it; empty where the ledger has the entry."""


class NotedPart(NamedTuple):
    """What a part of a message that a digest replaces brought: a `session.payloads.Arrival`."""

    message: int
    part: int
    result: NotedPayload | None
    key: str
    arguments: NotedPayload | None
    files: Sequence[Any] | None


class DigestNotes(NamedTuple):
    """What the messages that a digest replaces brought, so that a restart needs none of their texts."""

    start: int
    """The number of its first message."""
    content: str
    """The key of its list."""
    continues: str
    """The key of the list that this one continues; empty where `parts` are of all of it."""
    parts: Sequence[NotedPart]
    messages: Sequence[KnownMessage]
    """Empty where one of them has several items."""
    items: str
    """The `history.items_hash` of these messages."""
    format: str
    """The format of the list."""

    @classmethod
    def read(cls, row: Sequence[Any]) -> DigestNotes:
        """Return the notes of a digest, from JSON."""
        start, content, continues, parts, messages, items, name = row
        payload = NotedPayload._make
        noted = [
            NotedPart(number, at, result and payload(result), key, given and payload(given), files)
            for number, at, result, key, given, files in parts
        ]
        known = [*map(KnownMessage._make, messages)]
        return cls(start, content, continues, noted, known, items, name)


class TurnRows(NamedTuple):
    """All that a turn brought, or what was changed between two calls."""

    call: ModelCall = NO_CALL
    records: Sequence[Record] = ()
    decisions: Sequence[Decision] = ()
    first: int = 0
    sent: Sequence[tuple[str, int]] = ()
    """The messages of the request from the `first` on: the hashes of their words, and their tokens."""
    measures: Sequence[Measure] = ()
    notes: Sequence[DigestNotes] = ()
    raw: RawList | None = None
    """The list as its host handed it over, for the journal."""
    model: str = ""
    """The model with the prices of the call; where none was named, the session keeps the last one."""
    candidates: Sequence[NextText] = ()
    replaced: Sequence[str] = ()
    """The entries without a need for next texts any more, besides those of `records`."""
    failures: int = 0
    """How many calls failed since the last change, and sent the raw list."""
    raw_calls: int = 0
    """How many calls since then sent it for any reason."""


class Ledger:
    """The entries and commitments of one session; every process and thread has its own ledger."""

    def __init__(
        self,
        state: StateStore,
        session: str,
        journal: Journal | None = None,
        mark: str = "",
    ) -> None:
        """Open a session, and make it; with a journal, its raw conversation is written too.

        `mark` is that of a state without sessions; without it, one is drawn.
        """
        self._session = session
        self._journal = journal
        self._is_closed = False
        self._number = 0
        """That of the session in its database; 0 before it is known."""
        self._waiting: list[bytes] = []
        """The payloads that the next commit writes."""
        self._put_keys: list[str] = []
        """The keys of the payloads that were put before it: a tombstone of theirs is out of date."""
        self._fetched: dict[str, list[Row]] = {}
        """Rows that were read with others, until they are asked for."""
        self.has_lost = False
        self._is_asked = True
        """Whether this turn has begun with what other processes have written; else its commit finds out."""
        self._quiet_turns = 0
        """How many turns in a row met no change of another process; negative after one that did."""
        self._opened = state.database()
        try:
            self._payloads = state.payload_rows()
            begin = (storable(session), time.time(), mark or database.new_mark())
            [found] = self._db.together(self._own())
            # A session that is there is opened without a write, and waits for no writer.
            if not found:
                _, found = self._db.together((BEGIN, begin), self._own())
            number, self.mark = self._expected(found)
            self._db.hold(number)
            self._number = number
            self._changes = self._seen_changes = self._read_ahead()
        except BaseException:
            self.close()
            raise

    @property
    def _db(self) -> Database:
        """The database, while the session is open."""
        if self._is_closed:
            raise StoreError(CLOSED)
        return self._opened

    # Reading

    def _own(self) -> Query:
        return "SELECT number, mark FROM session WHERE name = ?", (storable(self._session),)

    def _expected(self, found: list[Row]) -> Row:
        """Return the one row of the session."""
        if not found:
            raise RemovedError(f"session {self._session!r} was removed from {self._db.path}")
        return found[0]

    def _stored(self, table: str) -> list[Row]:
        """Return rows of the session; those read ahead are used once."""
        if table not in self._fetched:
            [self._fetched[table]] = self._db.together((ROWS[table], (self._number,)))
        return self._fetched.pop(table)

    def _read_row(self) -> Row:
        """Read the session's own row."""
        self._row = self._expected(self._stored("session"))
        return self._row

    def _read_ahead(self) -> int:
        """Read the rows that a run asks for first, in one round trip; return the number of changes."""
        queries = [(ROWS[table], (self._number,)) for table in STARTING]
        *found, calls = self._db.together(*queries, (TWO_CALLS, (self._number, EVER)))
        self._fetched = dict(zip(STARTING, found, strict=True))
        self._calls = [ModelCall(*row) for row in calls]
        self._row = self._expected(found[0])
        return int(self._row[1])

    def has_changed(self) -> bool:
        """Return whether another process has written since the last call of this method.

        A session that has had this process alone for some turns is not asked for: a commit of the turn is
        a `ConflictError` then, where that was wrong, and the next call asks. `has_lost` is whether there are fewer changes than there were: a server that took over lacks some.
        """
        self._is_asked = self._db.is_local or self._quiet_turns < QUIET_TURNS
        if not self._is_asked:
            return False
        before, is_read = self._seen_changes, self._quiet_turns < 0
        if is_read:  # one that goes round the workers is read without a question
            seen = self._read_ahead()
        else:
            query = "SELECT changes FROM session WHERE number = ?", (self._number,)
            [seen] = self._expected(self._db.together(query)[0])
        has_changed = bool(seen != before)
        self._quiet_turns = -1 if has_changed else max(0, self._quiet_turns) + 1
        self.has_lost = seen < before
        if self.has_lost:
            LOG.error(LOST, self._session, self._db.path, before - seen)
            if self._journal:
                self._journal.forget()
        if has_changed:
            self._seen_changes = seen if is_read else self._read_ahead()
        return has_changed

    def last_call(self, before_turn: int | None = None) -> ModelCall | None:
        """Return the request that was sent last, in any turn or before one."""
        bound = EVER if before_turn is None else before_turn
        for call in self._calls:
            if call.turn < bound:
                return call
        if len(self._calls) < 2:
            return None
        [rows] = self._db.together((TWO_CALLS, (self._number, bound)))
        return ModelCall(*rows[0]) if rows else None

    def records(self) -> list[Record]:
        """Return every entry of the session, oldest first."""
        return [StoredRecord(row) for row in self._stored("entry")]

    def measures(self) -> list[Measure]:
        """Return the measures of the session's long texts."""
        return [
            Measure(bytes.fromhex(digest), count, kind)
            for measures in _listed(self._stored("measures"))
            for digest, count, kind in measures
        ]

    def notes(self) -> list[DigestNotes]:
        """Return what the messages of the session's digests brought."""
        found: list[DigestNotes] = []
        for (packed,) in self._stored("notes"):
            # Without notes, or with those of another version, the messages are read again.
            with contextlib.suppress(TypeError, ValueError):
                found += map(DigestNotes.read, json.loads(packing.unpacked(packed)))
        return found

    def candidates(self) -> list[NextText]:
        """Return the next texts of entries that were weighed and not committed."""
        with contextlib.suppress(ValueError):  # damaged ones are weighed again
            return [
                NextText(
                    id_,
                    json.loads(text_of(entry, id_)),
                    Stage(stage),
                    text_of(shown, id_),
                    note.decode(),
                )
                for id_, entry, stage, shown, note in self._stored("candidate")
            ]
        return []

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every decision with its turn, in the order of commitment.

        A stage is committed once: of two processes in one session, the first has decided it.
        """
        found: dict[tuple[str, str], tuple[int, Decision]] = {}
        for decisions in _listed(self._stored("decisions")):
            for turn, entry_id, stage, *others in decisions:
                decision = Decision(entry_id, Stage(stage), *others)
                found.setdefault((entry_id, stage), (turn, decision))
        return [*found.values()]

    def sent(self) -> list[tuple[str, int]]:
        """Return the messages of the request that was sent last, as `TurnRows` has them."""
        sent: list[tuple[str, int]] = []
        rows = self._stored("sent")
        for (first, _), messages in zip(rows, _listed(row[1:] for row in rows), strict=True):
            sent[first:] = messages
        return [(key, count) for key, count in sent]

    def agent(self, named: str = "") -> str:
        """Return the agent of the session, which is the first that is named.

        Raises:
            ValueError: it belongs to another agent; the ledger is closed then.
        """
        owner, wanted = self._row[0], storable(named)
        if wanted and not owner:
            query = "UPDATE session SET agent = ? WHERE number = ? AND agent = ''"
            own = (ROWS["session"], (self._number,))
            self._fetched["session"] = self._db.together((query, (wanted, self._number)), own)[1]
            owner = self._read_row()[0]
        if wanted and owner != wanted:
            self.close()
            raise ValueError(
                f"session {self._session!r} belongs to the agent {owner!r}; name another session"
            )
        return str(owner)

    def pending(self) -> int:
        """Return the number of the last change where it is not consolidated yet, else 0."""
        _, changes, consolidated, _ = self._read_row()
        return int(changes) if changes > consolidated else 0

    def is_shared(self) -> bool:
        """Return whether another process has changed the session since this ledger was opened."""
        return bool(self._read_row()[1] != self._changes)

    def is_newest(self) -> bool:
        """Return whether no other process has written since the last turn; a server is asked always."""
        self._fetched.clear()
        return bool(self._read_row()[1] == self._seen_changes)

    def expect_newest(self) -> None:
        """Raise `ConflictError` where another process has written, and this turn has not asked."""
        if not (self._is_asked or self.is_newest()):
            self._quiet_turns = -1
            raise ConflictError(f"session {self._session!r}: another process has written")

    def is_archived(self) -> bool:
        """Return whether the raw conversation of the session is stored."""
        query = "SELECT 1 FROM conversation WHERE session = ? LIMIT 1"
        return bool(self._db.together((query, (self._number,)))[0])

    def context_load(self) -> str | None:
        """Return the text before the first message; None until it is settled."""
        *_, text = self._row
        return None if text is None else text.decode()

    # Writing

    def put(self, store: ContentStore, content: bytes, parts: Iterable[bytes] = ()) -> None:
        """Store a payload before the commit that names it, or with it; that on the disk may refer to `parts`."""
        if store is self._payloads:
            self._waiting.append(content)
        else:
            given = (content, parts) if isinstance(store, DiskStore) else (content,)
            self._put_keys.append(store.put(*given))

    def put_longer(
        self, store: ContentStore, key: str, start: str, items: bytes, parts: Iterable[bytes]
    ) -> bool:
        """Store a JSON list that continues another one; return whether it need not be put as a whole."""
        is_put = isinstance(store, DiskStore) and store.put_longer(key, start, items, parts)
        self._put_keys += [key] * is_put
        return is_put

    def is_lost(self, store: ContentStore, key: str) -> bool:
        """Return whether a payload is gone, and no garbage collection removed it.

        One that was written with its rows never is. That on the disk is not read: a power cut takes
        whole rows, and the payload of a digest is as long as the list.
        """
        if store is self._payloads or (
            key in store if isinstance(store, DiskStore) else not damage(store, key)
        ):
            return False
        query = "SELECT 1 FROM tombstone WHERE content = ?"
        return not self._db.together((query, (key,)))[0]

    def commit(self, turn: TurnRows, *, is_synced: bool = False) -> None:
        """Write all that a turn brought, in one transaction.

        The ledger has the messages of the last call before the first new one already, and drops the
        later ones. Calls of later turns no longer count: they belong to a list that its owner has cut.

        Raises:
            ConflictError: on a server, another process has written since; the next turn asks.
            StoreError: the state is locked, full, damaged or gone; then nothing was written.
        """
        number, contents, put = self._number, self._waiting, self._put_keys
        self._waiting, self._put_keys = [], []
        entries = self._rows_of(turn.records)
        candidates = [(number, *candidate_row(candidate)) for candidate in turn.candidates]
        done, is_turn = [*turn.replaced], turn.call is not NO_CALL
        if is_turn:
            # A full one, which another entry names, is still to get its next text.
            done += [record.id for record in turn.records if record.stage is not Stage.FULL]
        # Large ones go to object storage, for which no transaction waits.
        payloads = self._payloads.rows_of(contents) if self._payloads and contents else []
        put += [key for key, *_ in payloads]
        # A file has the number of the change under its lock, a server after another round trip. A turn
        # begins with that number; a recall may be saved after changes of other workers.
        is_expected = is_turn and not self._db.is_local
        with self._change(turn, is_synced=is_synced, is_expected=is_expected) as change:
            if payloads and self._payloads:
                self._payloads.write(self._db, payloads)
            if put:
                self._db.run(DIG_UP, (json.dumps(put),))
            self._db.insert(SAVE, entries)
            if done:
                self._db.run(DROP_CANDIDATES, (number, json.dumps(done)))
            if is_turn:
                self._db.insert(CANDIDATE, candidates)
                self._write_call(change, turn)

    def _write_call(self, change: int, turn: TurnRows) -> None:
        """Write the row of a turn; its second call finds in the cache what the first one paid for."""
        call = turn.call
        before = [earlier for earlier in self._calls if earlier.turn <= call.turn]
        if len(before) < len(self._calls):
            [rows] = self._db.together((TWO_CALLS, (self._number, call.turn + 1)))
            before = [ModelCall(*row) for row in rows]
        if before and before[0].turn == call.turn:
            first, *before = before
            sums = {name: max(getattr(call, name), getattr(first, name)) for name in SUMS}
            call = replace(call, **sums)
        # A row whose turn is taken again, or was cut off the list, stays for what it brought.
        if before != self._calls:
            later = "UPDATE call SET turn = NULL WHERE session = ? AND turn >= ?"
            self._db.run(later, (self._number, call.turn))
        brought = (
            [*turn.sent],
            [(measure.digest.hex(), measure.tokens, measure.kind) for measure in turn.measures],
            [(call.turn, *astuple(decision)) for decision in turn.decisions],
        )
        notes = packing.packed(json.dumps(turn.notes).encode(), NOTES_LEVEL) if turn.notes else None
        row = (*astuple(call), turn.first, *map(COMPACT.encode, brought), notes)
        self._db.run(WRITE_CALL, (self._number, change, *row))
        self._calls = [call, *before][:2]

    def _rows_of(self, records: Iterable[Record]) -> list[Row]:
        """Return the rows of the latest records: they are packed before the lock is taken."""
        rows = {record.entry.id: (self._number, *columns_of(record)) for record in records}
        return [*rows.values()]

    def save(self, *records: Record) -> None:
        """Write entries again, after an access.

        A state waits for the disk: no list has it, from which a call could write it again.
        """
        is_state = any(record.entry.type == "state" for record in records)
        self.commit(TurnRows(records=records), is_synced=is_state)

    def go_on_from(self, turn: int) -> None:
        """Keep the sums of all calls before a turn: the list has fewer turns than were paid for."""
        self.commit(TurnRows(replace(self._calls[0], turn=turn - 1)))

    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str:
        """Settle the text before the first message, with its entries; the first one stays."""
        query = (
            "UPDATE session SET context_load = ?, context_load_tokens = ?"
            " WHERE number = ? AND context_load IS NULL RETURNING number"
        )
        with self._db.transaction():
            if self._db.rows(query, (storable(text).encode(), tokens, self._number)):
                self._db.insert(SAVE, self._rows_of(records))
        self._fetched.clear()
        self._read_row()
        return self.context_load() or ""

    def consolidated(self, change: int) -> None:
        """Record that everything up to a change is consolidated."""
        self._db.run(consolidated.DONE, (change, storable(self._session)))

    def pack(self, min_bytes: int = 0) -> None:
        """Pack the lines of the raw conversation, where a file has at least `min_bytes`.

        One that cannot be read or written, a `StoreError`, stays as it is.
        """
        try:
            if self._db.is_local:
                pack(self._db, self._number, min_bytes)
        except packing.DamagedError as damage:
            raise StoreError(f"a conversation cannot be packed: {damage}") from damage

    def close(self) -> None:
        """Use the session no more; a second time does nothing."""
        if self._number and not self._is_closed:
            self._opened.release(self._number)
        self._is_closed = True

    @contextlib.contextmanager
    def _change(self, turn: TurnRows, *, is_synced: bool, is_expected: bool) -> Iterator[int]:
        """Write a change of the session, which other processes take up; yield its number.

        It locks the session. An `is_expected` one has the next number after the last that is known: it goes
        to a server in one round trip, which refuses another number. After a failure, the next change begins
        with the rows as they are then.

        Raises:
            ConflictError: another process has written since.
        """
        number, raw, calls = self._number, turn.raw, self._calls
        journal = self._journal if raw else None
        begin = CHANGED, (time.time(), turn.model or None, turn.failures, turn.raw_calls, number)
        lines = [(LINES, (number, journal.last))] if journal else []
        is_known = journal is None or journal.last == self._seen_changes
        change, others = self._seen_changes + 1, list[list[Row]]()
        try:
            with self._db.transaction(is_synced=is_synced):
                if is_expected and is_known:
                    self._db.run(*begin)
                    self._db.run(EXPECT, (number, change))
                else:
                    found, *others = self._db.together(begin, *([] if is_known else lines))
                    [change] = self._expected(found)
                if change != self._seen_changes + 1:  # another process has written since
                    last, *others = self._db.together((TWO_CALLS, (number, EVER)), *lines)
                    self._calls = [ModelCall(*row) for row in last]
                yield change
                if journal and raw:
                    rows = [row for rows in others for row in rows]
                    listed, new = journal.row(rows, raw, is_call=turn.call is not NO_CALL)
                    packed = new if self._db.is_local else packing.packed(new, LEVEL)
                    self._db.run(ADD_LINES, (number, change, listed, zlib.crc32(packed), packed))
        except BaseException:
            self._calls, self._quiet_turns = calls, -1
            if self._journal:
                self._journal.forget()
            raise
        if self._journal and (journal or self._journal.last == change - 1):
            self._journal.last = change
        self._fetched.clear()
        self._changes += 1
        self._seen_changes += 1


# Over all sessions


def activity(db: Database) -> dict[str, float]:
    """Return by session when it was last active, in seconds since 1970; infinite where it is open."""
    return {name: at for _, name, at in _active(db)}


def _active(db: Database) -> Iterator[tuple[int, str, float]]:
    rows = db.rows("SELECT number, name, active_at FROM session ORDER BY number")
    is_open = db.open_sessions(number for number, *_ in rows)
    for number, name, at in rows:
        yield number, name, math.inf if number in is_open else at


def stored_sessions(db: Database, *, damaged: bool = False) -> list[StoredSession]:
    """Return every session; entries that cannot be read are an error, or named where `damaged` ones are wanted."""
    found = []
    for number, name, active_at in _active(db):
        rows, calls = db.together((ROWS["entry"], (number,)), (TWO_CALLS, (number, EVER)))
        records, unread = [], []
        for row in rows:
            try:
                records.append(record_of(row))
            except StoreError:
                if not damaged:
                    raise
                unread.append(row[0])
        call = ModelCall(*calls[0]) if calls else NO_CALL
        found.append(StoredSession(name, active_at, call, tuple(records), tuple(unread)))
    return found


def forget(db: Database, session: str) -> None:
    """Remove the rows of a session, and those of hooks and proxies, in the open transaction.

    Raises:
        StoreError: a process has it open, or the rows cannot be removed.
    """
    expect_closed(db, session)
    db.run("DELETE FROM session WHERE name = ?", (storable(session),))
    for table in ("hook_event", "proxy_conversation"):
        db.run(f"DELETE FROM {table} WHERE session = ?", (storable(session),))


def expect_closed(db: Database, session: str) -> None:
    """Raise `StoreError` where a process has a session open."""
    number = db.value("SELECT number FROM session WHERE name = ?", (storable(session),))
    if number is not None and db.open_sessions([number]):
        raise StoreError(f"session {session!r} is open in a process: close it first")


def columns_of(record: Record) -> tuple[str | int | bytes, ...]:
    """Return the columns of an entry, as `SAVE` takes them."""
    near = record.entry.id + record.tool
    # pydantic's own JSON writes no lone surrogates
    entry = packed_text(json.dumps(record.entry.fields()), near + record.content)
    return (
        record.entry.id,
        str(record.origin).encode(),
        record.content,
        record.form,
        record.kind,
        record.tool.encode(),
        record.arguments.encode(),
        record.tokens,
        str(record.stage),
        packed_text(record.shown, near),
        entry,
        int(is_pinned(record.entry)),
    )


def noted(record: Record) -> list[Any]:
    """Return the columns `ENTRY` of an entry as JSON, bytes in a list."""
    columns = columns_of(record)[:-1]
    return [[b64encode(v).decode()] if isinstance(v, bytes) else v for v in columns]


class StoredRecord(Record):
    """A record of the columns `ENTRY`; its entry and its text are unpacked when they are first asked for."""

    _packed: tuple[str, bytes, bytes]
    """Its id, with its text and its entry as they are stored."""
    # It equals a record of the same values, and a changed copy is such a record.
    __class__ = property(lambda _: Record)

    def __init__(self, row: Row) -> None:
        """Unpack nothing yet.

        Raises:
            StoreError: a column is damaged.
        """
        id_, origin, content, form, kind, tool, arguments, tokens, stage, shown, entry = row
        put = object.__setattr__
        put(self, "_packed", (id_, shown, entry))
        put(self, "content", content)
        put(self, "form", form)
        put(self, "kind", kind)
        put(self, "tokens", tokens)
        with _naming_damage(id_):
            put(self, "tool", tool.decode())
            put(self, "arguments", arguments.decode())
            put(self, "origin", parsed(origin.decode()))
            put(self, "stage", Stage(stage))

    @classmethod
    def noted(cls, columns: Iterable[Any]) -> StoredRecord:
        """Return the record that the function `noted` was given."""
        return cls(tuple(b64decode(v[0]) if isinstance(v, list) else v for v in columns))

    @property
    def id(self) -> str:
        """Return the id of its entry."""
        return str(self._packed[0])

    @functools.cached_property
    def entry(self) -> Entry:
        """Return its entry, or raise `StoreError` where it is damaged."""
        id_, _, packed = self._packed
        with _naming_damage(id_):
            return Entry.read(text_of(packed, id_ + self.tool + self.content))

    @functools.cached_property
    def shown(self) -> str:
        """Return its text in the view, or raise `StoreError` where it is damaged."""
        id_, packed, _ = self._packed
        with _naming_damage(id_):
            return text_of(packed, id_ + self.tool)


@contextlib.contextmanager
def _naming_damage(entry_id: str) -> Iterator[None]:
    try:
        yield
    except ValueError as failure:
        raise StoreError(f"entry {entry_id} is damaged: {failure}") from failure


def record_of(row: tuple[Any, ...]) -> Record:
    """Return the entry of the columns `ENTRY`.

    Raises:
        StoreError: they are damaged.
    """
    return replace(StoredRecord(row))


def _listed(rows: Iterable[Row]) -> list[list[Any]]:
    """Return the JSON lists that calls brought, one a row; an empty one where it is damaged."""
    texts = [text for (text,) in rows]
    with contextlib.suppress(*json_text.UNREADABLE):  # all at once, in half the time
        found: list[list[Any]] = json.loads(f"[{','.join(texts)}]")
        if len(found) == len(texts) and all(isinstance(listed, list) for listed in found):
            return found
    found = [json_text.read(text, []) for text in texts]
    return [listed if isinstance(listed, list) else [] for listed in found]


def candidate_row(text: NextText) -> tuple[str, bytes, str, bytes, bytes]:
    """Return the columns of a next text, as `CANDIDATE` takes them."""
    entry_id, fields, stage, shown, note = text
    packed = packed_text(json.dumps(fields), entry_id)
    return entry_id, packed, stage, packed_text(shown, entry_id), note.encode()


def is_pinned(entry: Entry) -> bool:
    """Return whether an entry keeps its payload: critical, or meant to outlive its session."""
    return entry.modifiers.priority == "critical" or entry.lifecycle.persist
