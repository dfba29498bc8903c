"""A database as the rooms above use it: statements of both engines, in transactions; here that of a file.

A server's is in `postgres.database`; `state.state_of` chooses by the schemes of `state_dir`. The tables are
in `schema`; their meaning is not known here.
"""

from __future__ import annotations

import abc
import contextlib
import os
import re
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hippocampus.entries.entry import MARK_CHARACTERS
from hippocampus.errors import FactError, StoreError
from hippocampus.storage import files, open_locks, schema, sqlite
from hippocampus.storage.facts.rows import TextRules

MAX_ROWS = 100
"""The rows of one statement."""
READING = ("SELECT", "WITH", "PRAGMA")
"""The beginnings of statements that write nothing."""
CACHE_KIB = 65_536
MAPPED_BYTES = 1 << 28
HAVING = "(SELECT rowid FROM memory_text WHERE memory_text MATCH :match)"
"""The rows that an expression finds."""
RANKED = "(SELECT rowid, rank FROM memory_text WHERE memory_text MATCH :match)"
"""The same with the ranks of the rows by BM25, the best one the lowest."""
Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]
Query = tuple[str, Values]


class ConflictError(StoreError):
    """Another worker has written what a transaction took to be its own; nothing of it was written."""


class Database(abc.ABC):
    """The tables of a state, on any engine. A thread's statements are those of its open transaction."""

    path: str
    """As errors name it: a file, or a server without a password."""
    rules: TextRules | None
    """How facts are compared and indexed; None where only sessions are used."""
    is_local: bool
    """Whether it is a file: a conversation is packed at the end of its session, and not by every turn."""

    @property
    def text(self) -> TextRules:
        """Return how facts are compared and indexed."""
        assert self.rules is not None
        return self.rules

    @abc.abstractmethod
    def transaction(self, *, is_synced: bool = False) -> contextlib.AbstractContextManager[None]:
        """Write all or nothing; inside another transaction, be a part of it.

        One that is synced is on the disk when it ends, and outlives a power cut.
        """

    @abc.abstractmethod
    def together(self, *queries: Query) -> list[list[Row]]:
        """Run statements in one transaction and one round trip, and return the rows of each."""

    @abc.abstractmethod
    def run(self, sql: str, values: Values = ()) -> None:
        """Run one change; in a transaction, nothing waits for it."""

    def lock(self, name: str) -> None:  # noqa: B027 - a transaction has a file for itself
        """Let no other transaction that locks the same name go on before the open one ends."""

    def insert(self, sql: str, rows: Sequence[Row]) -> None:
        """Run one change for some rows, no two of one key; the text in braces is repeated for every row."""
        head, row, tail = re.split("[{}]", sql)
        for start in range(0, len(rows), MAX_ROWS):
            some = rows[start : start + MAX_ROWS]
            values = [value for given in some for value in given]
            self.run(f"{head}{', '.join([row] * len(some))}{tail}", values)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Run one statement and return its rows."""
        return self.together((sql, values))[0]

    def value(self, sql: str, values: Values = ()) -> Any:
        """Run one statement and return the first column of its first row, or nothing."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    def meta(self, key: str) -> str | None:
        """Return the value under a key."""
        found: str | None = self.value("SELECT value FROM meta WHERE key = ?", (key,))
        return found

    def set_meta(self, key: str, value: str) -> None:
        """Write a value under a key."""
        put = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        self.run(f"INSERT INTO meta (key, value) VALUES (?, ?) {put}", (key, value))

    # The text index, which differs by engine

    @abc.abstractmethod
    def memories(self) -> int:
        """Return about how many memories the state has."""

    @abc.abstractmethod
    def index(self, row: int, body: str) -> None:
        """Let the text index find a row by words."""

    @abc.abstractmethod
    def unindex(self, rows: str) -> None:
        """Take rows, as a JSON list, out of the text index, before their texts change."""

    @abc.abstractmethod
    def expression(self, match: str) -> str:
        """Return an FTS5 expression as `HAVING` and `RANKED` take it."""

    # Who has a session open, by its number; on a server, that is not known

    def hold(self, session: int) -> None:  # noqa: B027
        """Let a session be open until it is released, or this process ends."""

    def release(self, session: int) -> None:  # noqa: B027
        """Let a session be open once less in this process."""

    def open_sessions(self, sessions: Iterable[int]) -> set[int]:  # noqa: ARG002
        """Return those of some sessions that a process has open."""
        return set()

    # Housekeeping; a server has its own vacuum

    def shrink(self) -> None:  # noqa: B027
        """Give the pages that deleted rows have left back to the disk."""

    @abc.abstractmethod
    def check(self) -> list[str]:
        """Return sentences on faults of the file or the text index."""

    @abc.abstractmethod
    def bytes(self) -> int:
        """Return about how many bytes the state has."""

    def wipe(self) -> None:  # noqa: B027
        """Leave nothing of deleted rows on the disk, as far as the engine can.

        Raises:
            StoreError: another process reads the log for too long, or it cannot be written.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Close it."""


