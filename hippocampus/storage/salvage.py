"""Copies what can be read of a damaged database into a new one, row by row.

A damaged page hides the rows on it, and those alone: rows before and after it are found by their numbers.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage import migrations, sqlite
from hippocampus.storage.schema import SCHEMA
from hippocampus.storage.state_dir import StateDir

MAX_NUMBER = 1 << 40
"""No table has a row with a larger number."""
DAMAGED = ".damaged"
"""The suffix of a damaged file that is set aside; its words may still be read by hand."""
NAMELESS = """
    INSERT INTO session (number, name, active_at)
    SELECT DISTINCT session, 'recovered-' || session, 0 FROM entry
    WHERE session NOT IN (SELECT number FROM session)
"""
LOST = """
    SELECT name, count(DISTINCT entry_id) FROM decision JOIN session ON session.number = decision.session
    WHERE NOT EXISTS (
        SELECT 1 FROM entry WHERE entry.session = decision.session AND entry.id = decision.entry_id
    )
    GROUP BY name ORDER BY name
"""


def lost(state: StateDir) -> list[str]:
    """Return what `salvage` would not save, as far as that is known.

    Raises:
        StoreError: nothing can be read.

    """
    return _copied(state.database, sqlite.IN_MEMORY)


def salvage(state: StateDir) -> None:
    """Replace a damaged database with what can be read of it; the damaged file stays next to it.

    Where nothing can be read, the next use makes an empty one.

    Raises:
        StoreError: a process has it open, or the new file cannot be written.
        OSError: it cannot be replaced.

    """
    path = state.database
    half = path.with_name(f".{path.name}.tmp")
    sqlite.remove_database(half)
    is_readable = True
    try:
        _copied(path, half)
    except StoreError:
        is_readable = False
    set_aside(path)
    if is_readable:
        half.replace(path)
    sqlite.remove_database(half)


def set_aside(path: Path) -> None:
    """Rename a damaged file, with its log, so that a new one is made.

    Raises:
        StoreError: a process has it open.
        OSError: it cannot be renamed.

    """
    with contextlib.suppress(sqlite3.Error):  # a file that SQLite cannot read is open nowhere
        if sqlite.is_open(path):
            raise StoreError(f"{path} is open in another process: close its session first")
    for each in sqlite.with_logs(path):
        if each.exists():
            each.replace(each.with_name(f"{each.name}{DAMAGED}"))


def _copied(path: Path, made: Path | str) -> list[str]:
    """Copy all rows that can be read into a new database; return what is known to be lost."""
    found = []
    try:
        with (
            contextlib.closing(migrations.migrated(made, SCHEMA)) as new,
            contextlib.closing(sqlite3.connect(path)) as old,
        ):
            tables = migrations.columns_of(old)
            if "session" not in tables:
                raise StoreError(f"{SCHEMA.kind} {path}: none of its tables can be read")
            with sqlite.transaction(new):
                for table, columns in migrations.columns_of(new).items():
                    if table == "migration" or tables.get(table) != columns:
                        continue
                    new.execute(f"DELETE FROM {table}")
                    rows = _Rows(old, table)
                    into = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * len(columns))})"
                    new.executemany(into, rows)
                    if rows.gaps:
                        found.append(f"{rows.gaps} parts of the table {table} cannot be read")
                new.execute(NAMELESS)
            found += [f"session {name!r} has lost {n} entries" for name, n in new.execute(LOST)]
            if made != sqlite.IN_MEMORY:
                new.execute("PRAGMA journal_mode = DELETE")
    except (OSError, sqlite3.Error) as failure:
        raise StoreError(f"{SCHEMA.kind} {path}: {failure}") from failure
    return found


class _Rows:
    """The rows of a table that can be read, and how many gaps are between them."""

    def __init__(self, db: sqlite3.Connection, table: str) -> None:
        self._db = db
        self._table = table
        query = "SELECT sql FROM sqlite_schema WHERE name = ?"
        self._is_numbered = "WITHOUT ROWID" not in db.execute(query, (table,)).fetchone()[0]
        self.gaps = 0

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        if not self._is_numbered:  # these are made again
            try:
                yield from self._db.execute(f"SELECT * FROM {self._table}")
            except sqlite3.DatabaseError:
                self.gaps += 1
            return
        start: int | None = 0
        while start is not None:
            try:
                for number, *row in self._from(start):
                    yield tuple(row)
                    start = number + 1
            except sqlite3.DatabaseError:
                self.gaps += 1
                start = self._after_gap(start)
            else:
                return

    def _from(self, start: int, most: int = -1) -> sqlite3.Cursor:
        query = f"SELECT rowid, * FROM {self._table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
        return self._db.execute(f"{query} LIMIT ?", (start, most))

    def _after_gap(self, start: int) -> int | None:
        """Return the first number after a number from which on a row can be read."""
        step = 1
        while not self._is_readable(start + step):
            step *= 2
            if start + step > MAX_NUMBER:
                return None
        low, high = start + step // 2, start + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._is_readable(middle) else (middle, high)
        return high

    def _is_readable(self, start: int) -> bool:
        try:
            self._from(start, 1).fetchall()
        except sqlite3.DatabaseError:
            return False
        return True
