"""The fact store of one tenant on PostgreSQL: the SQL of `storage.facts`, with a text index of words of our own.

Words are those of FTS5 and scores its BM25, so that a search finds the memories that it finds in a file.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import psycopg

from hippocampus.storage.facts.database import Database, Row, Values
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.models import TextRules
from hippocampus.storage.full_text import counted
from hippocampus.storage.postgres.connections import Connection, Connections
from hippocampus.storage.postgres.dialect import translated
from hippocampus.storage.sqlite import BUSY_SECONDS

WORD_CHARACTERS = 200
"""A longer word is known by these: a row of an index has 2,700 bytes."""
TURN = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 39))"
"""The writers of one tenant's facts take turns, as those of a file do: no row changes between reading and writing."""
_PHRASE = re.compile(r'"([^"]*)"(\*?)')


class PostgresDatabase(Database):
    """The tables of facts of one tenant; threads may use them at once."""

    def __init__(
        self, connections: Connections, tenant: str, text: TextRules, close: Callable[[], None]
    ) -> None:
        """Name the server and the tenant; nothing is asked yet. `close` is called with it."""
        self.path = connections.name
        self.text = text
        self._connections = connections
        self._tenant = tenant
        self._close = close
        self._thread = threading.local()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing, after other writers of the tenant; inside another one, be a part of it."""
        if self._open is not None:
            yield
            return
        with self.guarded(), self._connections.transaction(self._tenant, BUSY_SECONDS) as db:
            db.execute(TURN, (self._tenant,))
            self._thread.open = db
            try:
                yield
            finally:
                self._thread.open = None

    @property
    def _open(self) -> Connection | None:
        """The connection of the open transaction of this thread."""
        return getattr(self._thread, "open", None)

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Run one statement and return its rows."""
        return self.each(sql, [values])[0]

    def each(self, sql: str, values: Iterable[Values]) -> list[list[Row]]:
        """Run one statement for each of some values, in one round trip."""
        with self.guarded(), contextlib.ExitStack() as closing:
            if (db := self._open) is None:
                seconds = self._connections.patience_seconds
                db = closing.enter_context(self._connections.transaction(self._tenant, seconds))
            else:
                db.until = time.monotonic() + BUSY_SECONDS  # for these statements, not for all
            cursors = [_sent(db, sql, given) for given in values]
            closing.close()
            return [cursor.fetchall() for cursor in cursors]

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one change; in a transaction, nothing waits for it."""
        self.run_many(sql, [values])

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one change for each row of values."""
        with self.transaction():
            for each in values:
                assert self._open is not None
                _sent(self._open, sql, each)

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Raise `FactError` for a value that no row can hold; a failure of the server is a `StoreError`."""
        try:
            yield
        except UnicodeEncodeError as failure:
            raise FactError(f"a value that no row can hold: {failure}") from failure

    def memories(self) -> int:
        """Return how many memories the tenant has."""
        return int(self.value("SELECT memories FROM memory_total") or 0)

    def index(self, row: int, body: str) -> None:
        """Let the text index find a row by words."""
        counts = {word[:WORD_CHARACTERS]: count for word, count in counted(body)}
        query = "SELECT index_memory(?, ?, ?)"
        self.run(query, (row, sum(counts.values()), json.dumps(counts)))

    def unindex(self, rows: str) -> None:
        """Take rows, as a JSON list, out of the text index."""
        self.run("SELECT unindex_memories(?)", (rows,))

    def expression(self, match: str) -> str:
        """Return an FTS5 expression as ranges of words: all of its parts, any of the ranges of one."""
        parts = [
            [_range(words, prefix) for words, prefix in _PHRASE.findall(part)]
            for part in match.split(" AND ")
        ]
        return json.dumps([[each for each in part if each] for part in parts], ensure_ascii=False)

    def having(self, match: str) -> str:
        """Return the SQL of the rows that an expression finds."""
        return f"(SELECT DISTINCT memory AS rowid FROM word_hits({match}))"

    def ranked(self, match: str) -> str:
        """Return the SQL of the rows that an expression finds, with their rank by BM25."""
        return f"found_by({match})"

    def check(self) -> list[str]:
        """Return a sentence for each memory whose words are not in the index as they were counted."""
        wrong = self.rows("""
            SELECT row FROM memory JOIN memory_word ON memory = row
            GROUP BY row, length HAVING sum(count) != length
        """)
        return [
            f"{self.path}: the words of row {row} are not those of its text" for (row,) in wrong
        ]

    def bytes(self) -> int:
        """Return about how many bytes the memories have."""
        return int(self.value("SELECT coalesce(sum(pg_column_size(memory)), 0) FROM memory"))

    def close(self) -> None:
        """Close the connections, where the state is not another one's."""
        self._close()


def _sent(db: Connection, sql: str, values: Values) -> psycopg.Cursor[Row]:
    """Send a statement; its values are literals, whose types the server finds from their use."""
    cursor = psycopg.ClientCursor(db)
    if isinstance(values, Mapping):
        named = {name: _storable(value) for name, value in values.items()}
        return cursor.execute(translated(sql).encode(), named)
    return cursor.execute(translated(sql).encode(), [_storable(value) for value in values])


def _storable(value: Any) -> Any:
    """Return a value as a column holds it: a NUL in a text is written out."""
    return value.replace("\0", "\\x00") if isinstance(value, str) else value


def _range(words: str, prefix: str) -> tuple[str, str] | None:
    """Return the first and the last word that a phrase finds; of several words, the longest counts."""
    found = max((word[:WORD_CHARACTERS] for word, _ in counted(words)), key=len, default="")
    return (found, found + "\U0010ffff" * bool(prefix)) if found else None
