"""The entries of a session on disk, and each change of its view with its turn and its reason.

Rows of all sessions are in one database. The only module that reads or writes these tables; nothing is
decided here.
"""

from __future__ import annotations

import abc
import contextlib
import itertools
import json
import math
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Entry, Record, Stage, storable
from hippocampus.entries.origin import ADOPTED, STATE, parsed
from hippocampus.errors import StoreError
from hippocampus.storage import database, packing, proxy
from hippocampus.storage.archive import reader
from hippocampus.storage.archive.journal import Journal, RawList, call_fields, pack
from hippocampus.storage.content_store import ContentStore, DiskStore, damage
from hippocampus.storage.packing import packed_text, text_of
from hippocampus.storage.sqlite import transaction
from hippocampus.storage.state_dir import StateDir

BEGIN = """
    INSERT OR IGNORE INTO session (name, active_at, mark)
    VALUES (?, ?, coalesce((SELECT mark FROM session WHERE mark != '' ORDER BY number LIMIT 1), ?))
"""
SAVE = """
    INSERT INTO entry (session, id, origin, content, form, kind, tool, arguments, tokens, stage,
        shown, entry, is_pinned)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id, session) DO UPDATE SET stage = excluded.stage, entry = excluded.entry,
        is_pinned = excluded.is_pinned, shown = CASE stage WHEN excluded.stage THEN shown ELSE excluded.shown END
    WHERE excluded.stage = 'dormant' OR (stage, excluded.stage) IN (
        VALUES ('full', 'full'), ('full', 'indexed'), ('indexed', 'indexed')
    )
    ON CONFLICT (session, origin) DO NOTHING
"""
"""An entry keeps its row, and so its rank by age; its payload never changes.

No stage goes back, and the text of a stage is frozen: a process that has not read the commits of
another overwrites none of them.
"""
DECIDE = """
    INSERT INTO decision (session, turn, entry_id, stage, reason, saves, costs)
    SELECT :session, :turn, :entry_id, :stage, :reason, :saves, :costs
    WHERE NOT EXISTS (
        SELECT 1 FROM decision
        WHERE session = :session AND entry_id = :entry_id AND stage = :stage
    )
"""
"""A stage is committed once: of two processes in one session, the decision of the first is written."""

