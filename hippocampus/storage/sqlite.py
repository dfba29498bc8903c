"""SQLite files that several processes open at once: with a write-ahead log, and private.

A file that is missing, damaged, or locked for longer than `BUSY_SECONDS` is a `sqlite3.Error`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

from hippocampus.errors import DamageError, StoreError
from hippocampus.storage import files
from hippocampus.storage.deadline import left, spend

FAILURES = (OSError, sqlite3.Error, UnicodeDecodeError)
"""What a damaged file raises; the last where the message of SQLite has damaged bytes in it."""
PRIMARY = 0xFF
"""The bits of an error by which SQLite names its kind."""
UNREADABLE = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ}
"""Errors of a disk that are of the file's content."""
UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_PROTOCOL,  # of the locks of a log, which many processes open at once
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_NOMEM,
}
"""Errors of a lock, a disk or a right, whatever the file has in it."""
BUSY_SECONDS = 10.0
"""How long a statement waits for a lock of another process."""
QUEUE_SECONDS = 2.0
"""How long a thread waits for several others of its process that write one after the other: of fifty on a
busy machine one waited for a second."""
HOLD_SECONDS = 0.5
"""How long it waits for a single one at least: of fifty none held the lock for a quarter of it, until a disk
was slow."""
MAX_POLL_SECONDS = 0.006
"""One of many writers asks again at a random moment until then: the same on average for all."""
IN_MEMORY = ":memory:"
MAX_LOG_PAGES = 4_000
"""A log of this length, 16 MB, is written into the file by each commit until none comes in between.

With the 1,000 pages of SQLite's default, half of the commits of eight writers wait for the disk.
"""
SHRUNK_PAGES = 64
"""The pages that are given back at once; fewer wait for new rows."""


