"""What the rooms above ask of a state: its sessions, its payloads, its facts, and its database.

A path is a directory with SQLite and diskcache, an address a PostgreSQL server. Failures are
`StoreError`; nothing is decided here.
"""

from __future__ import annotations

import abc
import contextlib
import importlib
import os
import pkgutil
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from hippocampus.entries.entry import Record, storable
from hippocampus.entries.origin import ADOPTED, STATE
from hippocampus.errors import StoreError
from hippocampus.storage import archive, ledger
from hippocampus.storage.archive import Journal
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.database import Database, ReadOnly, Row, SqliteDatabase
from hippocampus.storage.deadline import bounded
from hippocampus.storage.engines import ENGINES, is_address
from hippocampus.storage.facts.rows import TextRules
from hippocampus.storage.ledger import Ledger, record_of
from hippocampus.storage.state_dir import StateDir

STORE = "HIPPOCAMPUS_STORE"
"""Names what makes the store of a state directory: `package.module:function`, called with its path."""

CALLER_KEY = "caller_key"
OWNER = f"""
    SELECT name, {ledger.ENTRY} FROM entry JOIN session ON session.number = entry.session
    WHERE id = ? ORDER BY entry.number LIMIT 1
"""
EARLIER = """
    SELECT number, name FROM session WHERE agent = ? AND name != ?
    ORDER BY active_at DESC, number DESC LIMIT ?
"""
NEWEST_AWAY = f"""
    {ledger.ENTRIES} AND stage != 'full' AND substr(origin, 1, {len(ADOPTED) + 1}) != ?
    ORDER BY number DESC LIMIT 40
"""
NEWEST_STATES = (
    f"{ledger.ENTRIES} AND substr(origin, 1, {len(STATE) + 1}) = ? ORDER BY number DESC LIMIT 10"
)
CLAIM = """
    UPDATE session SET claimed_until = ? WHERE number = (
        SELECT number FROM session
        WHERE changes > consolidated AND active_at <= ? AND claimed_until <= ?
        ORDER BY active_at LIMIT 1 /* FOR UPDATE SKIP LOCKED */
    ) RETURNING name
"""


class SessionExcerpt(NamedTuple):
    """A session seen from another one: the entries that last left its view, and its last states."""

    session: str
    records: list[Record]


class PayloadRows(ContentStore, Protocol):
    """A table of the state's database that is its content store."""

    def rows_of(self, contents: Iterable[bytes]) -> list[Row]:
        """Return the rows of payloads, before the transaction that writes them."""

    def write(self, db: Database, rows: Sequence[Row]) -> None:
        """Write rows in the open transaction."""


