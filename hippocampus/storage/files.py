"""Files that several processes write: private, replaced whole, or held by one of them at a time.

What is in a file is not known here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

PATIENCE_SECONDS = 10.0
"""So long another process is waited for: it holds a file for milliseconds, unless it was stopped."""
PAUSE_SECONDS = 0.005


def private_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing, which only the owner may enter.

    A folder that is there already keeps the mode that its maker gave it.
    """
    for each in (*reversed(path.parents), path):
        each.mkdir(exist_ok=True, mode=0o700)


def private_file(path: Path) -> None:
    """Make an empty file that only its owner may read, where there is none.

    What SQLite puts beside a database has the database's own mode. A file that is there is not
    opened: closing it would let go of every lock that this process has on it.
    """
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))


def replace_file(path: Path, content: bytes) -> None:
    """Put a content in a file's place in one step; a crash leaves the old one or the new one."""
    private_folder(path.parent)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Let one process at a time into what follows; a process that dies lets go.

    Raises:
        OSError: another process does not let go of it.

    """
    private_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def lock(descriptor: int) -> None:
    """Wait until no other process has this file locked; closing or `unlock` lets go.

    Raises:
        OSError: another process does not let go of it.

    """
    end = time.monotonic() + PATIENCE_SECONDS
    while not _is_locked(descriptor):
        if time.monotonic() >= end:
            raise OSError(errno.EAGAIN, f"held by another process for {PATIENCE_SECONDS:g} seconds")
        time.sleep(PAUSE_SECONDS)


def _is_locked(descriptor: int) -> bool:
    """Lock a file, and say whether that could be done at once."""
    try:
        import fcntl
    except ImportError:  # a system without them: two processes may then interleave
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def unlock(descriptor: int) -> None:
    """Let the next one in."""
    with contextlib.suppress(ImportError):
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)
