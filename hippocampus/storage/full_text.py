"""SQLite's own full text in memory: the words of a text, a search among texts, and a session's contents.

Sessions, the meaning of a word, and how hits are rendered, are not known here.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from hippocampus.entries.entry import storable
from hippocampus.storage.sqlite import IN_MEMORY

SQLITE_VERSION = sqlite3.sqlite_version
TOKENIZER = "porter unicode61 remove_diacritics 2"
"""That of the index of facts."""
MAX_TERMS = 40
"""The rarest words of a query that are searched; a long message has hundreds."""
MAX_READ, MIN_TERMS = 24_000, 3
"""The most occurrences that are scored, which takes 15 ms, and the words that are always scored."""
MAX_COUNTED = 200_000
"""The most occurrences that are counted, which takes 10 ms; later words of a query are ignored."""
WORDS = f"CREATE VIRTUAL TABLE passage USING fts5(words, about, content='', tokenize='{TOKENIZER}')"
COUNT = "SELECT count(*) FROM passage WHERE passage MATCH ?"
BEST = """
    SELECT number FROM (
        SELECT rowid AS number, bm25(passage) AS score FROM passage
        WHERE passage MATCH ? ORDER BY score LIMIT ?
    )
    ORDER BY score, number DESC
"""


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


# The contents of one session; a search reads the entries that are missing


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
    """The index of one session's contents."""

    def __init__(self, read: Read) -> None:
        """Begin an empty index; a search adds the entries that are missing."""
        self._read = read
        self._lock = threading.Lock()
        self._db = sqlite3.connect(IN_MEMORY, check_same_thread=False)
        weakref.finalize(self, self._db.close)
        self._db.execute(WORDS)
        self._passages: list[PassageHit] = []
        """The passages by row; that of row 1 is the first."""
        self._added: set[str] = set()

    def search(
        self, words: Iterable[str], entry_ids: Sequence[str], most: int = 50
    ) -> list[PassageHit]:
        """Return the passages of entries that match some words, the best first."""
        with self._lock:
            for entry_id in entry_ids:
                if entry_id not in self._added and (content := self._read(entry_id)) is not None:
                    self._add(entry_id, content)
            wanted = self._rarest(words)
            if not wanted:
                return []
            match = " OR ".join(f'"{term}"' for term in wanted)
            rows = self._db.execute(BEST, (match, most)).fetchall()
        found, kept = (self._passages[number - 1] for (number,) in rows), set(entry_ids)
        return [hit for hit in found if hit.entry_id in kept]

    def _add(self, entry_id: str, content: Content) -> None:
        about, start = storable(content.about), len(self._passages) + 1
        rows = [
            (number, storable(passage.words), about)
            for number, passage in enumerate(content.passages, start)
        ]
        with self._db:
            self._db.executemany("INSERT INTO passage (rowid, words, about) VALUES (?, ?, ?)", rows)
        self._passages += [PassageHit(entry_id, part.first, part.last) for part in content.passages]
        self._added.add(entry_id)

    def _rarest(self, words: Iterable[str]) -> list[str]:
        """Return the most selective words of a query: those in the fewest passages."""
        holding: dict[str, int] = {}
        counted = 0
        for word in dict.fromkeys(words):
            if counted < MAX_COUNTED:
                (known,) = self._db.execute(COUNT, (f'"{word}"',)).fetchone()
                if known:
                    holding[word] = known
                    counted += known
        chosen: list[str] = []
        read = 0
        for word in sorted(holding, key=lambda word: holding[word])[:MAX_TERMS]:
            read += holding[word]
            if read > MAX_READ and len(chosen) >= MIN_TERMS:
                break
            chosen.append(word)
        return chosen
