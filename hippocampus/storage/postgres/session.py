"""One session on PostgreSQL: what `storage.ledger.Ledger` is on SQLite, in at most three round trips a turn."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, astuple
from typing import Any

import psycopg

from hippocampus.entries.entry import Record, storable
from hippocampus.errors import StoreError
from hippocampus.storage import database, packing
from hippocampus.storage.archive import Journal, RawList
from hippocampus.storage.archive.journal import call_fields
from hippocampus.storage.archive.reader import readable
from hippocampus.storage.content_store import LEVEL, ContentStore, damage
from hippocampus.storage.ledger import (
    CALLS,
    CANDIDATE,
    CHANGED,
    DECIDE,
    MEASURE,
    ROWS,
    WRITE_CALL,
    ModelCall,
    SessionRows,
    TurnRows,
    candidate_row,
    row_of,
)
from hippocampus.storage.postgres.connections import Connections, Query
from hippocampus.storage.postgres.contents import PostgresContents
from hippocampus.storage.postgres.dialect import translated

OPEN = """
    INSERT INTO session (name, active_at, mark)
    VALUES (%s, %s, coalesce((SELECT mark FROM session WHERE mark != '' ORDER BY number LIMIT 1), %s))
    ON CONFLICT (tenant, name) DO NOTHING RETURNING number
"""
SAVE = """
    INSERT INTO entry AS known (session, id, origin, content, form, kind, tool, arguments, tokens, stage,
        shown, entry, is_pinned)
    SELECT %s, %s, %s::bytea, %s, %s, %s, %s::bytea, %s::bytea, %s, %s, %s::bytea, %s::bytea, %s
    WHERE NOT EXISTS (
        SELECT FROM entry WHERE session = %s AND sha256(origin) = sha256(%s::bytea) AND id != %s
    )
    ON CONFLICT (session, id) DO UPDATE SET stage = excluded.stage, entry = excluded.entry,
        is_pinned = excluded.is_pinned,
        shown = CASE known.stage WHEN excluded.stage THEN known.shown ELSE excluded.shown END
    WHERE excluded.stage = 'dormant' OR (known.stage, excluded.stage) IN (
        ('full', 'full'), ('full', 'indexed'), ('indexed', 'indexed')
    )
"""
"""As `ledger.SAVE`; the session's row is locked, so that no other writes its origin meanwhile."""
DECIDED, MEASURED, NEXT, CALL, CHANGE = map(
    translated, (DECIDE, MEASURE, CANDIDATE, WRITE_CALL, CHANGED)
)
SENT = """
    INSERT INTO sent (session, number, key, tokens)
    SELECT %s, %s + place - 1, key, weight
    FROM unnest(%s::text[], %s::bigint[]) WITH ORDINALITY AS given (key, weight, place)
"""
LOCK = "SELECT encoding FROM session WHERE number = %s FOR NO KEY UPDATE"
LINES = "SELECT number, lines FROM conversation WHERE session = %s AND number > %s ORDER BY number"
TWO_CALLS = f"{CALLS} WHERE session = %s AND turn < %s ORDER BY turn DESC LIMIT 2"
EVER = 1 << 62
QUERIES = {table: translated(sql) for table, sql in ROWS.items()} | {
    "session": "SELECT agent, changes, consolidated, context_load FROM session WHERE number = %s"
}
STARTING = ("session", "entry", "measure", "candidate", "sent")
"""What a run reads when it begins, and when another worker has changed the session."""


