"""Copies what can be read of a damaged database into a new one, row by row.

A damaged page hides the rows on it, and those alone: rows before and after it are found by their numbers.
Where the list of tables is damaged, that of a new database stands in: every file has the same tables, made in
the same order, and so at the same places.
"""

from __future__ import annotations

import contextlib
import gc
import math
import shutil
import sqlite3
import struct
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from diskcache.core import DBNAME

from hippocampus.errors import DamageError, StoreError
from hippocampus.storage import schema, sqlite
from hippocampus.storage.content_store import DiskStore

MAX_TRIED = 100_000
"""The numbers that are tried after a row, one by one, where not even the last row can be read."""
DAMAGED = ".damaged"
"""The suffix of a damaged file that is set aside; its words may still be read by hand."""
PAGE_BYTES_AT, HEADER_BYTES, PAGES_AT, INTERIOR_PAGE = 16, 100, 28, 5
"""Of the file format of SQLite: https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6."""
PAGE_HEADER = struct.Struct(">BHHHBI")
"""The kind of a page, the first free block, the number of cells, their start, free bytes, and the last page under it."""
OF_FILES = {"migration", "Settings"}
"""Tables that a new file has its own rows in."""
Make = Callable[[Path | str], sqlite3.Connection]
"""Opens a new database with its tables."""
COLUMNS = """
    SELECT found.name, field.name FROM pragma_table_list AS found
    JOIN pragma_table_xinfo(found.name) AS field
    WHERE found.schema = 'main' AND found.type = 'table' AND found.name NOT LIKE 'sqlite%'
        AND field.hidden = 0
    ORDER BY found.name, field.cid
"""
NAMES = "SELECT number, name FROM session INDEXED BY sqlite_autoindex_session_1"
NAMED = "INSERT OR IGNORE INTO session (number, name, active_at) VALUES (?, ?, 0)"
MENDED = """
    INSERT INTO session (number, name, active_at)
    SELECT DISTINCT session, 'recovered-' || session, 0
    FROM (SELECT session FROM entry UNION SELECT session FROM conversation)
    WHERE session NOT IN (SELECT number FROM session);
    UPDATE conversation SET list = '';
    UPDATE memory SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT id FROM memory);
    INSERT INTO memory_text (memory_text) VALUES ('rebuild')
"""
"""A session of which only rows are left gets a name, and its next turn reads the lines that are left; a memory
that a lost one had superseded stays in the past."""
OF_SESSIONS = {
    "entry": ("entry_of_session", "entries"),
    "call": ("sqlite_autoindex_call_1", "calls"),
    "conversation": ("sqlite_autoindex_conversation_1", "conversation's parts"),
}
"""The index by which a table finds the rows of a session, on pages of its own, and what they are."""


def lost(path: Path) -> list[str]:
    """Return what `salvage` would not save of a state's database, as far as that is known.

    Raises:
        StoreError: a lock, a full disk or a missing right keeps it from being read.
    """
    try:
        return _copied(path, sqlite.IN_MEMORY)
    except DamageError:
        return ["nothing of it can be read"]


def salvage_contents(folder: Path) -> None:
    """Replace a damaged store of payloads with those that can be read, as `salvage` does."""
    salvage(folder / DBNAME, _new_store)


def salvage(path: Path, make: Make = schema.migrated) -> None:
    """Replace a damaged database with what can be read of it; the damaged file stays next to it.

    Where nothing can be read, the next use makes an empty one.

    Raises:
        StoreError: a process has it open, or the new file cannot be written.
        OSError: it cannot be replaced.
    """
    half, is_readable = path.with_name(f".{path.name}.tmp"), True
    sqlite.remove_database(half)
    try:
        try:
            _copied(path, half, make)
        except DamageError:
            is_readable = False
        gc.collect()  # a connection that diskcache has left open as it failed is closed
        with contextlib.suppress(sqlite3.Error):  # a file that SQLite cannot read is open nowhere
            if sqlite.is_open(path):
                raise StoreError(f"{path} is open in another process: close its session first")
        for file in sqlite.with_logs(path):
            if file.exists():
                file.replace(file.with_name(f"{file.name}{DAMAGED}"))
        if is_readable:
            half.replace(path)
    finally:
        sqlite.remove_database(half)


def _copied(path: Path, made: Path | str, make: Make = schema.migrated) -> list[str]:
    """Copy all rows that can be read into a new database; return the known losses."""
    try:
        with contextlib.closing(make(made)) as new, _opened(path, make) as old:
            new.execute("PRAGMA foreign_keys = OFF")  # rows come in the order of their tables
            with sqlite.transaction(new, made):
                found = _copy_rows(old, new)
                if make is schema.migrated:
                    found += _mended(old, new)
            if made != sqlite.IN_MEMORY:
                new.execute("PRAGMA journal_mode = DELETE")
    except sqlite.FAILURES as failure:
        raise sqlite.error_of(path, failure) from failure
    return found


