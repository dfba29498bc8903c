"""The entries of a session on disk, and each change of its view with its turn and its reason.

One SQLite file for each session, so that sessions never wait for each other. The only
module that reads or writes these tables; nothing is decided here.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Entry, Record, Stage, storable
from hippocampus.entries.origin import ADOPTED, STATE, parsed
from hippocampus.errors import StoreError
from hippocampus.storage import entry_index
from hippocampus.storage.migrations import Migration, Schema, applied, migrate
from hippocampus.storage.packing import packed_text, text_of
from hippocampus.storage.sqlite import connected, reading, transaction, written_at_ns
from hippocampus.storage.state_dir import StateDir

SCHEMA = Schema(
    "ledger",
    (
        Migration(
            "entries",
            """
            CREATE TABLE session (name TEXT PRIMARY KEY) STRICT;
            CREATE TABLE entry (
                id TEXT PRIMARY KEY,
                place TEXT NOT NULL UNIQUE,
                content TEXT NOT NULL,
                form TEXT NOT NULL,
                kind TEXT NOT NULL,
                tool TEXT NOT NULL,
                arguments TEXT NOT NULL,
                tokens INTEGER NOT NULL,
                stage TEXT NOT NULL,
                shown TEXT NOT NULL,
                entry TEXT NOT NULL
            ) STRICT;
            CREATE TABLE decision (
                number INTEGER PRIMARY KEY,
                entry_id TEXT NOT NULL REFERENCES entry(id),
                turn INTEGER NOT NULL,
                stage TEXT NOT NULL,
                reason TEXT NOT NULL,
                saves INTEGER NOT NULL,
                costs REAL NOT NULL
            ) STRICT;
            CREATE TABLE call (
                turn INTEGER PRIMARY KEY,
                messages INTEGER NOT NULL,
                raw_tokens INTEGER NOT NULL,
                sent_tokens INTEGER NOT NULL
            ) STRICT
            """,
        ),
        Migration(
            "costs",
            """
            ALTER TABLE call ADD COLUMN raw_cost REAL NOT NULL DEFAULT 0;
            ALTER TABLE call ADD COLUMN sent_cost REAL NOT NULL DEFAULT 0
            """,
        ),
        Migration(
            "consolidation",
            """
            ALTER TABLE session ADD COLUMN agent TEXT NOT NULL DEFAULT '';
            ALTER TABLE session ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
            ALTER TABLE session ADD COLUMN consolidated INTEGER NOT NULL DEFAULT 0;
            CREATE TABLE kept (
                key TEXT PRIMARY KEY,
                text TEXT NOT NULL,
                kind TEXT NOT NULL,
                origin TEXT NOT NULL,
                turn INTEGER NOT NULL,
                entry_id TEXT,
                word_by_word INTEGER NOT NULL,
                fact_id TEXT NOT NULL,
                outcome TEXT NOT NULL
            ) STRICT;
            CREATE TABLE opening (
                text TEXT NOT NULL,
                tokens INTEGER NOT NULL
            ) STRICT
            """,
        ),
        Migration(
            "reactivation",
            """
            CREATE TABLE reactivation (
                message INTEGER NOT NULL,
                key TEXT NOT NULL,
                entry_id TEXT NOT NULL REFERENCES entry(id),
                turn INTEGER NOT NULL,
                shown TEXT NOT NULL
            ) STRICT
            """,
        ),
        Migration("decision_index", "CREATE INDEX decision_of_entry ON decision (entry_id, stage)"),
        Migration("edit_cost", "ALTER TABLE call ADD COLUMN edit_cost REAL NOT NULL DEFAULT 0"),
        Migration(
            "sent", "CREATE TABLE sent (number INTEGER PRIMARY KEY, key TEXT NOT NULL) STRICT"
        ),
        Migration(
            "measures",
            """
            CREATE TABLE measure (
                digest BLOB PRIMARY KEY,
                encoding TEXT NOT NULL,
                tokens INTEGER NOT NULL,
                kind TEXT NOT NULL
            ) STRICT, WITHOUT ROWID
            """,
        ),
        Migration("marks", "ALTER TABLE call ADD COLUMN marks TEXT NOT NULL DEFAULT ''"),
        Migration(
            "packed",
            """
            CREATE TABLE packed_entry (
                id TEXT PRIMARY KEY,
                place TEXT NOT NULL UNIQUE,
                content TEXT NOT NULL,
                form TEXT NOT NULL,
                kind TEXT NOT NULL,
                tool TEXT NOT NULL,
                arguments TEXT NOT NULL,
                tokens INTEGER NOT NULL,
                stage TEXT NOT NULL,
                shown BLOB NOT NULL,
                entry BLOB NOT NULL
            ) STRICT;
            INSERT INTO packed_entry
                SELECT id, place, content, form, kind, tool, arguments, tokens, stage,
                    packed_text(shown, id || tool), packed_text(entry, id || tool || content)
                FROM entry ORDER BY rowid;
            DROP TABLE entry;
            ALTER TABLE packed_entry RENAME TO entry
            """,
        ),
        Migration(
            "weights",
            """
            ALTER TABLE session ADD COLUMN encoding TEXT NOT NULL DEFAULT '';
            ALTER TABLE sent ADD COLUMN tokens INTEGER NOT NULL DEFAULT 0
            """,
        ),
    ),
)
PAGE_BYTES = 1_024
"""Each table has a page at least, and there is a file for each session."""
SAVE = """
    INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET stage = excluded.stage, entry = excluded.entry,
        shown = CASE stage WHEN excluded.stage THEN shown ELSE excluded.shown END
    WHERE excluded.stage = 'dormant' OR (stage, excluded.stage) IN (
        VALUES ('full', 'full'), ('full', 'indexed'), ('indexed', 'indexed')
    )
    ON CONFLICT (place) DO NOTHING
