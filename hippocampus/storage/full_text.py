"""SQLite's own full text: which tokenizers it has, and a search among texts in memory."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator, Sequence

from hippocampus.storage.sqlite import IN_MEMORY

SQLITE_VERSION = sqlite3.sqlite_version


def has_tokenizer(tokenizer: str) -> bool:
    """Return whether FTS5 has a tokenizer, by a trial."""
    with contextlib.closing(sqlite3.connect(IN_MEMORY)) as db:
        try:
            db.execute(f"CREATE VIRTUAL TABLE text USING fts5(body, tokenize='{tokenizer}')")
        except sqlite3.Error:
            return False
    return True


@contextlib.contextmanager
def searching(texts: Sequence[str]) -> Iterator[Callable[[str], list[int]]]:
    """Yield a search for an FTS5 expression: the places of the texts that have it, best first by BM25."""
    with contextlib.closing(sqlite3.connect(IN_MEMORY)) as db:
        db.execute("CREATE VIRTUAL TABLE said USING fts5(body, tokenize='porter unicode61')")
        db.executemany("INSERT INTO said (rowid, body) VALUES (?, ?)", enumerate(texts))
        best = "SELECT rowid FROM said WHERE said MATCH ? ORDER BY rank"
        yield lambda match: [row for (row,) in db.execute(best, (match,))]