class PostgresSession(SessionRows):
    """The entries and commitments of one session: `storage.state.SessionStore`."""

    def __init__(  # noqa: PLR0913, PLR0917 - one parameter a resource
        self,
        connections: Connections,
        contents: PostgresContents,
        tenant: str,
        name: str,
        journal: Journal | None = None,
        busy_seconds: float | None = None,
    ) -> None:
        """Open a session, and make it where it does not exist.

        Raises:
            StoreError: the server does not answer in time.
        """
        self._connections = connections
        self._contents = contents
        self._tenant = tenant
        self._name = name
        self._journal = journal
        self._left_seconds = connections.patience_seconds
        self.busy_seconds = busy_seconds
        self._waiting: list[tuple[str, float, bytes]] = []
        """Payloads that the next commit writes with its rows."""
        self._is_closed = False
        self._fetched: dict[str, list[tuple[Any, ...]]] = {}
        """Rows that were read with others, until they are asked for."""
        named, stored = "SELECT number, mark FROM session WHERE name = %s", storable_name(name)
        _, [(self._number, self.mark)] = self._read(
            (OPEN, (stored, time.time(), database.new_mark())), (named, (stored,))
        )
        self._calls: list[ModelCall] = []
        """The last two calls, the last one first."""
        self._row = self._read_all()
        """The session's own row, as it was read last."""
        self._changes = self._seen_changes = self._row[1]

    @property
    def busy_seconds(self) -> float | None:
        """How long the calls of a turn wait for the server, all together; None is its own limit."""
        return self._left_seconds

    @busy_seconds.setter
    def busy_seconds(self, seconds: float | None) -> None:
        patience = self._connections.patience_seconds
        if seconds != 0:  # at 0, the turn has waited, and may use the rest
            self._left_seconds = patience if seconds is None else seconds

    # Reading

    def _read(self, *queries: Query) -> list[list[tuple[Any, ...]]]:
        started = time.monotonic()
        try:
            return self._connections.rows(self._tenant, self._left_seconds, *queries)
        finally:
            self._left_seconds -= time.monotonic() - started

    def _stored(self, table: str) -> list[tuple[Any, ...]]:
        """Return rows of the session; each read-ahead is used once."""
        if self._is_closed:
            raise StoreError("the session is closed; memory.session(id) opens it again")
        if table not in self._fetched:
            [self._fetched[table]] = self._read((QUERIES[table], (self._number,)))
        return self._fetched.pop(table)

    def _session(self) -> tuple[Any, ...]:
        found = self._stored("session")
        self._row = self._expected(found)
        return self._row

    def _expected(self, found: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """Return the one row of the session."""
        if not found:
            raise StoreError(f"session {self._name!r} was removed from {self._connections.name}")
        return found[0]

    def _read_all(self) -> tuple[Any, ...]:
        """Read what a run begins with, in one round trip; return the session's own row."""
        queries = [(QUERIES[table], (self._number,)) for table in STARTING]
        *found, calls = self._read(*queries, (TWO_CALLS, (self._number, EVER)))
        self._fetched = dict(zip(STARTING, found, strict=True))
        self._calls = [ModelCall(*row) for row in calls]
        row, self._fetched["session"] = self._session(), found[0]
        return row

    def has_changed(self) -> bool:
        """Return whether another worker has written since the last call of this method."""
        self._fetched = {}
        queries = ((QUERIES["session"], (self._number,)), (TWO_CALLS, (self._number, EVER)))
        self._fetched["session"], calls = self._read(*queries)
        self._calls = [ModelCall(*row) for row in calls]
        before, self._seen_changes = self._seen_changes, self._session()[1]
        if self._seen_changes != before:
            self._seen_changes = self._read_all()[1]
        return bool(self._seen_changes != before)

    def last_call(self, before_turn: int | None = None) -> ModelCall | None:
        """Return the request that was sent last, in any turn or before one."""
        bound = EVER if before_turn is None else before_turn
        for call in self._calls:
            if call.turn < bound:
                return call
        if len(self._calls) < 2:
            return None
        [rows] = self._read((TWO_CALLS, (self._number, bound)))
        return ModelCall(*rows[0]) if rows else None

    def agent(self, named: str = "") -> str:
        """Return the agent of the session, which is the first that is named.

        Raises:
            ValueError: it belongs to another agent; the session is closed then.
        """
        owner, wanted = self._row[0], storable_name(named)
        if wanted and not owner:
            query = "UPDATE session SET agent = %s WHERE number = %s AND agent = '' RETURNING agent"
            self._read((query, (wanted, self._number)))
            self._fetched.pop("session", None)
            owner = self._session()[0]
        if wanted and owner != wanted:
            self.close()
            raise ValueError(
                f"session {self._name!r} belongs to the agent {owner!r}; name another session"
            )
        return str(owner)

    def pending(self) -> int:
        """Return the number of the last change where it is not consolidated yet, else 0."""
        _, changes, consolidated, *_ = self._session()
        return int(changes) if changes > consolidated else 0

    def consolidated(self, change: int) -> None:
        """Record that everything up to a change is consolidated."""
        query = "UPDATE session SET consolidated = greatest(consolidated, %s) WHERE number = %s"
        self._read((query, (change, self._number)))

    def is_shared(self) -> bool:
        """Return whether another worker has changed the session since it was opened here."""
        return bool(self._session()[1] != self._changes)

    def is_archived(self) -> bool:
        """Return whether the raw conversation of the session is stored."""
        query = "SELECT EXISTS (SELECT FROM conversation WHERE session = %s)"
        return bool(self._read((query, (self._number,)))[0][0][0])

    def context_load(self) -> str | None:
        """Return the text in front of the first message; None where it is not settled."""
        return None if self._row[3] is None else self._row[3].decode()

    # Writing

    def is_lost(self, store: ContentStore, key: str) -> bool:
        """Return whether a payload is gone; those that are written with their rows never are."""
        return store is not self._contents and bool(damage(store, key))

    def put(self, store: ContentStore, content: bytes, parts: Iterable[str] = ()) -> None:  # noqa: ARG002 - those of a disk
        """Store a payload; that of the same server is written by the next commit."""
        if store is self._contents:
            self._waiting.append(self._contents.row_of(content))
        else:
            store.put(content)

    def commit(self, turn: TurnRows) -> None:
        """Write all that a turn brought, payloads too, in one transaction; as `Ledger.commit`.

        Raises:
            StoreError: the server does not answer in time, or refuses; then nothing was written.
        """
        number, call, records = self._number, turn.call, turn.records
        first, keys, weights, encoding = turn.sent
        fields = functools.partial(call_fields, call, turn.decisions, records)
        with self._change(turn.raw, fields) as (db, before):
            cursor = db.cursor()
            _save(cursor, number, records)
            named = {"session": number, "turn": call.turn}
            _each(cursor, DECIDED, [
                named | asdict(decision) | {"reason": decision.reason.encode()}
                for decision in turn.decisions
            ])  # fmt: skip
            _each(cursor, MEASURED, [(number, *row) for row in turn.measures])
            if records:
                gone = "DELETE FROM candidate WHERE session = %s AND id = ANY(%s)"
                db.execute(gone, (number, [record.entry.id for record in records]))
            rows = map(candidate_row, turn.candidates)
            _each(cursor, NEXT, [(number, *row, note.encode()) for *row, note in rows])
            db.execute("DELETE FROM call WHERE session = %s AND turn > %s", (number, call.turn))
            db.execute(CALL, (number, *astuple(call)))
            if encoding != before:
                db.execute("UPDATE sent SET tokens = 0 WHERE session = %s", (number,))
                db.execute("UPDATE session SET encoding = %s WHERE number = %s", (encoding, number))
            db.execute("DELETE FROM sent WHERE session = %s AND number >= %s", (number, first))
            if keys:
                db.execute(SENT, (number, first, list(keys), list(weights)))

    def save(self, *records: Record, raw: RawList | None = None) -> None:
        """Write entries again, after an access; `raw` is the list as it ended, for the journal."""
        with self._change(raw, dict) as (db, _):
            _save(db.cursor(), self._number, records)

    def go_on_from(self, turn: int) -> None:
        """Let the sums of all calls stand before a turn: the list has fewer turns than were paid for."""
        last = "SELECT max(turn) FROM call WHERE session = %s"
        with self._change(None, dict) as (db, _):
            [(newest,)] = db.execute(last, (self._number,)).fetchall()
            query = "DELETE FROM call WHERE session = %s AND turn BETWEEN %s AND %s"
            db.execute(query, (self._number, turn - 1, newest - 1))
            query = "UPDATE call SET turn = %s WHERE session = %s AND turn = %s"
            db.execute(query, (turn - 1, self._number, newest))

    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str:
        """Settle the text in front of the first message, with its entries; the first one holds."""
        settle = """
            UPDATE session SET context_load = %s, context_load_tokens = %s
            WHERE number = %s AND context_load IS NULL RETURNING number
        """
        values = (storable(text).encode(), tokens, self._number)
        with self._transaction() as db:
            if db.execute(settle, values).fetchall():
                _save(db.cursor(), self._number, records)
        self._fetched.clear()
        self._session()
        return self.context_load() or ""

    def pack(self, min_bytes: int = 0) -> None:
        """Do nothing: each row of the conversation is packed when it is written."""

    def rest(self) -> None:
        """Do nothing: a session holds no connection between its calls."""

    def close(self) -> None:
        """Use the session no more."""
        self._is_closed = True

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        if self._is_closed:
            raise StoreError("the session is closed; memory.session(id) opens it again")
        started = time.monotonic()
        try:
            with self._connections.transaction(self._tenant, self._left_seconds) as db:
                yield db
        finally:
            self._left_seconds -= time.monotonic() - started

    @contextlib.contextmanager
    def _change(
        self, raw: RawList | None, fields: Callable[[], dict[str, Any]]
    ) -> Iterator[tuple[psycopg.Connection[tuple[Any, ...]], str]]:
        """Write a change of the session, which other workers take up: two round trips.

        The session's row is locked by the first, which reads what others have added to the journal, and
        yields the vocabulary that counted `sent`.
        """
        number, journal, appended = self._number, self._journal if raw else None, None
        payloads, self._waiting = self._waiting, []
        try:
            with self._transaction() as db:
                locked = db.execute(LOCK, (number,))
                known = journal.last if journal else EVER
                others = db.execute(LINES, (number, known))
                (encoding,) = self._expected(locked.fetchall())
                yield db, encoding
                self._contents.write(db.cursor(), payloads)
                if journal and raw:
                    rows = [(place, readable(lines)) for place, lines in others.fetchall()]
                    packed = packing.packed(journal.lines(lambda _: rows, raw, fields()), LEVEL)
                    append = (
                        "INSERT INTO conversation (session, lines) VALUES (%s, %s) RETURNING number"
                    )
                    appended = db.execute(append, (number, packed))
                db.execute(CHANGE, (time.time(), number))
                calls = db.execute(TWO_CALLS, (number, EVER))
        except BaseException:
            if self._journal:
                self._journal.forget()
            raise
        if journal and appended:
            [(journal.last,)] = appended.fetchall()
        self._calls = [ModelCall(*row) for row in calls]
        self._fetched.clear()
        self._changes += 1
        self._seen_changes += 1


def _each(cursor: psycopg.Cursor[Any], query: str, rows: Sequence[Any]) -> None:
    """Run a statement for each row, without waiting for it."""
    if rows:
        cursor.executemany(query, rows)


def _save(cursor: psycopg.Cursor[Any], session: int, records: Iterable[Record]) -> None:
    rows = []
    for record in records:
        id_, origin, content, form, kind, tool, arguments, tokens, stage, *packed = row_of(record)
        written = str(origin).encode()
        rows.append((
            session, id_, written, content, form, kind, str(tool).encode(), str(arguments).encode(),
            tokens, str(stage), *packed, session, written, id_,
        ))  # fmt: skip
    _each(cursor, SAVE, rows)


def storable_name(name: str) -> str:
    """Return a name as text holds it: a NUL is written out too."""
    return storable(name).replace("\0", "\\x00")
