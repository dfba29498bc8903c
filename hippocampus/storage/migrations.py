"""How a SQLite file gets its tables, and how an older file gets those that came later.

The only module that runs a migration. Which tables a file has is listed where they are used.
"""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage.sqlite import connected, transaction

TableColumns = Mapping[str, tuple[str, ...]]
"""The columns of each table, by its name."""
RECORD = "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT)"
COLUMNS = """
    SELECT found.name, field.name FROM pragma_table_list AS found
    JOIN pragma_table_xinfo(found.name) AS field
    WHERE found.schema = 'main' AND found.type = 'table' AND found.name NOT LIKE 'sqlite%'
        AND field.hidden = 0
    ORDER BY found.name, field.cid
"""


class LaterVersionError(StoreError):
    """A file has tables that this version does not know."""


class Migration(NamedTuple):
    """One change of the tables; once it has shipped it is never edited."""

    name: str
    script: str
    """SQL statements with `;` between them."""


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of file."""

    kind: str
    """What an error calls such a file."""
    migrations: tuple[Migration, ...]
    """Append-only. Each runs once, in one transaction with its row in the table `migration`."""


def migrate(db: sqlite3.Connection, path: str, schema: Schema) -> None:
    """Bring a file up to date; of two processes that open it at once, one does the work.

    Raises:
        LaterVersionError: the file is of a later version.
        StoreError: it is of another kind, or has other columns.
        sqlite3.Error: it is locked, full or damaged.
    """
    if db.execute("PRAGMA user_version").fetchone()[0] == _stamp(db, schema):
        (count,) = db.execute("SELECT count(*) FROM migration").fetchone()
        if count == len(schema.migrations):
            return
    known = len(applied(db, path, schema))
    if known < len(schema.migrations) or "migration" not in columns_of(db):
        with transaction(db):
            names = applied(db, path, schema)
            if "migration" not in columns_of(db):
                db.execute(RECORD)
                db.executemany("INSERT INTO migration VALUES (?, ?)", enumerate(names))
            for number, each in enumerate(schema.migrations[len(names) :], len(names)):
                _run(db, each.script)
                db.execute("INSERT INTO migration VALUES (?, ?)", (number, each.name))
            db.execute(f"PRAGMA user_version = {_stamp(db, schema)}")
    found = columns_of(db)
    for table, columns in _versions(schema)[-1].items():
        if found.get(table) != columns:
            has = f"the columns {', '.join(found[table])}" if table in found else "no columns"
            raise StoreError(
                f"{schema.kind} {path}: its table {table!r} has {has}, and not "
                f"{', '.join(columns)}: the checkout that wrote it exports it (hippocampus store export, "
                "hippocampus memory export); or restore a backup, or move it away to begin a new one"
            )


def _stamp(db: sqlite3.Connection, schema: Schema) -> int:
    """Return the number of a file with these tables that no statement has changed since.

    Where a file has it, opening compares no columns, which takes as long as a search.
    """
    (changes,) = db.execute("PRAGMA schema_version").fetchone()
    return zlib.crc32(f"{changes} {schema.migrations}".encode()) >> 1


def migrated(path: Path | str, schema: Schema, synchronous: str = "NORMAL") -> sqlite3.Connection:
    """Open a file with its tables up to date; it raises what `connected` and `migrate` do."""
    db = connected(path, synchronous=synchronous)
    try:
        migrate(db, str(path), schema)
    except BaseException:
        db.close()
        raise
    return db


def applied(db: sqlite3.Connection, path: str, schema: Schema) -> list[str]:
    """Return the names of the migrations that a file has seen.

    Raises:
        LaterVersionError: the file is of a later version.
        StoreError: it is of another kind.
    """
    known = [each.name for each in schema.migrations]
    columns = columns_of(db)
    if not columns:
        return []
    names = []
    if "migration" in columns:
        names = [name for (name,) in db.execute("SELECT name FROM migration ORDER BY number")]
    if names[:1] != known[:1] and (names or "migration" not in columns):
        raise StoreError(f"{schema.kind} {path}: a SQLite file of something else; name another")
    if names != known[: len(names)]:
        raise LaterVersionError(
            f"{schema.kind} {path} was written by a later version of hippocampus: upgrade "
            "hippocampus, or name another file or state directory"
        )
    return names


def _run(db: sqlite3.Connection, script: str) -> None:
    for statement in script.split(";"):  # `executescript` would commit what came before it
        db.execute(statement)


def columns_of(db: sqlite3.Connection) -> TableColumns:
    """Return the columns of the tables of a file, without generated ones."""
    columns: dict[str, tuple[str, ...]] = {}
    for table, column in db.execute(COLUMNS):
        columns[table] = (*columns.get(table, ()), column)
    return columns


@functools.cache
def _versions(schema: Schema) -> list[TableColumns]:
    """Return the columns of a file after each migration."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        found = []
        for each in schema.migrations:
            _run(db, each.script)
            found.append(columns_of(db))
        return found
