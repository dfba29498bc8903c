"""Files that several processes write: private, replaced whole, or held by one process at a time.

The content of a file is not known here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

MAX_WAIT_SECONDS = 10.0
"""How long to wait for another process, which holds a lock for milliseconds unless it was stopped."""
POLL_SECONDS = 0.005
MAX_QUEUE_SECONDS = 60.0
"""How long the end of a session waits for the files that people read: hundreds may end at once."""
LOCK_NAME = ".lock"
PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700
"""The modes of files and folders that no other account may read."""
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
KINDS = {stat.S_IFIFO: "pipe", stat.S_IFDIR: "folder", stat.S_IFSOCK: "socket"}
"""What else than a file may have a name; the others are devices."""
MIN_LEFT_SECONDS = 60.0
"""A temporary folder younger than this may not be locked yet by the process that made it."""


def private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, which only the owner may enter.

    A folder that is there already keeps the mode that its maker gave it.

    Raises:
        OSError: it cannot be made, or is a file.
    """
    for folder in (*reversed(path.parents), path):
        try:
            folder.mkdir(exist_ok=True, mode=PRIVATE_FOLDER)
        except FileExistsError:
            raise NotADirectoryError(f"{folder} is not a directory") from None


def private_file(path: Path) -> None:
    """Make an empty file that only its owner may read, where it is missing.

    The files that SQLite adds to a database have the database's own mode. An existing file is not
    opened: closing it would release every lock that this process has on it.

    Raises:
        OSError: it cannot be made, or is a link to a file that is missing, which would be made.
    """
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE))
    except FileExistsError:
        if not path.exists():
            raise OSError(errno.ELOOP, "a link to nothing", str(path)) from None


def create_file(path: Path, content: bytes) -> None:
    """Make a private file with its first content, where it is missing.

    It has its content from its first instant, but on a file system without hard links.

    Raises:
        OSError: as `private_file`.
    """
    if not path.exists():
        half = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
        private_file(half)
        try:
            half.write_bytes(content)
            with contextlib.suppress(OSError):
                os.link(half, path)
        finally:
            half.unlink()
        private_file(path)


def replace_file(path: Path, content: bytes, *, expected: bytes | None = None) -> bool:
    """Replace a file in one step: a crash leaves the old bytes or the new ones.

    Where other bytes than the `expected` ones are there in the end, nothing is replaced; return whether it was.
    Several writers hold a lock (see `held`): they share one name for the half-written file, so that a
    crash leaves at most one such file, until the next write.
    """
    private_folder(path.parent)
    half = path.with_name(f".{path.name}.tmp")
    half.unlink(missing_ok=True)
    try:
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # A disk may take a second for that, in which an editor saves the file.
        if expected is not None and read_file(path, follows_links=True) != expected:
            half.unlink()
            return False
        half.replace(path)
    except BaseException:
        half.unlink(missing_ok=True)
        raise
    return True


@contextlib.contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """Make a folder that is removed at the end; those of processes that were killed go with it."""
    import shutil
    import tempfile

    for left in Path(tempfile.gettempdir()).glob(f"{name}-*"):
        with contextlib.suppress(OSError):
            found = left.lstat()
            is_ours = stat.S_ISDIR(found.st_mode) and os.access(left, os.W_OK)
            if is_ours and time.time() - found.st_mtime > MIN_LEFT_SECONDS:
                with held(left / LOCK_NAME, 0):
                    shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder, held(Path(folder) / LOCK_NAME):
        yield Path(folder)


@contextlib.contextmanager
def held(path: Path, max_seconds: float | None = None) -> Iterator[None]:
    """Hold a lock file: one process, and one thread of it, at a time; a process that dies lets go.

    Raises:
        OSError: others hold it for longer than `max_seconds`, or `MAX_WAIT_SECONDS` where that is
            not given; or it is a link.
    """
    import filelock  # heavy, and only those who write need it

    private_folder(path.parent)
    lock = filelock.FileLock(path, mode=PRIVATE_FILE, poll_interval=POLL_SECONDS)
    seconds = MAX_WAIT_SECONDS if max_seconds is None else max_seconds
    try:
        lock.acquire(seconds)
    except TimeoutError as failure:
        reason = f"held by another process for {seconds:g} seconds"
        raise OSError(errno.EAGAIN, reason, lock.lock_file) from failure
    try:
        yield
    finally:
        lock.release()


def read_file(path: Path, *, follows_links: bool = False) -> bytes:
    """Return the bytes of a file; nothing for a missing one.

    Raises:
        OSError: it cannot be read, or is no file, or a link where these are not followed.
    """
    try:
        descriptor = opened(path, os.O_RDONLY | (0 if follows_links else NO_LINK))
    except FileNotFoundError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        return file.read()


def opened(path: Path, flags: int) -> int:
    """Open a file, and nothing that one would wait for, such as a pipe without a writer.

    Raises:
        OSError: it cannot be opened, or is no file.
    """
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0), PRIVATE_FILE)
    kind = stat.S_IFMT(os.fstat(descriptor).st_mode)
    if kind != stat.S_IFREG:
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"no regular file but a {KINDS.get(kind, 'device')}", str(path))
    return descriptor