MEASURE = """
    INSERT INTO measure (session, digest, encoding, tokens, kind) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (session, digest) DO UPDATE SET encoding = excluded.encoding, tokens = excluded.tokens,
        kind = excluded.kind
"""
CANDIDATE = """
    INSERT INTO candidate (session, id, entry, stage, shown, note) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, id) DO UPDATE SET stage = excluded.stage, shown = excluded.shown,
        entry = excluded.entry, note = excluded.note
"""
WRITE_CALL = """
    INSERT INTO call (session, turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost,
        marks) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (session, turn) DO UPDATE SET messages = excluded.messages,
        raw_tokens = excluded.raw_tokens, sent_tokens = excluded.sent_tokens,
        raw_cost = max(call.raw_cost, excluded.raw_cost),
        sent_cost = max(call.sent_cost, excluded.sent_cost),
        edit_cost = max(call.edit_cost, excluded.edit_cost), marks = excluded.marks
"""
"""A second call in a turn finds in the cache what the first one paid for."""
CALLS = """
    SELECT turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost, marks FROM call
"""
LAST_CALLS = """
    SELECT turn, messages, raw_tokens, sent_tokens, raw_cost, sent_cost, edit_cost, marks, name
    FROM call JOIN session ON session.number = call.session
    WHERE turn = (SELECT max(turn) FROM call AS later WHERE later.session = call.session)
"""
ENTRY = "id, origin, content, form, kind, tool, arguments, tokens, stage, shown, entry"
ENTRIES = f"SELECT {ENTRY} FROM entry WHERE session = ?"
ROWS = {
    "entry": f"{ENTRIES} ORDER BY number",
    "measure": "SELECT digest, encoding, tokens, kind FROM measure WHERE session = ?",
    "candidate": "SELECT id, entry, stage, shown, note FROM candidate WHERE session = ? ORDER BY number",
    "sent": "SELECT key, tokens, encoding FROM sent JOIN session ON session.number = sent.session"
    " WHERE session = ? ORDER BY sent.number",
    "decision": "SELECT turn, entry_id, stage, reason, saves, costs FROM decision WHERE session = ?"
    " ORDER BY number",
}
"""The rows of a session by what they are, in the SQL of every engine."""
OWNER = f"""
    SELECT name, {ENTRY} FROM entry JOIN session ON session.number = entry.session
    WHERE id = ? ORDER BY entry.number LIMIT 1
"""
EARLIER = """
    SELECT number, name FROM session WHERE agent = ? AND name != ?
    ORDER BY active_at DESC, number DESC LIMIT ?
"""
NEWEST_AWAY = f"""
    {ENTRIES} AND stage != 'full' AND substr(origin, 1, {len(ADOPTED) + 1}) != '{ADOPTED}:'
    ORDER BY number DESC LIMIT 40
"""
NEWEST_STATES = f"""
    {ENTRIES} AND substr(origin, 1, {len(STATE) + 1}) = '{STATE}:' ORDER BY number DESC LIMIT 10
"""
SESSIONS = """
    SELECT number, name, active_at, coalesce((SELECT max(turn) FROM call WHERE session = number), 0)
    FROM session ORDER BY number
"""
HOLDERS = """
    SELECT session.number, process, active_at
    FROM holder JOIN session ON session.number = holder.session
"""
CHANGED = "UPDATE session SET changes = changes + 1, active_at = ? WHERE number = ?"


NEXT_FIELDS = ("summary", "key_data", "decay", "modifiers")


class NextText(NamedTuple):
    """The next stage of an entry: what changes in it, and its text with the note that this has."""

    entry_id: str
    fields: Mapping[str, Any]
    """The fields of the entry in `NEXT_FIELDS`."""
    stage: Stage
    shown: str
    note: str


class StoredSession(NamedTuple):
    """A session as its ledger has it on disk."""

    name: str
    active_at: float
    """When it was last written, in seconds since 1970; infinite while a process has it open."""
    turn: int
    records: tuple[Record, ...]
    damaged: tuple[str, ...]
    """The ids of entries that cannot be read."""


