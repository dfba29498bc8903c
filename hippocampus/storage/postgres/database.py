"""The tables of one tenant on PostgreSQL, with a text index of words of our own.

Words are those of FTS5 and scores its BM25, so that a search finds the memories that it finds in a file.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from hippocampus.errors import FactError
from hippocampus.storage.database import Database, Query, Row, Values
from hippocampus.storage.deadline import left
from hippocampus.storage.facts.rows import TextRules
from hippocampus.storage.full_text import counted
from hippocampus.storage.postgres.buffered_statements import Statements
from hippocampus.storage.postgres.connections import Connections
from hippocampus.storage.postgres.schema import translated
from hippocampus.storage.sqlite import BUSY_SECONDS

WORD_CHARACTERS = 200
"""A longer word is known by these: a row of an index has 2,700 bytes."""
_PHRASE = re.compile(r'"([^"]*)"(\*?)')


class ServerDatabase(Database):
    """The tables of one tenant; threads may use them at once."""

    is_local = False

    def __init__(
        self,
        connections: Connections,
        tenant: str,
        text: TextRules | None = None,
        close: Callable[[], None] | None = None,
    ) -> None:
        """Name the server and the tenant; nothing is asked yet. `close` is called with it."""
        self.path = connections.name
        self.rules = text
        self._connections = connections
        self._tenant = tenant
        self._close = close
        self._thread = threading.local()

    @property
    def patience_seconds(self) -> float:
        """Return how long a statement waits in a thread without a limit."""
        return self._connections.patience_seconds

    @contextlib.contextmanager
    def transaction(self, *, is_synced: bool = False) -> Iterator[None]:
        """Write all or nothing; that of facts comes after other writers of the tenant."""
        del is_synced  # each is
        if self._open is not None:
            yield
            return
        patience = BUSY_SECONDS if self.rules else self.patience_seconds
        with self._connections.transaction(self._tenant, patience) as db:
            self._thread.open = db
            try:
                if self.rules:  # no row changes between reading and writing
                    self.lock(f"facts of {self._tenant}")
                yield
            finally:
                self._thread.open = None

    @property
    def _open(self) -> Statements | None:
        """The open transaction of this thread."""
        return getattr(self._thread, "open", None)

    def together(self, *queries: Query) -> list[list[Row]]:
        if (open_ := self._open) is not None:
            if self.rules:  # the limit is for these statements, not for all
                open_.until = time.monotonic() + left(BUSY_SECONDS)
            first = self._send(open_, queries)
            open_.receive()
        else:
            with self._connections.transaction(self._tenant, self.patience_seconds) as open_:
                first = self._send(open_, queries)
        return open_.rows[first : first + len(queries)]

    def run(self, sql: str, values: Values = ()) -> None:
        with self.transaction():
            assert self._open is not None
            self._send(self._open, [(sql, values)])

    def lock(self, name: str) -> None:
        self.run("SELECT pg_advisory_xact_lock(hashtextextended(?, 39))", (name,))

    def _send(self, statements: Statements, queries: Sequence[Query]) -> int:
        """Send statements with the others of a transaction, and return the place of their rows."""
        first = statements.sent
        for sql, values in queries:
            parts, keys = translated(sql)
            given = [values[key] for key in keys]  # type: ignore[index]
            written = [  # no text of a server has a NUL
                value.replace("\0", "\\x00") if isinstance(value, str) else value for value in given
            ]
            try:
                statements.send(parts, written, prepare=not self.rules)
            except UnicodeEncodeError as failure:
                raise FactError(f"a value that no row can hold: {failure}") from failure
        return first

    def memories(self) -> int:
        return int(self.value("SELECT memories FROM memory_total") or 0)

    def index(self, row: int, body: str) -> None:
        counts = {word[:WORD_CHARACTERS]: count for word, count in counted(body)}
        query = "SELECT index_memory(?, ?, ?)"
        self.run(query, (row, sum(counts.values()), json.dumps(counts)))

    def unindex(self, rows: str) -> None:
        self.run("SELECT unindex_memories(?)", (rows,))

    def expression(self, match: str) -> str:
        """Return an FTS5 expression as ranges of words: all of its parts, any of the ranges of one."""
        parts = [
            [_range(words, prefix) for words, prefix in _PHRASE.findall(part)]
            for part in match.split(" AND ")
        ]
        return json.dumps([[pair for pair in part if pair] for part in parts], ensure_ascii=False)

    def check(self) -> list[str]:
        wrong = self.rows("""
            SELECT row FROM memory JOIN memory_word ON memory = row
            GROUP BY row, length HAVING sum(count) != length
        """)
        return [
            f"{self.path}: the words of row {row} are not those of its text" for (row,) in wrong
        ]

    def bytes(self) -> int:
        return int(self.value("SELECT coalesce(sum(pg_column_size(memory)), 0) FROM memory"))

    def close(self) -> None:
        """Close the connections, where the state is not another one's."""
        if self._close:
            self._close()


def _range(words: str, prefix: str) -> tuple[str, str] | None:
    """Return the first and the last word that a phrase finds; of several words, the longest counts."""
    found = max((word[:WORD_CHARACTERS] for word, _ in counted(words)), key=len, default="")
    return (found, found + "\U0010ffff" * bool(prefix)) if found else None