class StateStore(abc.ABC):
    """The sessions, payloads and facts of one memory, in one database."""

    layout: StateDir | None
    """The directory of the memory files, if the state has one."""

    @abc.abstractmethod
    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the content store of the state, for a `with` block."""

    def payload_rows(self) -> PayloadRows | None:
        """Return the content store that is a table, whose rows a commit writes with its own."""
        return None

    @abc.abstractmethod
    def open(self, seconds: float) -> None:
        """Try what the sessions share; files that other processes hold are waited for `seconds` at most."""

    @abc.abstractmethod
    def database(self, text: TextRules | None = None) -> Database:
        """Return the database, made where it is missing; that of facts has their rules, and its user closes it."""

    @abc.abstractmethod
    def reading(self) -> contextlib.AbstractContextManager[Database]:
        """Open the database for reading; a missing one is empty, and is not made."""

    def session(self, name: str, journal: Journal | None = None) -> Ledger:
        """Open a session, and make it where it does not exist."""
        return Ledger(self, name, journal)

    @abc.abstractmethod
    def caller_key(self) -> bytes:
        """Return the key by which a proxy hashes the names of callers."""

    def of_tenant(self, tenant: str) -> StateStore:  # noqa: ARG002 - a directory has one
        """Return the state of a tenant, which shares the connections of this one."""
        return self

    def wait_longer(self) -> None:  # noqa: B027 - files have no limit for a statement
        """Let a statement that reads a whole state take its time, where no limit is set."""

    def close(self) -> None:  # noqa: B027 - a directory has nothing to close
        """Close what all sessions share."""

    # Over all sessions

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry."""
        with self.reading() as db:
            rows = db.rows(OWNER, (storable(entry_id),))
        return (rows[0][0], record_of(rows[0][1:])) if rows else None

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first."""
        newest = ((NEWEST_AWAY, f"{ADOPTED}:".encode()), (NEWEST_STATES, f"{STATE}:".encode()))
        with self.reading() as db:
            found = db.rows(EARLIER, (storable(agent), storable(session), sessions))
            queries = [(query, (n, kind)) for n, _ in found for query, kind in newest]
            rows = iter(db.together(*queries))
        return [
            SessionExcerpt(name, [record_of(row) for row in (*next(rows), *next(rows))])
            for _, name in found
        ]

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule."""
        with self.reading() as db:
            rows = db.rows("SELECT removed, rule FROM tombstone WHERE content = ?", (key,))
        return (rows[0][0], rows[0][1]) if rows else None

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation."""
        query = "SELECT name FROM session WHERE changes > consolidated ORDER BY number"
        with self.reading() as db:
            return [name for (name,) in db.rows(query)]

    def claimed(self, idle_seconds: float, seconds: float) -> str | None:
        """Return a session that is due for its consolidation, which no other worker gets for some time.

        Due is one that changed since its last consolidation, and not for `idle_seconds`. A worker that
        dies loses nothing: after `seconds` another one claims the session.
        """
        now = time.time()
        name: str | None = self.database().value(CLAIM, (now + seconds, now - idle_seconds, now))
        return name

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""
        with self.reading() as db:
            return archive.exported(db, session)

    def agent_of(self, session: str) -> str | None:
        """Return the agent of a session; None where there is no such session."""
        with self.reading() as db:
            rows = db.rows("SELECT agent FROM session WHERE name = ?", (storable(session),))
        return str(rows[0][0]) if rows else None

    def has_facts(self) -> bool:
        """Return whether there are facts, memories or blocks."""
        with self.reading() as db:
            return bool(
                db.value("SELECT EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM block)")
            )


class DirectoryState(StateStore):
    """A state directory: SQLite for rows, diskcache for payloads."""

    layout: StateDir

    def __init__(self, layout: StateDir) -> None:
        """Name the directory; nothing is opened yet."""
        self.layout = layout
        self._contents: ContentStore | None = None
        self._opening = threading.Lock()
        self._database: SqliteDatabase | None = None

    @contextlib.contextmanager
    def contents(self) -> Iterator[ContentStore]:
        """Open the store on the disk, or the one that `STORE` names."""
        named = os.environ.get(STORE, "")
        try:
            make = pkgutil.resolve_name(named) if named else None
            store = make(self.layout.root) if make else DiskStore(self.layout.contents)
            if not isinstance(store, ContentStore):
                raise TypeError(f"{store!r} has not the methods of a store")  # noqa: TRY301 - one sentence for all
        except Exception as failure:
            text = f"{STORE}={named!r}: expected package.module:function, called with a path"
            raise StoreError(f"{text}; {failure}") from failure
        self._contents = store
        try:
            yield store
        finally:
            getattr(store, "close", lambda: None)()

    def open(self, seconds: float) -> None:
        if isinstance(self._contents, DiskStore):
            with bounded(seconds):
                self._contents.open()

    def database(self, text: TextRules | None = None) -> SqliteDatabase:
        if text:
            return SqliteDatabase(self.layout.database, text)
        # Without the lock: in a forked process a thread of its parent may hold it for ever.
        found = self._database
        if found and found.is_current():
            return found
        with self._opening:
            if self._database is None or not self._database.is_current():
                self._database = SqliteDatabase(self.layout.database)
            return self._database

    def reading(self) -> contextlib.closing[ReadOnly]:
        return contextlib.closing(ReadOnly(self.layout.database))

    def caller_key(self) -> bytes:
        db = self.database()
        if (found := db.meta(CALLER_KEY)) is None:
            with db.transaction():
                if (found := db.meta(CALLER_KEY)) is None:
                    db.set_meta(CALLER_KEY, found := os.urandom(32).hex())
        return bytes.fromhex(found)

    def close(self) -> None:
        """Close the file; another memory over the same state opens it again."""
        if self._database:
            self._database.rest()


def state_of(named: str | Path, tenant: str = "", payloads: str = "") -> StateStore:
    """Return the state of a path, or of the address of a server and a tenant of it.

    `payloads` is the address of object storage for the large ones, else HIPPOCAMPUS_PAYLOADS is.

    Raises:
        StoreError: an address cannot be read, there is no tenant, or a driver is not installed.
    """
    if not is_address(named):
        if payloads:
            raise StoreError("a directory has its payloads itself: payloads= is of a server")
        return DirectoryState(StateDir(Path(named)))
    bucket = payloads or os.environ.get("HIPPOCAMPUS_PAYLOADS", "")
    state: StateStore = _engine_of(str(named)).state_at(str(named), tenant, bucket)
    return state


def due_states(address: str, idle_seconds: float) -> Iterator[tuple[str, StateStore]]:
    """Return the names and the states of the tenants with sessions to consolidate, over one pool of connections."""
    if not is_address(address):
        raise StoreError("a directory has no tenants: --all-tenants is of a server")
    states: Iterator[tuple[str, StateStore]] = _engine_of(address).due_states(address, idle_seconds)
    return states


def _engine_of(address: str) -> Any:
    """Return the package with `state_at` and `due_states` for an address."""
    name = next(name for scheme, name in ENGINES.items() if address.startswith(scheme))
    try:
        return importlib.import_module(f"hippocampus.storage.{name}")
    except ImportError:
        needed = f"pip install 'hippocampus-context[{name}]'"
        raise StoreError(f"a state at {address.partition('://')[0]}:// needs: {needed}") from None
