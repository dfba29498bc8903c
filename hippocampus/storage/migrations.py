"""How a SQLite file gets its tables, and how an older file gets those that came later.

The only module that runs a migration. Which tables a file has is in `schema`.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from hippocampus.errors import StoreError
from hippocampus.storage.schema import SCRIPTS
from hippocampus.storage.sqlite import FAILURES, connected, reading, transaction

RECORD = "CREATE TABLE IF NOT EXISTS migration (number INTEGER PRIMARY KEY, name TEXT)"
TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table'"


def name_of(script: str) -> str:
    """Return the name under which a script is known to have run: a hash of its SQL without comments."""
    text = " ".join(re.sub(r"--.*", "", script).split())
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def migrate(db: sqlite3.Connection, path: str, scripts: Sequence[str] = SCRIPTS) -> None:
    """Bring a file up to date, if `applied` accepts it; of two processes at once, one does the work."""
    if len(applied(db, path, scripts)) == len(scripts):
        return
    with transaction(db):
        done = len(applied(db, path, scripts))
        db.execute(RECORD)
        for number, script in enumerate(scripts[done:], done):
            for statement in script.split(";"):  # `executescript` would commit what came before it
                db.execute(statement)
            db.execute("INSERT INTO migration VALUES (?, ?)", (number, name_of(script)))


def migrated(path: Path | str, *, is_shared: bool = False) -> sqlite3.Connection:
    """Open a file with its tables up to date; one that `is_shared` may have tables of a host's.

    It raises what `connected` and `migrate` do.
    """
    db = connected(path)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        if is_shared:
            db.execute(RECORD)
        migrate(db, str(path))
    except BaseException:
        db.close()
        raise
    return db


def is_state(path: Path) -> bool:
    """Return whether a file is the database of a state, under any name."""
    if not path.is_file():
        return False
    try:
        with reading(path) as db:
            return bool(applied(db, str(path)))
    except (StoreError, *FAILURES):
        return False


def applied(db: sqlite3.Connection, path: str, scripts: Sequence[str] = SCRIPTS) -> list[str]:
    """Return the names of the scripts that a file has seen.

    Raises:
        StoreError: it is of another kind or a later version, or has tables that were never released.
    """
    known = [name_of(script) for script in scripts]
    tables = {name for (name,) in db.execute(TABLES)}
    if not tables:
        return []
    if "migration" not in tables:
        raise StoreError(f"state {path}: a SQLite file of something else; name another")
    names = [name for (name,) in db.execute("SELECT name FROM migration ORDER BY number")]
    if names == known[: len(names)]:
        return names
    if names[: len(known)] == known:
        raise StoreError(
            f"state {path} was written by a later version of hippocampus: upgrade "
            "hippocampus, or name another file or state directory"
        )
    raise StoreError(
        f"state {path} has the tables of another checkout, which exports it (hippocampus store "
        "export, hippocampus memory export); or move it away to begin a new one"
    )