class _Writers:
    """The threads of this process that write to a file: the others sleep, and do not ask SQLite."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocked_seconds = 0.0
        """How long they have waited for other processes, one after the other."""
        self._since = 0.0
        """When the last one got the lock."""

    def acquire(self, seconds: float) -> bool:
        """Wait for the lock, for some seconds at most for each that has it; return whether it is held."""
        queued = time.monotonic()
        until = queued + max(seconds, QUEUE_SECONDS)

        def ends() -> float:
            return min(until, max(queued, self._since) + seconds)

        while not self.lock.acquire(timeout=max(0.0, ends() - time.monotonic())):
            if time.monotonic() >= ends():  # the lock is still that of the same thread
                return False
        self._since = time.monotonic()
        return True


@functools.lru_cache(maxsize=256)
def _writers_of(_path: Path) -> _Writers:
    """Return the writers to a file; a path that was forgotten has others, which SQLite keeps apart."""
    return _Writers()


if hasattr(os, "register_at_fork"):  # a child has none of the threads that hold them
    os.register_at_fork(after_in_child=_writers_of.cache_clear)


def connected(path: Path | str) -> sqlite3.Connection:
    """Open a file for reading and writing, created where it is missing, with a write-ahead log.

    Only its owner may read it. `:memory:` is a file of only this connection. The connection may be
    used from any thread, one at a time.

    Raises:
        OSError: the file or its folder cannot be created.
    """
    if str(path) != IN_MEMORY:
        files.private_folder(Path(path).parent)
        files.create_file(Path(path), _empty_database())
    is_immutable = is_fixed(Path(path))
    db = sqlite3.connect(
        _fixed(Path(path)) if is_immutable else path,
        timeout=left(BUSY_SECONDS),
        isolation_level=None,
        check_same_thread=False,
        uri=is_immutable,
    )
    try:
        # SQLite may wait for no lock when it changes to a write-ahead log, with which readers do not
        # wait for a writer: some processes that create a file together have to ask again.
        begin = functools.partial(_is_run, db, "PRAGMA journal_mode = WAL")
        with in_turn(None, begin, BUSY_SECONDS):
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA wal_autocheckpoint = {MAX_LOG_PAGES}")
    except BaseException:
        db.close()
        raise
    return db


@functools.cache
def _empty_database() -> bytes:
    """Return the bytes of a database without a table.

    A file that is made with them is never empty, so an empty one has lost its content.
    """
    with contextlib.closing(sqlite3.connect(IN_MEMORY)) as db:
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute("VACUUM")
        return db.serialize()


def shrink(db: sqlite3.Connection) -> None:
    """Give pages that deleted rows have left back to the disk, in steps between which others write.

    The log is written into the file too, for which no turn has to wait then.
    """
    (free,) = db.execute("PRAGMA freelist_count").fetchone()
    for _ in range(free // SHRUNK_PAGES):
        db.executescript(
            f"PRAGMA incremental_vacuum({SHRUNK_PAGES})"
        )  # `execute` stops at one page
    db.execute("PRAGMA wal_checkpoint(PASSIVE)")


def wipe(db: sqlite3.Connection) -> None:
    """Leave nothing of deleted rows on the disk: `secure_delete` overwrote their pages, the log has them.

    Raises:
        TimeoutError: another connection reads the log for longer than `BUSY_SECONDS`.
    """
    shrink(db)
    (is_read, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if is_read:
        raise TimeoutError("a process reads the log, which has what was deleted: try again")


@contextlib.contextmanager
def transaction(
    db: sqlite3.Connection, path: Path | str, *, is_synced: bool = False
) -> Iterator[None]:
    """Write all statements of the block to the file of a path, or none where anything fails, the commit too.

    It waits for other processes with the same chance as they have. SQLite's own wait grows to a tenth
    of a second a try: the writer that has waited longest asks least often, and some time out while
    others go first again and again. The limit of the thread counts, if it has one.

    One that `is_synced` is on the disk when it ends. The others write meanwhile: `synchronous = FULL`
    would let them wait for the disk too.
    """
    file = None if str(path) == IN_MEMORY else Path(path)
    db.execute("PRAGMA busy_timeout = 0")  # a transaction that has begun meets no lock
    try:
        with in_turn(file, functools.partial(_is_run, db, "BEGIN IMMEDIATE"), BUSY_SECONDS):
            try:
                yield
                db.execute("COMMIT")
            except BaseException:
                if db.in_transaction:  # SQLite ends it itself where the disk is full
                    db.execute("ROLLBACK")
                raise
        if is_synced and file:
            with contextlib.suppress(FileNotFoundError), with_logs(file)[1].open("r+b") as log:
                os.fsync(log.fileno())
    finally:
        db.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1_000)}")


@contextlib.contextmanager
def in_turn(path: Path | None, begin: Callable[[], bool], patience: float) -> Iterator[None]:
    """Write in a block while no other thread of this process writes to a file, nor another process.

    `begin` returns whether no other process holds the lock, and is asked again for `patience` seconds
    at most, or up to the limit of the thread. No path is a file that nothing else writes to.

    Raises:
        OSError: another process, or one thread of this one, holds the lock for longer.
    """
    writers = _writers_of(path) if path else _Writers()
    seconds, before, queued = left(patience), writers.blocked_seconds, time.monotonic()
    is_held = writers.acquire(seconds and max(seconds, HOLD_SECONDS))
    try:
        # Of the time in the queue only that counts in which a writer before this one was blocked: fifty
        # threads on a busy machine wait longer for each other than a turn may wait for a process. One
        # that writes for long is waited for as another process is.
        asked, waited = time.monotonic(), 0.0
        counted = asked - queued
        if is_held:
            counted = min(counted, writers.blocked_seconds - before)
        try:
            while not begin():
                waited = time.monotonic() - asked
                if counted + waited > seconds:
                    raise OSError(errno.EAGAIN, "held by another writer")
                import random  # only those that wait need it

                time.sleep(random.uniform(0, MAX_POLL_SECONDS))  # noqa: S311 - no secret
        finally:
            writers.blocked_seconds += waited
            spend(counted + waited)
        yield
    finally:
        if is_held:
            writers.lock.release()


def _is_run(db: sqlite3.Connection, statement: str) -> bool:
    """Run a statement; return whether no lock of another process or connection has kept it from running."""
    try:
        db.execute(statement)
    except sqlite3.OperationalError as failure:
        if failure.sqlite_errorcode & PRIMARY not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise
        return False
    return True


def error_of(name: object, failure: Exception) -> StoreError:
    """Return a failure of `FAILURES` as an error: damage, or what a lock, a disk or a right prevents."""
    is_damage = isinstance(failure, UnicodeDecodeError)
    if isinstance(failure, sqlite3.Error):
        code = getattr(failure, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
        is_damage = code in UNREADABLE or code & PRIMARY not in UNAVAILABLE
    return (DamageError if is_damage else StoreError)(f"{name}: {failure}")


def reading(path: Path) -> contextlib.closing[sqlite3.Connection]:
    """Open a file only for reading in a block, and leave no log next to it that was not there before."""
    # A connection that may write removes the log when it is the last to close. Removing an empty log
    # changes nothing else; one with pages belongs to a process that runs or has crashed, and stays.
    mode = "ro" if _has_pages(with_logs(path)[1]) else "rw"
    address = _fixed(path) if is_fixed(path) else f"file:{quote(os.fsencode(path))}?mode={mode}"
    seconds = left(BUSY_SECONDS)
    db = sqlite3.connect(
        address, timeout=seconds, isolation_level=None, uri=True, check_same_thread=False
    )
    db.execute("PRAGMA query_only = 1")
    return contextlib.closing(db)


def is_fixed(path: Path) -> bool:
    """Return whether a file is whole, and in a folder that cannot be written, such as a backup's mount.

    SQLite makes an index of the log there, though nothing is in the log, and cannot.
    """
    _, log, index = with_logs(path)
    is_whole = path.exists() and not index.exists() and not _has_pages(log)
    return is_whole and not is_writable(path.parent)


def _has_pages(log: Path) -> bool:
    """Return whether a log has pages; the last connection to close may remove it at any moment."""
    with contextlib.suppress(FileNotFoundError):
        return log.stat().st_size > 0
    return False


def _fixed(path: Path) -> str:
    """Return the address of a file that nothing writes to."""
    return f"file:{quote(os.fsencode(path))}?mode=ro&immutable=1"


def version(path: Path) -> tuple[object, ...]:
    """Return what differs once another account has written to a file, or has begun to."""
    found = path.stat()
    return found.st_mtime_ns, found.st_size, *map(Path.exists, with_logs(path)[1:])


def is_writable(path: Path | str) -> bool:
    """Return whether this process may write to a file, or into a folder."""
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def is_open(path: Path) -> bool:
    """Return whether a process has a file open for writing; a log that a crash left is removed.

    Every connection to a file with a write-ahead log holds a lock on it all the time.
    """
    if not path.with_name(f"{path.name}-shm").exists():
        return False
    with contextlib.closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as db:
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        return not _is_run(db, "BEGIN EXCLUSIVE")


def with_logs(path: Path) -> tuple[Path, Path, Path]:
    """Return the files of a database: itself, its log and the log's index."""
    return path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def remove_database(path: Path) -> None:
    """Remove a database with its log."""
    for file in with_logs(path):
        file.unlink(missing_ok=True)
