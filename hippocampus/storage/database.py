"""The database of a state directory: opened for writing or for reading, and who has a session open.

Which tables it has is in `schema`; what they mean is not known here.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from hippocampus.entries.text import MARK_CHARACTERS
from hippocampus.errors import StoreError
from hippocampus.storage import files, migrations, sqlite
from hippocampus.storage.schema import SCHEMA
from hippocampus.storage.state_dir import StateDir

EARLIER = ("memory.sqlite3", "sessions/*.sqlite3", "tombstones.sqlite3", "proxy.sqlite3")
"""Files of state directories from before there was one database."""
FOREIGN_SECONDS = 86_400.0
"""A session that a process of another machine has opened counts as open for this long after its last
change: whether that process still runs is not known here."""


def connected(state: StateDir) -> sqlite3.Connection:
    """Open the database for writing, and make it where it is missing.

    Raises:
        OSError: the file or its folder cannot be created.
        StoreError: the directory was written by an earlier or a later version.
        sqlite3.Error: the file is damaged, or locked for longer than `sqlite.BUSY_SECONDS`.
    """
    return opened_at(state.database)


def opened_at(
    path: Path | str, *, synchronous: str = "NORMAL", is_shared: bool = False
) -> sqlite3.Connection:
    """Open a database by its path, as `connected` does; a lone fact store has the same tables.

    One that `is_shared` may have tables of a host's, made before ours.
    """
    if path != sqlite.IN_MEMORY:
        _refuse_earlier(Path(path))
    db = sqlite.connected(path, synchronous=synchronous)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA secure_delete = ON")
        if is_shared:
            db.execute(migrations.RECORD)
        migrations.migrate(db, str(path), SCHEMA)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_earlier(path: Path) -> None:
    state = StateDir(path.parent)
    if path == state.database and not path.exists():
        left = next((path for name in EARLIER for path in state.root.glob(name)), None)
        if left is not None:
            raise StoreError(
                f"state directory {state.root} is of an earlier version, which wrote {left.name}: name "
                "another directory; `hippocampus store entries` and `hippocampus memory export` of that "
                "version export what it has"
            )


@contextlib.contextmanager
def opened(state: StateDir) -> Iterator[sqlite3.Connection]:
    """Open the database for one piece of work.

    Raises:
        StoreError: it cannot be read or written.
    """
    with as_store_error(state), contextlib.closing(connected(state)) as db:
        yield db


@contextlib.contextmanager
def reading(state: StateDir) -> Iterator[sqlite3.Connection]:
    """Open the database for reading; where there is none, it is empty and no file is made.

    Raises:
        StoreError: it cannot be read.
    """
    with as_store_error(state):
        _refuse_earlier(state.database)
        if state.database.exists():
            with sqlite.reading(state.database) as db:
                if migrations.applied(db, str(state.database), SCHEMA):
                    yield db
                    return
        with contextlib.closing(migrations.migrated(sqlite.IN_MEMORY, SCHEMA)) as db:
            yield db


def has_facts(state: StateDir) -> bool:
    """Return whether the database has facts, memories or blocks.

    Raises:
        StoreError: it cannot be read.
    """
    if not state.database.exists():
        return False
    query = "SELECT EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM block)"
    with reading(state) as db:
        return bool(db.execute(query).fetchone()[0])


def backup(state: StateDir, path: Path) -> None:
    """Write a copy of the database to a new file; others may write meanwhile.

    Raises:
        StoreError: it cannot be read, or the file cannot be written.
    """
    with opened(state) as db:
        files.private_file(path)
        db.execute("VACUUM INTO ?", (str(path),))


@contextlib.contextmanager
def as_store_error(state: StateDir) -> Iterator[None]:
    """Raise `StoreError` where SQLite or the disk fails."""
    try:
        yield
    except sqlite.FAILURES as failure:
        if isinstance(failure, sqlite3.ProgrammingError) and "closed" in str(failure):
            raise StoreError(
                "the session is closed; memory.session(id) opens it again"
            ) from failure
        raise StoreError(f"{SCHEMA.kind} {state.database}: {failure}") from failure


# Who has a session open


def new_holder() -> str:
    """Return a name for one opening of a session by this process."""
    return f"{_host()}:{os.getpid()}:{os.urandom(4).hex()}"


def new_mark() -> str:
    """Return letters that open the ids of a state's entries, which no payload can know."""
    import base64

    return base64.b32encode(os.urandom(5)).decode().lower()[:MARK_CHARACTERS]


def is_held(holder: str, active_at: float) -> bool:
    """Return whether the process that opened a session runs, where the session was last active then."""
    host, process, _ = holder.rsplit(":", 2)
    if host != _host() or os.name != "posix":
        return time.time() - active_at < FOREIGN_SECONDS
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _host() -> str:
    import socket

    return socket.gethostname()
