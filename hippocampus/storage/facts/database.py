"""The open SQLite file of the fact store: pragmas, transactions, errors, and how texts are compared.

What the tables mean is not known here.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage.database import opened_at
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.models import TextRules
from hippocampus.storage.sqlite import FAILURES, transaction

CACHE_KIB = 65_536
MAPPED_BYTES = 1 << 28

Row = tuple[Any, ...]
Values = Sequence[Any] | Mapping[str, Any]


class Database:
    """One connection, for one thread at a time; other processes have their own."""

    def __init__(self, path: Path | str, text: TextRules, *, is_shared: bool = False) -> None:
        """Open a file; one that `is_shared` may have tables of the host's, made before ours.

        Raises:
            StoreError: it cannot be opened, or is of something else.
        """
        self.path = str(path)
        self.text = text
        self._lock = threading.RLock()
        with self.guarded():
            # With FULL a commit outlives a power cut, for half a millisecond.
            self.connection = opened_at(path, synchronous="FULL", is_shared=is_shared)
            try:
                for pragma in (
                    f"cache_size = -{CACHE_KIB}",
                    f"mmap_size = {MAPPED_BYTES}",
                    "temp_store = MEMORY",
                ):
                    self.connection.execute(f"PRAGMA {pragma}")
                # The case of every script: `lower` of SQLite knows ASCII.
                self.connection.create_function("folded", 1, str.casefold, deterministic=True)
            except BaseException:
                self.connection.close()
                raise

    def rows(self, sql: str, values: Values = ()) -> list[Row]:
        """Run one statement and return its rows."""
        with self.guarded():
            return self.connection.execute(sql, values).fetchall()

    def each(self, sql: str, values: Iterable[Values]) -> list[list[Row]]:
        """Run one statement for each of some values, and return the rows of each."""
        return [self.rows(sql, given) for given in values]

    def value(self, sql: str, values: Values = ()) -> Any:
        """Run one statement and return the first column of its first row, or nothing."""
        found = self.rows(sql, values)
        return found[0][0] if found else None

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one change."""
        with self.guarded():
            self.connection.execute(sql, values)

    def run_many(self, sql: str, values: Sequence[Sequence[Any]]) -> None:
        """Run one change for each row of values."""
        with self.guarded():
            self.connection.executemany(sql, values)

    def meta(self, key: str) -> str | None:
        """Return the value that the file has under a key."""
        found: str | None = self.value("SELECT value FROM meta WHERE key = ?", (key,))
        return found

    def set_meta(self, key: str, value: str) -> None:
        """Write a value under a key of the file."""
        put = "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        self.run(f"INSERT INTO meta (key, value) VALUES (?, ?) {put}", (key, value))

    def memories(self) -> int:
        """Return about how many memories there are, deleted ones too."""
        return int(self.value("SELECT max(row) FROM memory") or 0)

    # The text index

    def index(self, row: int, body: str) -> None:
        """Let the text index find a row by words."""
        self.run("INSERT INTO memory_text (rowid, body) VALUES (?, ?)", (row, body))

    def unindex(self, rows: str) -> None:
        """Take rows, as a JSON list, out of the text index, before their texts change."""
        self.run(
            "INSERT INTO memory_text (memory_text, rowid, body) SELECT 'delete', row, body"
            " FROM memory_body WHERE row IN (SELECT value FROM json_each(?))",
            (rows,),
        )

    def expression(self, match: str) -> str:
        """Return an FTS5 expression as `having` and `ranked` take it."""
        return match

    def having(self, match: str) -> str:
        """Return the SQL of the rows, as `rowid`, that the value at a placeholder finds."""
        return f"(SELECT rowid FROM memory_text WHERE memory_text MATCH {match})"

    def ranked(self, match: str) -> str:
        """Return the same with the `rank` of each row by BM25, the best one the lowest."""
        return f"(SELECT rowid, rank FROM memory_text WHERE memory_text MATCH {match})"

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Write all or nothing; inside another transaction, be a part of it."""
        with self.guarded():
            if self.connection.in_transaction:
                yield
                return
            with transaction(self.connection):
                yield

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Let one thread at the file, and say `StoreError` where SQLite fails.

        Raises:
            FactError: a value is half a character, or a number of more than 64 bits.
            StoreError: the file cannot be read or written.
        """
        with self._lock:
            try:
                yield
            except (UnicodeEncodeError, OverflowError) as failure:
                raise FactError(f"a value that no file can hold: {failure}") from failure
            except FAILURES as failure:
                raise StoreError(f"fact store {self.path}{_reason(failure)}") from failure

    def check(self) -> list[str]:
        """Return a sentence for each thing that SQLite finds wrong with the file."""
        self.run("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
        found = [text for (text,) in self.rows("PRAGMA integrity_check")]
        found += [f"orphan in {row[0]}" for row in self.rows("PRAGMA foreign_key_check")]
        return [f"{self.path}: {text}" for text in found if text != "ok"]

    def bytes(self) -> int:
        """Return the size of the file."""
        return int(self.value("PRAGMA page_count") * self.value("PRAGMA page_size"))

    def close(self) -> None:
        """Close the file."""
        with self.guarded():
            self.connection.close()


def _reason(failure: Exception) -> str:
    """Return the text of an error, with the remedy where the file itself is damaged."""
    if type(failure) is sqlite3.DatabaseError:  # its subclasses are of other causes
        return f" is damaged or none: {failure}; name another, or move it away to begin a new one"
    return f": {failure}"