"""
"""An entry keeps its row, and so its rank by age; its payload never changes.

No stage goes back, and the text of a stage is frozen: a process that has not read the commits of
another overwrites none of them.
"""
DECIDE = """
    INSERT INTO decision (turn, entry_id, stage, reason, saves, costs)
    SELECT :turn, :entry_id, :stage, :reason, :saves, :costs
    WHERE NOT EXISTS (
        SELECT 1 FROM decision
        WHERE entry_id = :entry_id AND stage = :stage
            AND (:saves >= 0 OR (turn = :turn AND saves = :saves))
    )
"""
"""A stage is committed once: of two processes in one session, the decision of the first is written.

A reactivation, whose saving is negative, may be repeated in many turns.
"""

WRITE_CALL = """
    INSERT INTO call VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (turn) DO UPDATE SET messages = excluded.messages,
        raw_tokens = excluded.raw_tokens, sent_tokens = excluded.sent_tokens,
        raw_cost = max(raw_cost, excluded.raw_cost), sent_cost = max(sent_cost, excluded.sent_cost),
        edit_cost = max(edit_cost, excluded.edit_cost), marks = excluded.marks
"""
"""A second call in a turn finds in the cache what the first one paid for."""
ENTRIES = """
    SELECT id, place, content, form, kind, tool, arguments, tokens, stage, shown, entry FROM entry
"""
NEWEST_AWAY = f"""
    {ENTRIES} WHERE stage != 'full' AND place NOT LIKE '{ADOPTED}:%'
    ORDER BY rowid DESC LIMIT 40
"""
NEWEST_STATES = f"""
    {ENTRIES} WHERE place LIKE '{STATE}:%' ORDER BY rowid DESC LIMIT 10
