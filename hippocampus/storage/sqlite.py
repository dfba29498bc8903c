"""SQLite's write-ahead log, for every file that several processes may open at once."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

PAUSE_SECONDS = 0.01


def use_write_ahead_log(db: sqlite3.Connection, busy_seconds: float) -> None:
    """Let a file have a write-ahead log, which lets readers read while somebody writes.

    SQLite may wait for no lock when it changes to that log, whatever the connection's time limit,
    so of processes that make a file together some have to ask again.

    Raises:
        sqlite3.OperationalError: the file was locked for longer than `busy_seconds`.

    """
    until = time.monotonic() + busy_seconds
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_SECONDS)
        else:
            return


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Write all of what follows, or none of it where anything fails, the commit too.

    Raises:
        sqlite3.Error: the file is locked, full or damaged.

    """
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:  # SQLite ends it itself where the disk is full
            db.execute("ROLLBACK")
        raise


@contextlib.contextmanager
def reading(path: Path, busy_seconds: float) -> Iterator[sqlite3.Connection]:
    """Open a file for reading alone, and leave no log beside it that was not there before.

    Raises:
        sqlite3.Error: the file is not there, damaged, or locked for longer than `busy_seconds`.

    """
    # Whoever may write and closes a file last takes its log away. Of an empty log that changes
    # nothing else; one that holds something is somebody's who runs or has crashed, and stays.
    mode = "ro" if _log_bytes(path) else "rw"
    address = f"file:{quote(str(path))}?mode={mode}"
    with contextlib.closing(sqlite3.connect(address, timeout=busy_seconds, uri=True)) as db:
        db.execute("PRAGMA query_only = 1")
        yield db


def written_at_ns(path: Path) -> int:
    """Return when a file was last written, its log included, in nanoseconds since 1970.

    Raises:
        OSError: the file is not there.

    """
    written = path.stat().st_mtime_ns
    with contextlib.suppress(FileNotFoundError):
        log = _log_of(path).stat()
        return max(written, log.st_mtime_ns) if log.st_size else written
    return written


def _log_bytes(path: Path) -> int:
    try:
        return _log_of(path).stat().st_size
    except FileNotFoundError:
        return 0


def _log_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
