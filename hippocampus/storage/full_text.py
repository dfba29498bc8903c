"""SQLite's own full text: the words of a text, and a search among texts in memory."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence

from hippocampus.storage.sqlite import IN_MEMORY

SQLITE_VERSION = sqlite3.sqlite_version
TOKENIZER = "porter unicode61 remove_diacritics 2"
"""That of the index of facts."""


def is_installed() -> bool:
    """Return whether this SQLite has full text, by a trial."""
    with contextlib.suppress(sqlite3.Error):
        return bool(counted("word"))
    return False


def counted(text: str) -> list[tuple[str, int]]:
    """Return the words of a text as the index of facts has them, with their numbers of occurrences.

    >>> counted("Cafés run, running")
    [('cafe', 1), ('run', 2)]
    """
    db, lock = _vocabulary()
    with lock:
        db.execute("INSERT INTO said (rowid, body) VALUES (1, ?)", (text,))
        found = db.execute("SELECT term, cnt FROM vocabulary").fetchall()
        db.execute("INSERT INTO said (said) VALUES ('delete-all')")
        return found


@functools.cache
def _vocabulary() -> tuple[sqlite3.Connection, threading.Lock]:
    db = sqlite3.connect(IN_MEMORY, isolation_level=None, check_same_thread=False)
    db.execute(f"CREATE VIRTUAL TABLE said USING fts5(body, content='', tokenize='{TOKENIZER}')")
    db.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(said, row)")
    return db, threading.Lock()


@contextlib.contextmanager
def searching(texts: Sequence[str]) -> Iterator[Callable[[str], list[int]]]:
    """Yield a search for an FTS5 expression: the places of the texts that have it, best first by BM25."""
    with contextlib.closing(sqlite3.connect(IN_MEMORY)) as db:
        db.execute("CREATE VIRTUAL TABLE said USING fts5(body, tokenize='porter unicode61')")
        db.executemany("INSERT INTO said (rowid, body) VALUES (?, ?)", enumerate(texts))
        best = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank"
        yield lambda match: [row for (row,) in db.execute(best, (match,))]
