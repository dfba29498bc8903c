"""The full-text indexes of the stored contents of sessions, in one SQLite file: a table a session.

Derived data: a search indexes the entries that are missing, and the file may be deleted. A session
that is never searched has none. Words of one session weigh nothing in the search of another.
Sessions, what a word is, and how hits are rendered, are not known here.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries.text import storable
from hippocampus.errors import StoreError
from hippocampus.storage.deadline import bounded
from hippocampus.storage.migrations import LaterVersionError, Schema, migrated
from hippocampus.storage.sqlite import (
    FAILURES,
    IN_MEMORY,
    reading,
    remove_database,
    transaction,
    wipe,
)

BUSY_SECONDS = 0.25
"""How long a search waits for another process that writes."""
MAX_TERMS = 40
"""The rarest words of a query that are searched; a long message has hundreds."""
MAX_READ, MIN_TERMS = 24_000, 3
"""The most occurrences that are scored, which takes 15 ms, and the words that are always scored."""
MAX_COUNTED = 200_000
"""The most occurrences that are counted, which takes 10 ms; later words of a query are ignored."""
SCHEMA = Schema(
    "search index",
    (
        """
        CREATE TABLE session (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
        CREATE TABLE passage (
            number INTEGER PRIMARY KEY,
            session INTEGER NOT NULL REFERENCES session(number) ON DELETE CASCADE,
            entry_id TEXT NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX passage_of_entry ON passage (session, entry_id)
        """,
    ),
)
WORDS = """
    CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5(
        words, about, content='', tokenize='porter unicode61 remove_diacritics 2'
    )
"""
BEST = """
    SELECT entry_id, first, last FROM (
        SELECT rowid AS found, bm25({table}) AS score FROM {table}
        WHERE {table} MATCH ? ORDER BY score LIMIT ?
    )
    JOIN passage ON passage.number = found
    ORDER BY score, found DESC
"""


class Passage(NamedTuple):
    """Some lines of an entry, counted from 1, both ends included, as words."""

    first: int
    last: int
    words: str


class Content(NamedTuple):
    """The searchable texts of one entry."""

    passages: Sequence[Passage]
    about: str
    """The words of the tool's name and the call's arguments."""


class PassageHit(NamedTuple):
    """A passage that matches a query."""

    entry_id: str
    first: int
    last: int


Read = Callable[[str], Content | None]
"""Returns the content of an entry, or None where it is lost."""


class Passages:
    """The index of one session's contents; the path `:memory:` keeps it in memory."""

    def __init__(self, path: Path | str, session: str, read: Read) -> None:
        """Name the index; the first search opens it."""
        self._path = path
        self._session = storable(session)
        self._read = read
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._number = 0

    def search(
        self, words: Iterable[str], entry_ids: Sequence[str], most: int = 50
    ) -> list[PassageHit]:
        """Return the passages of these entries that match some words, the best first.

        Where the file cannot be used, or another process holds it, they are searched in memory.
        """
        try:
            return self._found(words, entry_ids, most)
        except StoreError:
            in_memory = Passages(IN_MEMORY, self._session, self._read)
            with contextlib.closing(in_memory):
                return in_memory._found(words, entry_ids, most)

    def _found(self, words: Iterable[str], entry_ids: Sequence[str], most: int) -> list[PassageHit]:
        with self._lock, self._opened() as db:
            for entry_id in entry_ids:
                if not self._has(db, entry_id) and (content := self._read(entry_id)) is not None:
                    self._add(db, entry_id, content)
            wanted = self._rarest(db, words)
            if not wanted:
                return []
            match = " OR ".join(f'"{term}"' for term in wanted)
            rows = db.execute(BEST.format(table=self._table), (match, most)).fetchall()
        kept = set(entry_ids)
        return [PassageHit(*row) for row in rows if row[0] in kept]

    def close(self) -> None:
        """Close the file, unless a search is reading it; a later search opens it again."""
        if not self._lock.acquire(blocking=False):
            return
        try:
            if self._db is not None:
                self._db.close()
            self._db = None
        finally:
            self._lock.release()

    @property
    def _table(self) -> str:
        return f"words_{self._number}"

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            if self._db is None:
                with bounded(BUSY_SECONDS):
                    self._db = _open(self._path)
                with bounded(BUSY_SECONDS), transaction(self._db):
                    new = "INSERT OR IGNORE INTO session (name) VALUES (?)"
                    self._db.execute(new, (self._session,))
                    query = "SELECT number FROM session WHERE name = ?"
                    (self._number,) = self._db.execute(query, (self._session,)).fetchone()
                    self._db.execute(WORDS.format(table=self._table))
            yield self._db
        except FAILURES as failure:
            self.close()  # the index may have been removed: the next search makes it again
            raise StoreError(f"search index {self._path}: {failure}") from failure

    def _has(self, db: sqlite3.Connection, entry_id: str) -> bool:
        query = "SELECT 1 FROM passage WHERE session = ? AND entry_id = ?"
        return db.execute(query, (self._number, entry_id)).fetchone() is not None

    def _add(self, db: sqlite3.Connection, entry_id: str, content: Content) -> None:
        with bounded(BUSY_SECONDS), transaction(db):
            if self._has(db, entry_id):
                return
            (last,) = db.execute("SELECT coalesce(max(number), 0) FROM passage").fetchone()
            rows = list(enumerate(content.passages, start=last + 1))
            db.executemany(
                "INSERT INTO passage VALUES (?, ?, ?, ?, ?)",
                [(at, self._number, entry_id, passage.first, passage.last) for at, passage in rows],
            )
            about = storable(content.about)
            db.executemany(
                f"INSERT INTO {self._table} (rowid, words, about) VALUES (?, ?, ?)",
                [(at, storable(passage.words), about) for at, passage in rows],
            )

    def _rarest(self, db: sqlite3.Connection, words: Iterable[str]) -> list[str]:
        """Return the most selective words of a query: those in the fewest passages."""
        holding: dict[str, int] = {}
        counted = 0
        count = f"SELECT count(*) FROM {self._table} WHERE {self._table} MATCH ?"
        for word in dict.fromkeys(words):
            if counted < MAX_COUNTED:
                (known,) = db.execute(count, (f'"{word}"',)).fetchone()
                if known:
                    holding[word] = known
                    counted += known
        chosen: list[str] = []
        read = 0
        for word in sorted(holding, key=lambda each: holding[each])[:MAX_TERMS]:
            read += holding[word]
            if read > MAX_READ and len(chosen) >= MIN_TERMS:
                break
            chosen.append(word)
        return chosen


def names(path: Path) -> set[str]:
    """Return the sessions that have an index; none where the file cannot be read."""
    try:
        with reading(path) as db:
            return {name for (name,) in db.execute("SELECT name FROM session")}
    except FAILURES:
        return set()


def forget(path: Path, sessions: Iterable[str]) -> None:
    """Remove the indexes of sessions; of a damaged file, all.

    Raises:
        StoreError: the file cannot be written.
    """
    if not path.exists():
        return
    try:
        with contextlib.closing(_open(path)) as db:
            with transaction(db):
                for name in map(storable, sessions):
                    query = "SELECT number FROM session WHERE name = ?"
                    for (number,) in db.execute(query, (name,)).fetchall():
                        db.execute(f"DROP TABLE IF EXISTS words_{number}")
                        db.execute("DELETE FROM session WHERE number = ?", (number,))
            wipe(db)
    except FAILURES as failure:
        raise StoreError(f"search index {path}: {failure}") from failure


def _open(path: Path | str) -> sqlite3.Connection:
    """Open the file; a damaged one is replaced by an empty one, since it is derived data."""
    try:
        return migrated(path, SCHEMA, "OFF")
    except (sqlite3.OperationalError, LaterVersionError):
        raise
    except (sqlite3.DatabaseError, StoreError):
        remove_database(Path(path))
        return migrated(path, SCHEMA, "OFF")