class _Opened:
    """A connection; that of a thread is closed when the thread ends."""

    def __init__(self, db: sqlite3.Connection, *, fixed: object, is_read_only: bool) -> None:
        self.db = db
        self.lock = threading.RLock()
        """Held while it is used, by a statement or a transaction."""
        self.is_closed = False
        self.fixed = fixed
        """The version of a file that it was opened for as one that nothing writes to."""
        self.is_read_only = is_read_only
        """Whether the file could not be written as it was opened: for the connection, that stays so."""

    def close(self) -> None:
        """Close it, for its thread to open another one."""
        self.is_closed = True
        self.db.close()

    __del__ = close


_OPEN_FILES = weakref.WeakSet[_Opened]()
"""All connections of this process to files."""


def _close_inherited() -> None:
    """Close in a forked process what its parent opened, before it opens a file itself.

    SQLite shares the locks of a file among the connections of a process. One that is opened next to an
    inherited one takes no lock of its own, and the end of the parent removes the log that it writes to.
    """
    for opened in list(_OPEN_FILES):
        # One that is in use is that of a thread which the child does not have.
        if opened.lock.acquire(blocking=False):
            if not opened.is_closed and not opened.db.in_transaction:
                opened.close()
            opened.lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


class SqliteDatabase(Database):
    """A file, for any thread: each has a connection of its own, but of facts, and of a file in memory."""

    is_local = True

    def __init__(
        self, path: Path | str, text: TextRules | None = None, *, is_shared: bool = False
    ) -> None:
        """Open a file, made where it is missing; one that `is_shared` may have tables of a host's."""
        self.path = str(path)
        self.rules = text
        self._is_shared = is_shared
        self._locks = Path(f"{path}-open")
        self._is_file = self.path != sqlite.IN_MEMORY
        is_of_thread = self._is_file and text is None
        self._own: Any = threading.local() if is_of_thread else SimpleNamespace()
        """`opened` is the connection of this thread, or that of all: facts have one, for its cache."""
        self._all = weakref.WeakSet[_Opened]()
        self._opening = threading.Lock()
        self._is_closed = False
        self._file: tuple[int, int] | None = None
        """The device and the number of the file."""
        with self._guarded():
            self._file = _number_of(self.path) if self._is_file else None

    def _current(self, *, writes: bool = False) -> _Opened:
        """Return the connection for this thread; one that another account has outdated is opened again."""
        path = Path(self.path)
        opened: _Opened | None = getattr(self._own, "opened", None)
        if opened and not opened.is_closed:
            # SQLite would take the pages of a changed file for those that it has read, and report damage.
            is_outdated = opened.fixed and opened.fixed != sqlite.version(path)
            has_to_open = is_outdated or (writes and opened.is_read_only)
            if opened.db.in_transaction or not has_to_open:
                return opened
        if self._is_closed:
            raise sqlite3.ProgrammingError("the file is closed")
        self._expect_file()
        fixed = sqlite.version(path) if sqlite.is_fixed(path) else ()
        db = self._connected()
        is_read_only = self._is_file and not sqlite.is_writable(path)
        opened = self._own.opened = _Opened(db, fixed=fixed, is_read_only=is_read_only)
        with self._opening:
            self._all.add(opened)
            if self._is_file:
                _OPEN_FILES.add(opened)
        return opened

    def _connected(self) -> sqlite3.Connection:
        db = schema.migrated(self.path, is_shared=self._is_shared)
        if self.rules:
            for pragma in (f"cache_size = -{CACHE_KIB}", f"mmap_size = {MAPPED_BYTES}"):
                db.execute(f"PRAGMA {pragma}")
            db.execute("PRAGMA temp_store = MEMORY")
            # The case of every script: `lower` of SQLite knows ASCII.
            db.create_function("folded", 1, str.casefold, deterministic=True)
        return db

    def _expect_file(self) -> None:
        """Raise `OSError` where the file was removed or replaced: SQLite would write into the old one, or make one."""
        if self._file and self._file != _number_of(self.path):
            raise FileNotFoundError("the file was removed or replaced")

    def is_current(self) -> bool:
        """Return whether the file is open, and the one that was opened."""
        with contextlib.suppress(OSError):
            self._expect_file()
            return not self._is_closed
        return False

    @contextlib.contextmanager
    def transaction(self, *, is_synced: bool = False) -> Iterator[None]:
        with self._guarded(writes=True) as db:
            if db.in_transaction:
                yield
                return
            self._expect_file()
            # A fact outlives a power cut; a turn is written again from the list of its host.
            is_synced = is_synced or self.rules is not None
            with sqlite.transaction(db, self.path, is_synced=is_synced):
                yield

    def together(self, *queries: Query) -> list[list[Row]]:
        """Run statements; several see the database at one moment."""
        is_read = all(sql.lstrip().startswith(READING) for sql, _ in queries)
        with self._guarded(writes=not is_read) as db, contextlib.ExitStack() as stack:
            if not db.in_transaction:
                if not is_read:
                    stack.enter_context(self.transaction())
                elif len(queries) > 1:
                    db.execute("BEGIN")
                    stack.callback(db.execute, "ROLLBACK")
            return [db.execute(*query).fetchall() for query in queries]

    def run(self, sql: str, values: Values = ()) -> None:
        self.together((sql, values))

    @contextlib.contextmanager
    def _guarded(self, *, writes: bool = False) -> Iterator[sqlite3.Connection]:
        """Yield this thread's connection, and raise `StoreError` where SQLite fails.

        Raises:
            FactError: a value is half a character, or a number of more than 64 bits.
            StoreError: the file cannot be read or written.
        """
        try:
            while True:
                opened = self._current(writes=writes)
                with opened.lock:
                    if not opened.is_closed:  # by another memory over the same state, meanwhile
                        yield opened.db
                        return
        except (UnicodeEncodeError, OverflowError) as failure:
            raise FactError(f"a value that no file can hold: {failure}") from failure
        except sqlite.FAILURES as failure:
            why = f": {failure}"
            if type(failure) is sqlite3.DatabaseError:  # its subclasses are of other causes
                why = f" is damaged or none{why}; name another, or move it away to begin a new one"
            raise StoreError(f"state {self.path}{why}") from failure

    def memories(self) -> int:
        return int(self.value("SELECT max(row) FROM memory") or 0)

    def index(self, row: int, body: str) -> None:
        self.run("INSERT INTO memory_text (rowid, body) VALUES (?, ?)", (row, body))

    def unindex(self, rows: str) -> None:
        self.run(
            "INSERT INTO memory_text (memory_text, rowid, body) SELECT 'delete', row, body"
            " FROM memory_body WHERE row IN (SELECT value FROM json_each(?))",
            (rows,),
        )

    def expression(self, match: str) -> str:
        return match

    def check(self) -> list[str]:
        with self._guarded():
            is_read_only = self._current().is_read_only
        if not is_read_only:  # the check is written as a row of the text index
            self.run("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
        found = [text for (text,) in self.rows("PRAGMA integrity_check")]
        loose = self.rows("PRAGMA foreign_key_check")
        found += [f"row {row} of {table} has no {parent}" for table, row, parent, _ in loose]
        return [f"{self.path}: {text}" for text in found if text != "ok"]

    def bytes(self) -> int:
        return int(self.value("PRAGMA page_count") * self.value("PRAGMA page_size"))

    def shrink(self) -> None:
        with self._guarded() as db:
            sqlite.shrink(db)

    def wipe(self) -> None:
        # The text index keeps the words of deleted rows until its parts are merged.
        self.run("INSERT INTO memory_text (memory_text) VALUES ('optimize')")
        with self._guarded() as db:
            sqlite.wipe(db)

    def hold(self, session: int) -> None:
        with self._guarded():
            open_locks.hold(self._locks, session)

    def release(self, session: int) -> None:
        open_locks.release(self._locks, session)

    def open_sessions(self, sessions: Iterable[int]) -> set[int]:
        with self._guarded():
            is_fixed = sqlite.is_fixed(Path(self.path))  # then no process has it open
            return set() if is_fixed else open_locks.open_sessions(self._locks, sessions)

    def backup(self, path: Path) -> None:
        """Write a copy to a new file; others may write meanwhile."""
        try:
            files.private_file(path)
        except OSError as failure:
            raise StoreError(f"{path}: cannot be written: {failure.strerror}") from failure
        with self._guarded() as db:
            db.execute("VACUUM INTO ?", (str(path),))

    def close(self) -> None:
        """Close the file; a statement fails from then on."""
        self._is_closed = True
        self.rest()

    def rest(self) -> None:
        """Close the file until it is used again."""
        with self._opening:
            open_now = list(self._all)
        for opened in open_now:
            with opened.lock:
                opened.close()


def _number_of(path: str) -> tuple[int, int] | None:
    with contextlib.suppress(FileNotFoundError):
        found = Path(path).stat()
        return found.st_dev, found.st_ino
    return None


class ReadOnly(SqliteDatabase):
    """The database of a directory, for reading; without a file it is empty, and none is made."""

    def _connected(self) -> sqlite3.Connection:
        path = Path(self.path)
        if os.path.lexists(path):  # a link to a disk that is away is not a missing file
            with contextlib.ExitStack() as closing:
                db = closing.enter_context(sqlite.reading(path))
                if schema.applied(db, self.path):
                    closing.pop_all()
                    return db
        return schema.migrated(sqlite.IN_MEMORY)


def new_mark() -> str:
    """Return letters that open the ids of a state's entries, which no payload can know."""
    import base64

    return base64.b32encode(os.urandom(5)).decode().lower()[:MARK_CHARACTERS]