"""
CHANGED = "UPDATE session SET changes = changes + 1"
CHANGES = "SELECT changes FROM session"


class StoredSession(NamedTuple):
    """A session as its ledger has it on disk."""

    ledger: Path
    name: str
    active_at: float
    """When the ledger was last written, in seconds since 1970."""
    turn: int
    records: tuple[Record, ...]
    damaged: tuple[str, ...]
    """The ids of entries that cannot be read."""


class SessionExcerpt(NamedTuple):
    """A session seen from another one: the entries that last left its view, and its last states."""

    session: str
    records: list[Record]


@dataclass(frozen=True, slots=True)
class OutboxItem:
    """One statement that a consolidation stores as a fact, and the outcome."""

    key: str
    text: str
    kind: str
    origin: str
    turn: int
    entry_id: str | None
    word_by_word: int
    """1 is stored verbatim, 0 as a claim that may supersede others."""
    fact_id: str = ""
    outcome: str = ""
    """What the fact store did; empty until then."""


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


class Reactivation(NamedTuple):
    """An entry that is rendered again behind a message, and stays there."""

    message: int
    """The number of the message."""
    key: str
    """A hash of the message; where it differs, the entry is not rendered."""
    entry_id: str
    turn: int
    shown: str


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


class Ledger:
    """The entries and commitments of one session."""

    def __init__(self, state: StateDir, session: str) -> None:
        self._path = state.ledger(session)
        self._session = session
        with _as_store_error(self._path):
            opened = connected(self._path, page_bytes=PAGE_BYTES)
            self._connection: sqlite3.Connection | None = opened
            try:
                migrate(self._db, str(self._path), SCHEMA)
                self._db.execute(
                    "INSERT OR IGNORE INTO session (name) VALUES (?)", (storable(session),)
                )
                self._changes = self._seen_changes = self._counted()
            except BaseException:
                self._db.close()
                raise

    @property
    def _db(self) -> sqlite3.Connection:
        """The open file; one that rests is opened again, and has to be there."""
        if self._connection is None:
            self._path.stat()  # SQLite would make an empty file in place of one that was removed
            self._connection = connected(self._path, page_bytes=PAGE_BYTES)
        return self._connection

    def rest(self) -> None:
        """Close the file until it is used again."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def records(self) -> list[Record]:
        """Return every entry of the session, oldest first."""
        with _as_store_error(self._path):
            rows = self._db.execute(f"{ENTRIES} ORDER BY rowid").fetchall()
        return [_record(row) for row in rows]

    def has_changed(self) -> bool:
        """Return whether another process has written entries since the last call of this method."""
        with _as_store_error(self._path):
            (changes,) = self._db.execute(CHANGES).fetchone()
        before, self._seen_changes = self._seen_changes, changes
        return bool(changes != before)

    def measures(self) -> list[Measure]:
        """Return the measures of the session's long texts."""
        with _as_store_error(self._path):
            rows = self._db.execute("SELECT digest, encoding, tokens, kind FROM measure").fetchall()
        return [Measure(*row) for row in rows]

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every decision with its turn, in the order of commitment."""
        with _as_store_error(self._path):
            rows = self._db.execute(
                "SELECT turn, entry_id, stage, reason, saves, costs FROM decision ORDER BY number"
            ).fetchall()
        return [
            (turn, Decision(entry_id, Stage(stage), reason, saves, costs))
            for turn, entry_id, stage, reason, saves, costs in rows
        ]

    def last_call(self, before_turn: int | None = None) -> ModelCall | None:
        """Return the request that was sent last, in any turn or before one."""
        bound = before_turn if before_turn is not None else 1 << 62
        sql = "SELECT * FROM call WHERE turn < ? ORDER BY turn DESC LIMIT 1"
        with _as_store_error(self._path):
            row = self._db.execute(sql, (bound,)).fetchone()
        return ModelCall(*row) if row else None

    def go_on_from(self, turn: int) -> None:
        """Let the sums of all calls stand before a turn: the list has fewer turns than were paid for."""
        with _as_store_error(self._path), self._transaction():
            last = "SELECT max(turn) FROM call"
            self._db.execute(f"UPDATE call SET turn = -2 WHERE turn = ({last})")  # noqa: S608 - a constant
            self._db.execute("DELETE FROM call WHERE turn >= ?", (turn - 1,))
            self._db.execute("UPDATE call SET turn = ? WHERE turn = -2", (turn - 1,))

    def sent(self, encoding: str) -> SentMessages:
        """Return the messages of the request that was sent last; their tokens by this encoding."""
        sql = "SELECT key, iif(encoding = ?, tokens, 0) FROM sent, session ORDER BY number"
        with _as_store_error(self._path):
            rows = self._db.execute(sql, (encoding,)).fetchall()
        return SentMessages(0, [key for key, _ in rows], [each for _, each in rows], encoding)

    def reactivations(self) -> list[Reactivation]:
        """Return the reactivations, in the order of commitment."""
        with _as_store_error(self._path):
            rows = self._db.execute("SELECT * FROM reactivation ORDER BY rowid").fetchall()
        return [Reactivation(*row) for row in rows]

    def commit(  # noqa: PLR0913, PLR0917 - each is one table
        self,
        records: Iterable[Record],
        decisions: Iterable[Decision],
        call: ModelCall,
        again: Iterable[Reactivation] = (),
        sent: SentMessages = NOTHING_SENT,
        measures: Iterable[Measure] = (),
    ) -> None:
        """Write entries, decisions, reactivations, measures and the call in one transaction.

        `sent` are the messages of the call from a number on: those before are in the ledger already,
        and those after are removed. So are calls of later turns, which belong to a
        list that its owner has cut since.

        Raises:
            StoreError: the file is locked, full, damaged or gone; then nothing was written.

        """
        with _as_store_error(self._path), self._transaction():
            self._db.executemany(SAVE, [_row(record) for record in records])
            self._db.executemany(
                DECIDE,
                [
                    {
                        "turn": call.turn,
                        "entry_id": d.entry_id,
                        "stage": d.stage,
                        "reason": d.reason,
                        "saves": d.saves,
                        "costs": d.costs,
                    }
                    for d in decisions
                ],
            )
            self._db.executemany("INSERT INTO reactivation VALUES (?, ?, ?, ?, ?)", again)
            self._db.executemany("INSERT OR REPLACE INTO measure VALUES (?, ?, ?, ?)", measures)
            self._db.execute("DELETE FROM call WHERE turn > ?", (call.turn,))
            self._db.execute(WRITE_CALL, astuple(call))
            self._save_sent(sent)
            self._db.execute(CHANGED)
        self._changes += 1
        self._seen_changes += 1

    def _save_sent(self, sent: SentMessages) -> None:
        first, keys, weights, encoding = sent
        other = "UPDATE session SET encoding = :new WHERE encoding != :new"
        if self._db.execute(other, {"new": encoding}).rowcount:
            self._db.execute("UPDATE sent SET tokens = 0")
        self._db.execute("DELETE FROM sent WHERE number >= ?", (first,))
        rows = zip(itertools.count(first), keys, weights, strict=False)
        self._db.executemany("INSERT INTO sent VALUES (?, ?, ?)", rows)

    def save(self, *records: Record) -> None:
        """Write entries again, after an access."""
        with _as_store_error(self._path), self._transaction():
            self._db.executemany(SAVE, [_row(record) for record in records])
            self._db.execute(CHANGED)
        self._changes += 1
        self._seen_changes += 1

    # What outlives the session

    def agent(self, named: str = "") -> str:
        """Return the agent of the session, which is the first that is named.

        Raises:
            ValueError: it belongs to another agent; the ledger is closed then.

        """
        with _as_store_error(self._path):
            if named:
                with self._transaction():
                    self._db.execute(
                        "UPDATE session SET agent = ? WHERE agent = ''", (storable(named),)
                    )
            owner = str(self._db.execute("SELECT agent FROM session").fetchone()[0])
        if named and owner != storable(named):
            self.close()
            raise ValueError(
                f"session {self._session!r} belongs to the agent {owner!r}; name another session"
            )
        return owner

    def pending(self) -> int:
        """Return the number of the last change where it is not consolidated yet, else 0."""
        with _as_store_error(self._path):
            changes, consolidated = self._db.execute(
                "SELECT changes, consolidated FROM session"
            ).fetchone()
        return int(changes) if changes > consolidated else 0

    def is_shared(self) -> bool:
        """Return whether another process has changed the session since this ledger was opened."""
        with _as_store_error(self._path):
            return self._counted() != self._changes

    def _counted(self) -> int:
        return int(self._db.execute("SELECT changes FROM session").fetchone()[0])

    def consolidated(self, change: int) -> None:
        """Record that everything up to a change is in the fact store."""
        with _as_store_error(self._path), self._transaction():
            self._db.execute("UPDATE session SET consolidated = max(consolidated, ?)", (change,))

    def outbox(self) -> dict[str, OutboxItem]:
        """Return the items of the outbox by key, in the order in which they were found."""
        with _as_store_error(self._path):
            rows = self._db.execute("SELECT * FROM kept ORDER BY rowid").fetchall()
        return {row[0]: OutboxItem(*row) for row in rows}

    def save_outbox(self, items: Iterable[OutboxItem]) -> None:
        """Write items; of an existing one, its text, fact and outcome."""
        with _as_store_error(self._path), self._transaction():
            self._db.executemany(
                "INSERT INTO kept VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " text = excluded.text, fact_id = excluded.fact_id, outcome = excluded.outcome",
                [astuple(each) for each in items],
            )

    def context_load(self) -> str | None:
        """Return the text in front of the first message; None where it is not settled."""
        with _as_store_error(self._path):
            row = self._db.execute("SELECT text FROM opening").fetchone()
        return row[0] if row else None

    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str:
        """Settle the text in front of the first message, with its entries; the first one holds."""
        with _as_store_error(self._path), self._transaction():
            row = self._db.execute("SELECT text FROM opening").fetchone()
            if row is None:
                self._db.execute("INSERT INTO opening VALUES (?, ?)", (storable(text), tokens))
                self._db.executemany(SAVE, [_row(record) for record in records])
            return row[0] if row else text

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        with _as_store_error(self._path):
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
            orphans = self._db.execute(
                "SELECT entry_id FROM decision WHERE entry_id NOT IN (SELECT id FROM entry)"
            ).fetchall()
        problems = [f"{self._path}: {text}" for text in found if text != "ok"]
        return problems + [f"{self._path}: decision on unknown entry {row[0]}" for row in orphans]

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._path.stat()  # SQLite would go on writing into a file that was removed
        with transaction(self._db):
            yield


def owner_of(state: StateDir, entry_id: str) -> str | None:
    """Return the name of the session that has an entry of that id."""
    found = entry_of(state, entry_id)
    return found[0] if found else None


def entry_of(state: StateDir, entry_id: str) -> tuple[str, Record] | None:
    """Return the session that has an entry of that id, and the entry."""
    entry_id = storable(entry_id)
    try:
        paths = entry_index.ledgers_with(state, entry_id, _ids)
    except StoreError:  # an index that cannot be used only saves time
        paths = state.ledgers()
    for path in paths:
        with contextlib.suppress(StoreError), _reading(path) as db:
            row = db.execute(f"{ENTRIES} WHERE id = ?", (entry_id,)).fetchone()
            if row:
                return _name(db), _record(row)
    return None


def _ids(path: Path) -> list[str]:
    with _as_store_error(path), reading(path) as db:
        return [entry_id for (entry_id,) in db.execute("SELECT id FROM entry")]


def earlier(state: StateDir, session: str, agent: str, sessions: int) -> Iterator[SessionExcerpt]:
    """Yield the other sessions of an agent, the one that was written last first."""
    paths = [path for path in state.ledgers() if path != state.ledger(session)]
    left = sessions
    for path in sorted(paths, key=lambda path: (written_at_ns(path), path.name), reverse=True):
        with contextlib.suppress(StoreError), _reading(path) as db:
            if left and db.execute("SELECT agent FROM session").fetchone() == (agent,):
                left -= 1
                rows = db.execute(NEWEST_AWAY).fetchall() + db.execute(NEWEST_STATES).fetchall()
                yield SessionExcerpt(_name(db), [_record(row) for row in rows])


def unconsolidated(state: StateDir) -> list[str]:
    """Return the names of the sessions that changed since their consolidation."""
    found = []
    for path in state.ledgers():
        with contextlib.suppress(StoreError), _reading(path) as db:
            found += db.execute("SELECT name FROM session WHERE changes > consolidated").fetchall()
    return [name for (name,) in found]


def stored_sessions(state: StateDir) -> Iterator[StoredSession]:
    """Yield every session of a state directory.

    Raises:
        StoreError: a ledger cannot be read, or an entry of it is damaged.

    """
    for path in state.ledgers():
        found = stored_session(path)
        if found.damaged:
            raise StoreError(f"ledger {path}: entry {found.damaged[0]} is damaged")
        yield found


def stored_session(path: Path) -> StoredSession:
    """Return a session as its ledger has it; no process waits for it.

    Raises:
        StoreError: the ledger cannot be read.

    """
    records, damaged = [], []
    with _reading(path) as db:
        active_at = written_at_ns(path) / 1e9
        if not applied(db, str(path), SCHEMA):  # another process is about to write its tables
            return StoredSession(path, "", active_at, 0, (), ())
        (name,) = db.execute("SELECT name FROM session").fetchone() or ("",)
        (turn,) = db.execute("SELECT max(turn) FROM call").fetchone()
        for row in db.execute(f"{ENTRIES} ORDER BY rowid"):
            try:
                records.append(_record(row))
            except StoreError:
                damaged.append(row[0])
    return StoredSession(path, name, active_at, turn or 0, tuple(records), tuple(damaged))


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[sqlite3.Connection]:
    with _as_store_error(path), reading(path) as db:
        applied(db, str(path), SCHEMA)
        yield db


def _name(db: sqlite3.Connection) -> str:
    return str(db.execute("SELECT name FROM session").fetchone()[0])


def _row(record: Record) -> tuple[str | int | bytes, ...]:
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
    )


def _record(row: tuple[str, str, str, str, str, str, str, int, str, bytes, bytes]) -> Record:
    entry_id, place, content, form, kind, tool, arguments, tokens, stage, shown, entry = row
    near = entry_id + tool
    try:
        return Record(
            Entry.parsed(json.loads(text_of(entry, near + content))),
            parsed(place),
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
        raise StoreError(f"entry {entry_id} of a ledger is damaged: {failure}") from failure


@contextlib.contextmanager
def _as_store_error(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as failure:
        if isinstance(failure, sqlite3.ProgrammingError) and "closed" in str(failure):
            raise StoreError(
                "the session is closed; memory.session(id) opens it again"
            ) from failure
        raise StoreError(f"ledger {path}: {failure}") from failure