def _mended(old: sqlite3.Connection, new: sqlite3.Connection) -> list[str]:
    """Mend the references between the rows of a state; return what its sessions have lost."""
    with contextlib.suppress(sqlite3.DatabaseError):
        new.executemany(NAMED, old.execute(NAMES))
    for statement in MENDED.split(";"):
        new.execute(statement)
    for table in columns_of(new):
        for key in new.execute(f"PRAGMA foreign_key_list({table})").fetchall():
            _, _, parent, column, other, *_ = key
            new.execute(f"DELETE FROM {table} WHERE {column} NOT IN (SELECT {other} FROM {parent})")
    names = dict(new.execute("SELECT number, name FROM session"))
    found = []
    for table, (index, words) in OF_SESSIONS.items():
        rows = f"SELECT session FROM {table}"
        gone = _counted(old, f"{rows} INDEXED BY {index}") - _counted(new, rows)
        found += [
            f"session {names.get(number, number)!r} has lost {count} of its {words}"
            for number, count in sorted(gone.items())
        ]
    return found


def _copy_rows(old: sqlite3.Connection, new: sqlite3.Connection) -> list[str]:
    """Copy the rows of all tables of a new database; return sentences on those with unread ones."""
    found, tables = [], columns_of(old)
    for table, columns in columns_of(new).items():
        if table in OF_FILES or tables.get(table) != columns:
            continue
        new.execute(f"DELETE FROM {table}")
        names, values = ", ".join(columns), ", ".join("?" * len(columns))
        unread: list[float] = []
        into = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({values})"
        new.executemany(into, _rows(old, table, names, unread))
        if unread:
            most = f"up to {sum(unread)}" if sum(unread) < math.inf else "some"
            found.append(f"{most} rows of the table {table} cannot be read")
    return found


def _counted(db: sqlite3.Connection, rows: str) -> Counter[int]:
    """Count rows by their session, as far as they can be read."""
    found: Counter[int] = Counter()
    with contextlib.suppress(sqlite3.DatabaseError):
        found.update(session for (session,) in db.execute(rows))
    return found


def _new_store(path: Path | str) -> sqlite3.Connection:
    with tempfile.TemporaryDirectory(dir=Path(path).parent, prefix=".") as folder:
        with contextlib.closing(DiskStore(Path(folder))) as store:
            store.open()
        (Path(folder) / DBNAME).replace(path)
    return sqlite3.connect(path, isolation_level=None)


@contextlib.contextmanager
def _opened(path: Path, make: Make) -> Iterator[sqlite3.Connection]:
    """Open the file at `path`, or a copy that has the list of tables of a new one that `make` makes."""
    copy = path.with_name(f".{path.name}.copy")
    listed = copy.with_suffix(".new")
    try:
        with contextlib.closing(make(listed)) as new:
            tables = columns_of(new)
        if not _is_listed(path, tables):
            _copy_with_list(path, copy, listed.read_bytes())
            path = copy
            if not _is_listed(path, tables):
                raise DamageError(f"{path}: none of its tables can be read")
        with contextlib.closing(sqlite3.connect(path)) as db:
            yield db
    finally:
        sqlite.remove_database(copy)
        sqlite.remove_database(listed)


def _copy_with_list(path: Path, copy: Path, pattern: bytes) -> None:
    """Copy a database with the list of tables of another one."""
    for ours, theirs in zip(sqlite.with_logs(path)[:2], sqlite.with_logs(copy)[:2], strict=True):
        if ours.is_file():  # a device has no end
            shutil.copyfile(ours, theirs)
    (size,) = struct.unpack_from(">H", pattern, PAGE_BYTES_AT)
    with copy.open("r+b") as file:
        for number in _pages_of_tables(pattern):
            file.seek(size * number)
            file.write(pattern[size * number : size * (number + 1)])
        file.seek(PAGES_AT)  # the number of pages, and no free ones
        file.write(struct.pack(">III", path.stat().st_size // size, 0, 0))


def columns_of(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """Return the columns of the tables of a file, without generated ones."""
    columns: dict[str, tuple[str, ...]] = {}
    for table, column in db.execute(COLUMNS):
        columns[table] = (*columns.get(table, ()), column)
    return columns


def _is_listed(path: Path, tables: Iterable[str]) -> bool:
    """Return whether a file lists its tables, so that one of them can be read."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        for table in tables:
            with contextlib.suppress(sqlite3.DatabaseError):
                db.execute(f"SELECT 1 FROM {table}").fetchone()
                return True
    return False


def _pages_of_tables(content: bytes) -> list[int]:
    """Return the numbers, from 0 on, of the pages of the list of tables: the first, and those under it."""
    kind, _, count, _, _, last = PAGE_HEADER.unpack_from(content, HEADER_BYTES)
    if kind != INTERIOR_PAGE:
        return [0]
    places = struct.unpack_from(f">{count}H", content, HEADER_BYTES + PAGE_HEADER.size)
    return [0, last - 1, *(struct.unpack_from(">I", content, place)[0] - 1 for place in places)]


def _rows(
    db: sqlite3.Connection, table: str, columns: str, unread: list[float]
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table that can be read, and add to `unread` how many others each gap has at most."""
    numbered = f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid >= ? ORDER BY rowid"
    start, last = 0, None
    with contextlib.suppress(sqlite3.DatabaseError):
        last = db.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0
    tried: float = 0  # since the last row that could be read
    while start <= last if last is not None else tried < MAX_TRIED:
        try:
            for number, *row in db.execute(numbered, (start,)):
                unread += [tried] if tried else []
                start, tried = number + 1, 0
                yield tuple(row)
        except sqlite3.DatabaseError:
            start, tried = start + 1, tried + 1
        else:
            break
    else:
        tried = tried if last is not None else math.inf
    unread += [tried] if tried else []
