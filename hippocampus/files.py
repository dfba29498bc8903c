"""Files that several processes write: replaced whole, or held by one of them at a time.

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


def replace_file(path: Path, content: bytes) -> None:
    """Put a content in a file's place in one step; a crash leaves the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
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