class SessionExcerpt(NamedTuple):
    """A session seen from another one: the entries that last left its view, and its last states."""

    session: str
    records: list[Record]


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request as it was sent."""

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
    marks: str = ""
    """Where cache marks of ours stood, as `session.marks` writes it; empty for none."""


class SentMessages(NamedTuple):
    """The messages of a request from a number on, each as a hash of its words and its tokens."""

    first: int = 0
    keys: Sequence[str] = ()
    tokens: Sequence[int] = ()
    """0 is not known."""
    encoding: str = ""
    """The vocabulary that counted them."""


NOTHING_SENT = SentMessages()


class Measure(NamedTuple):
    """What a long text is, by its hash, so that it is determined once and not at each start."""

    digest: bytes
    """As `tokens.digest` makes it."""
    encoding: str
    """The vocabulary that counted it."""
    tokens: int
    kind: str
    """The kind of content, such as `json`; empty where no turn has asked for it."""


class TurnRows(NamedTuple):
    """All that a turn brought."""

    call: ModelCall
    records: Sequence[Record] = ()
    decisions: Sequence[Decision] = ()
    sent: SentMessages = NOTHING_SENT
    measures: Sequence[Measure] = ()
    raw: RawList | None = None
    """The list as its host handed it over, for the journal."""
    candidates: Sequence[NextText] = ()


class SessionRows(abc.ABC):
    """What the rows of a session mean, whichever engine has them."""

    @abc.abstractmethod
    def _stored(self, table: str) -> list[tuple[Any, ...]]:
        """Return the rows that `ROWS` names."""

    def records(self) -> list[Record]:
        """Return every entry of the session, oldest first."""
        return [record_of(row) for row in self._stored("entry")]

    def measures(self) -> list[Measure]:
        """Return the measures of the session's long texts."""
        return [Measure(*row) for row in self._stored("measure")]

    def candidates(self) -> list[NextText]:
        """Return the next texts of entries that were weighed and not committed."""
        with contextlib.suppress(ValueError):  # damaged ones are weighed again
            return [
                NextText(
                    id_,
                    json.loads(text_of(entry, id_)),
                    Stage(stage),
                    text_of(shown, id_),
                    _decoded(note),
                )
                for id_, entry, stage, shown, note in self._stored("candidate")
            ]
        return []

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every decision with its turn, in the order of commitment."""
        return [
            (turn, Decision(entry_id, Stage(stage), _decoded(reason), saves, costs))
            for turn, entry_id, stage, reason, saves, costs in self._stored("decision")
        ]

    def sent(self, encoding: str) -> SentMessages:
        """Return the messages of the request that was sent last; their tokens by this encoding."""
        rows = self._stored("sent")
        weights = [n * (by == encoding) for _, n, by in rows]
        return SentMessages(0, [key for key, _, _ in rows], weights, encoding)


class StateRows(abc.ABC):
    """The queries over all sessions of a state, in the SQL of every engine."""

    named: Callable[[str], str] = staticmethod(storable)
    """Writes a name as the engine's texts hold it."""

    @abc.abstractmethod
    def rows(self, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of some queries, each with its values."""

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry.

        Raises:
            StoreError: the state cannot be read, or the entry is damaged.
        """
        [rows] = self.rows((OWNER, (self.named(entry_id),)))
        return (rows[0][0], record_of(rows[0][1:])) if rows else None

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first.

        Raises:
            StoreError: the state cannot be read, or an entry is damaged.
        """
        [found] = self.rows((EARLIER, (self.named(agent), self.named(session), sessions)))
        newest = [(query, (n,)) for n, _ in found for query in (NEWEST_AWAY, NEWEST_STATES)]
        rows = iter(self.rows(*newest))
        return [
            SessionExcerpt(name, [record_of(row) for row in (*next(rows), *next(rows))])
            for _, name in found
        ]

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule.

        Raises:
            StoreError: the state cannot be read.
        """
        [rows] = self.rows(("SELECT removed, rule FROM tombstone WHERE content = ?", (key,)))
        return (rows[0][0], rows[0][1]) if rows else None

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation.

        Raises:
            StoreError: the state cannot be read.
        """
        query = "SELECT name FROM session WHERE changes > consolidated ORDER BY number"
        return [name for (name,) in self.rows((query, ()))[0]]

    def agent_of(self, session: str) -> str | None:
        """Return the agent of a session; None where there is no such session.

        Raises:
            StoreError: the state cannot be read.
        """
        [rows] = self.rows(("SELECT agent FROM session WHERE name = ?", (self.named(session),)))
        return str(rows[0][0]) if rows else None


class Ledger(SessionRows):
    """The entries and commitments of one session."""

    def __init__(
        self,
        state: StateDir,
        session: str,
        journal: Journal | None = None,
        busy_seconds: float | None = None,
        mark: str = "",
    ) -> None:
        """Open a session; its raw conversation is written where there is a journal.

        `mark` is that of a state without sessions; without it, one is drawn.
        """
        self.busy_seconds = busy_seconds
        """How long all writes from now on wait for others; None is `sqlite.BUSY_SECONDS` each."""
        self._state = state
        self._session = session
        self._journal = journal
        self._number = 0
        self._holder = database.new_holder()
        self._connection: sqlite3.Connection | None = None
        with database.as_store_error(state):
            self._connection = database.connected(state)
            try:
                with transaction(self._connection, busy_seconds):
                    named = (storable(session), time.time(), mark or database.new_mark())
                    self._connection.execute(BEGIN, named)
                    self._number, self.mark = self._found()
                    self._hold()
                self._changes = self._seen_changes = self._counted()
            except BaseException:
                self._connection.close()
                raise

    @property
    def _db(self) -> sqlite3.Connection:
        """The open database; one that rests is opened again, and has to have the session."""
        if self._connection is None:
            self._state.database.stat()  # SQLite would make an empty file in place of a removed one
            self._connection = database.connected(self._state)
            self._number, self.mark = self._found()
        return self._connection

    def _found(self) -> tuple[int, str]:
        """Return the number of the session, and the mark of its ids."""
        query = "SELECT number, mark FROM session WHERE name = ?"
        row = self._db.execute(query, (storable(self._session),)).fetchone()
        if row is None:
            raise StoreError(f"session {self._session!r} was removed from {self._state.root}")
        return int(row[0]), str(row[1])

    def _hold(self) -> None:
        """Note that this process has the session open, in place of processes that have died."""
        own = f"{HOLDERS} WHERE session.number = ?"
        for _, process, active_at in self._db.execute(own, (self._number,)).fetchall():
            if not database.is_held(process, active_at):
                self._db.execute("DELETE FROM holder WHERE process = ?", (process,))
        self._db.execute("INSERT INTO holder VALUES (?, ?)", (self._number, self._holder))

    def _stored(self, table: str) -> list[tuple[Any, ...]]:
        return self._rows(ROWS[table])

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query about the session, whose number is its first value."""
        with database.as_store_error(self._state):
            return self._db.execute(query, (self._number, *values)).fetchall()

    def rest(self) -> None:
        """Close the file until it is used again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def has_changed(self) -> bool:
        """Return whether another process has written entries since the last call of this method."""
        with database.as_store_error(self._state):
            before, self._seen_changes = self._seen_changes, self._counted()
        return self._seen_changes != before

    def last_call(self, before_turn: int | None = None) -> ModelCall | None:
        """Return the request that was sent last, in any turn or before one."""
        bound = before_turn if before_turn is not None else 1 << 62
        query = f"{CALLS} WHERE session = ? AND turn < ? ORDER BY turn DESC LIMIT 1"
        return next((ModelCall(*row) for row in self._rows(query, bound)), None)

    def go_on_from(self, turn: int) -> None:
        """Let the sums of all calls stand before a turn: the list has fewer turns than were paid for."""
        with self._transaction() as db:
            query = "SELECT max(turn) FROM call WHERE session = ?"
            (last,) = db.execute(query, (self._number,)).fetchone()
            query = "DELETE FROM call WHERE session = ? AND turn BETWEEN ? AND ?"
            db.execute(query, (self._number, turn - 1, last - 1))
            query = "UPDATE call SET turn = ? WHERE session = ? AND turn = ?"
            db.execute(query, (turn - 1, self._number, last))

    def put(self, store: ContentStore, content: bytes, parts: Iterable[str] = ()) -> None:
        """Store a payload before the commit that names it; that on the disk may refer to `parts`."""
        if isinstance(store, DiskStore):
            store.put(content, parts)
        else:
            store.put(content)

    def is_lost(self, store: ContentStore, key: str) -> bool:
        """Return whether a payload is damaged or gone, and no garbage collection removed it."""
        query = "SELECT 1 FROM tombstone WHERE content = ?"
        with database.as_store_error(self._state):
            return bool(damage(store, key)) and not self._db.execute(query, (key,)).fetchone()

    def commit(self, turn: TurnRows) -> None:
        """Write all that a turn brought, in one transaction.

        The messages of the call before its first new one are in the ledger already, and those after
        are removed. So are calls of later turns, which belong to a list that its owner has cut since.

        Raises:
            StoreError: the file is locked, full, damaged or gone; then nothing was written.
        """
        number, call = self._number, turn.call
        with self._change() as db:
            self._save(db, turn.records)
            named = {"session": number, "turn": call.turn}
            db.executemany(DECIDE, [named | asdict(decision) for decision in turn.decisions])
            db.executemany(MEASURE, [(number, *row) for row in turn.measures])
            gone = [(number, record.entry.id) for record in turn.records]
            db.executemany("DELETE FROM candidate WHERE session = ? AND id = ?", gone)
            db.executemany(CANDIDATE, [(number, *candidate_row(text)) for text in turn.candidates])
            db.execute("DELETE FROM call WHERE session = ? AND turn > ?", (number, call.turn))
            db.execute(WRITE_CALL, (number, *astuple(call)))
            self._save_sent(db, turn.sent)
            self._append(db, turn.raw, lambda: call_fields(call, turn.decisions, turn.records))

    def _save(self, db: sqlite3.Connection, records: Iterable[Record]) -> None:
        db.executemany(SAVE, [(self._number, *row_of(record)) for record in records])

    def _save_sent(self, db: sqlite3.Connection, sent: SentMessages) -> None:
        first, keys, weights, encoding = sent
        other = "UPDATE session SET encoding = ? WHERE number = ? AND encoding != ?"
        if db.execute(other, (encoding, self._number, encoding)).rowcount:
            db.execute("UPDATE sent SET tokens = 0 WHERE session = ?", (self._number,))
        db.execute("DELETE FROM sent WHERE session = ? AND number >= ?", (self._number, first))
        rows = zip(itertools.repeat(self._number), itertools.count(first), keys, weights)
        db.executemany("INSERT INTO sent VALUES (?, ?, ?, ?)", rows)

    def save(self, *records: Record, raw: RawList | None = None) -> None:
        """Write entries again, after an access; `raw` is the list as it ended, for the journal.

        A state waits for the disk: no list has it, from which a call could write it again.
        """
        is_state = any(record.entry.type == "state" for record in records)
        with self._synced() if is_state else contextlib.nullcontext(), self._change() as db:
            self._save(db, records)
            self._append(db, raw, dict)

    def _append(
        self, db: sqlite3.Connection, raw: RawList | None, fields: Callable[[], dict[str, Any]]
    ) -> None:
        """Write what a list adds to the raw conversation."""
        if self._journal and raw is not None:
            found = lambda after: reader.rows(db, self._number, after)  # noqa: E731
            row = (self._number, self._journal.lines(found, raw, fields()))
            query = "INSERT INTO conversation (session, lines) VALUES (?, ?)"
            self._journal.last = db.execute(query, row).lastrowid or 0

    def is_archived(self) -> bool:
        """Return whether the raw conversation of the session is stored."""
        query = "SELECT EXISTS (SELECT 1 FROM conversation WHERE session = ?)"
        return bool(self._rows(query)[0][0])

    # What outlives the session

    def agent(self, named: str = "") -> str:
        """Return the agent of the session, which is the first that is named.

        Raises:
            ValueError: it belongs to another agent; the ledger is closed then.
        """
        if named:
            with self._transaction() as db:
                query = "UPDATE session SET agent = ? WHERE number = ? AND agent = ''"
                db.execute(query, (storable(named), self._number))
        ((owner,),) = self._rows("SELECT agent FROM session WHERE number = ?")
        if named and owner != storable(named):
            self.close()
            raise ValueError(
                f"session {self._session!r} belongs to the agent {owner!r}; name another session"
            )
        return str(owner)

    def pending(self) -> int:
        """Return the number of the last change where it is not consolidated yet, else 0."""
        query = "SELECT changes, consolidated FROM session WHERE number = ?"
        ((changes, consolidated),) = self._rows(query)
        return int(changes) if changes > consolidated else 0

    def is_shared(self) -> bool:
        """Return whether another process has changed the session since this ledger was opened."""
        with database.as_store_error(self._state):
            return self._counted() != self._changes

    def _counted(self) -> int:
        query = "SELECT changes FROM session WHERE number = ?"
        row = self._db.execute(query, (self._number,)).fetchone()
        if row is None:
            raise StoreError(f"session {self._session!r} was removed from {self._state.root}")
        return int(row[0])

    def consolidated(self, change: int) -> None:
        """Record that everything up to a change is consolidated."""
        query = "UPDATE session SET consolidated = max(consolidated, ?) WHERE number = ?"
        with self._transaction() as db:
            db.execute(query, (change, self._number))

    def context_load(self) -> str | None:
        """Return the text in front of the first message; None where it is not settled."""
        ((text,),) = self._rows("SELECT context_load FROM session WHERE number = ?")
        return None if text is None else str(text)

    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str:
        """Settle the text in front of the first message, with its entries; the first one holds."""
        with self._transaction() as db:
            changed = db.execute(
                "UPDATE session SET context_load = ?, context_load_tokens = ?"
                " WHERE number = ? AND context_load IS NULL",
                (storable(text), tokens, self._number),
            )
            if changed.rowcount:
                self._save(db, records)
        return self.context_load() or ""

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        with database.as_store_error(self._state):
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
        orphans = self._rows(
            "SELECT entry_id FROM decision WHERE session = ?1"
            " AND entry_id NOT IN (SELECT id FROM entry WHERE session = ?1)"
        )
        problems = [f"{self._state.database}: {text}" for text in found if text != "ok"]
        return problems + [
            f"{self._session}: decision on unknown entry {id_}" for (id_,) in orphans
        ]

    def pack(self, min_bytes: int = 0) -> None:
        """Pack the lines of the raw conversation, where they have `min_bytes` or more.

        Raises:
            StoreError: it cannot be read or written; then it stays as it is.
        """
        try:
            with database.as_store_error(self._state):
                pack(self._db, self._number, min_bytes, self.busy_seconds)
        except packing.DamagedError as damage:
            raise StoreError(f"a conversation cannot be packed: {damage}") from damage

    def close(self) -> None:
        """Close the file; a second time does nothing."""
        holder, self._holder = self._holder, ""
        if holder:
            with contextlib.suppress(StoreError), self._transaction() as db:
                db.execute("DELETE FROM holder WHERE process = ?", (holder,))
        if self._connection is not None:
            self._connection.close()

    @contextlib.contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Write a change of the session, which other processes take up."""
        try:
            with self._transaction() as db:
                yield db
                db.execute(CHANGED, (time.time(), self._number))
        except BaseException:
            if self._journal:
                self._journal.forget()
            raise
        self._changes += 1
        self._seen_changes += 1

    @contextlib.contextmanager
    def _synced(self) -> Iterator[None]:
        """Let the transactions of a `with` block wait for the disk."""
        with database.as_store_error(self._state):
            self._db.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            with database.as_store_error(self._state):
                self._db.execute("PRAGMA synchronous = NORMAL")

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with database.as_store_error(self._state):
            self._state.database.stat()  # SQLite would go on writing into a file that was removed
            db, asked = self._db, time.monotonic()
            try:
                with transaction(db, self.busy_seconds):
                    yield db
            finally:
                if self.busy_seconds:
                    self.busy_seconds = max(0.0, self.busy_seconds - time.monotonic() + asked)


# Over all sessions


def activity(state: StateDir) -> dict[str, float]:
    """Return when each session was last active, in seconds since 1970; infinite where it is open.

    Raises:
        StoreError: the state cannot be read.
    """
    with database.reading(state) as db:
        is_open = open_sessions(db)
        rows = db.execute("SELECT number, name, active_at FROM session ORDER BY number")
        return {name: math.inf if number in is_open else at for number, name, at in rows}


def stored_sessions(state: StateDir, *, damaged: bool = False) -> list[StoredSession]:
    """Return every session; entries that cannot be read are named where `damaged` ones are wanted.

    Raises:
        StoreError: the state cannot be read, or an entry is damaged and `damaged` is not set.
    """
    with database.reading(state) as db:
        is_open = open_sessions(db)
        found = []
        for number, name, active_at, turn in db.execute(SESSIONS).fetchall():
            records, unread = [], []
            for row in db.execute(f"{ENTRIES} ORDER BY number", (number,)):
                try:
                    records.append(record_of(row))
                except StoreError:
                    if not damaged:
                        raise
                    unread.append(row[0])
            at = math.inf if number in is_open else active_at
            found.append(StoredSession(name, at, turn, tuple(records), tuple(unread)))
    return found


def last_calls(state: StateDir) -> dict[str, ModelCall]:
    """Return the last request of each session that has sent one, by the session's name.

    Raises:
        StoreError: the state cannot be read.
    """
    with database.reading(state) as db:
        rows = db.execute(LAST_CALLS)
        return {name: ModelCall(*call) for *call, name in rows}


def expect_closed(state: StateDir, session: str) -> None:
    """Raise `StoreError` where a process has a session open."""
    with database.reading(state) as db:
        _expect_closed(db, session)


def forget(db: sqlite3.Connection, session: str) -> None:
    """Remove the rows of a session, and those of hooks and proxies, in the open transaction.

    Raises:
        StoreError: a process has it open.
        sqlite3.Error: the rows cannot be removed.
    """
    _expect_closed(db, session)
    db.execute("DELETE FROM session WHERE name = ?", (storable(session),))
    db.execute("DELETE FROM hook_event WHERE session = ?", (storable(session),))
    proxy.forget(db, storable(session))


def _expect_closed(db: sqlite3.Connection, session: str) -> None:
    query = "SELECT number FROM session WHERE name = ?"
    row = db.execute(query, (storable(session),)).fetchone()
    if row and row[0] in open_sessions(db):
        raise StoreError(f"session {session!r} is open in a process: close it first")


def open_sessions(db: sqlite3.Connection) -> set[int]:
    """Return the numbers of the sessions that a process has open."""
    rows = db.execute(HOLDERS)
    return {number for number, process, active_at in rows if database.is_held(process, active_at)}


def row_of(record: Record) -> tuple[str | int | bytes, ...]:
    """Return the columns of an entry, as `SAVE` takes them."""
    near = record.entry.id + record.tool
    return (
        record.entry.id,
        str(record.origin),
        record.content,
        record.form,
        record.kind,
        record.tool,
        record.arguments,
        record.tokens,
        record.stage,
        packed_text(record.shown, near),
        # pydantic's own JSON writes no lone surrogates
        packed_text(json.dumps(record.entry.fields()), near + record.content),
        is_pinned(record.entry),
    )


def record_of(row: tuple[Any, ...]) -> Record:
    """Return the entry of the columns `ENTRY`.

    Raises:
        StoreError: they are damaged.
    """
    entry_id, origin, content, form, kind, tool, arguments, tokens, stage, shown, entry = row
    origin, tool, arguments = map(_decoded, (origin, tool, arguments))
    near = entry_id + tool
    try:
        return Record(
            Entry.parsed(json.loads(text_of(entry, near + content))),
            parsed(origin),
            content,
            form,
            kind,
            tool,
            arguments,
            tokens,
            Stage(stage),
            text_of(shown, near),
        )
    except ValueError as failure:
        raise StoreError(f"entry {entry_id} is damaged: {failure}") from failure


def candidate_row(text: NextText) -> tuple[str, bytes, str, bytes, str]:
    """Return the columns of a next text, as `CANDIDATE` takes them."""
    entry_id, fields, stage, shown, note = text
    packed = packed_text(json.dumps(fields), entry_id)
    return entry_id, packed, stage, packed_text(shown, entry_id), note


def _decoded(text: str | bytes) -> str:
    """Return a text; one that may have a NUL is bytes on an engine whose texts have none."""
    return text.decode() if isinstance(text, bytes) else text


def is_pinned(entry: Entry) -> bool:
    """Return whether an entry keeps its payload: critical, or meant to outlive its session."""
    return entry.modifiers.priority == "critical" or entry.lifecycle.persist
