"""Which sessions are open: bytes of a file, locked by their numbers as SQLite locks its own.

The system lets go of a lock when its process ends. It asks no clock, and no number of a process, which
containers share. A file that cannot be made or locked is an `OSError`.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from hippocampus.storage import files

_FILES: dict[Path, tuple[int, Counter[int]]] = {}
"""The descriptors of this process, with the number of times that it has a session open. A file has one
descriptor: closing a second one would release every lock."""
_GUARD = threading.Lock()
WAIT_SECONDS = 0.1
"""How long a session waits for a process that asks whether it is open, which may be stopped as it does."""


def _forked() -> None:
    _FILES.clear()  # a child has none of the locks
    _GUARD.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_GUARD.acquire, after_in_parent=_GUARD.release, after_in_child=_forked
    )


@contextlib.contextmanager
def _file(path: Path) -> Iterator[tuple[int, Counter[int]]]:
    """Open the file in a block, and keep it open while this process has a session open."""
    flags = os.O_RDWR | os.O_CREAT | files.NO_LINK
    with _GUARD:
        descriptor, held = _FILES.get(path) or (files.opened(path, flags), Counter())
        _FILES[path] = descriptor, held
        try:
            yield descriptor, held
        finally:
            if not held:
                os.close(descriptor)
                del _FILES[path]


def hold(path: Path, session: int) -> None:
    """Let a session, by its number, be open until it is released, or this process ends."""
    with _file(path) as (descriptor, held):
        if not held[session]:
            _lock(descriptor, session, is_shared=True)
        held[session] += 1


def release(path: Path, session: int) -> None:
    """Let a session be open once less in this process."""
    if path in _FILES:  # not in a child, which has none of the locks
        with _file(path) as (descriptor, held):
            held[session] -= 1
            if not held[session]:
                del held[session]
                _unlock(descriptor, session)


def open_sessions(path: Path, sessions: Iterable[int]) -> set[int]:
    """Return those of some sessions, by their numbers, that a process has open."""
    if not path.exists():
        return set()
    with _file(path) as (descriptor, held):
        return {n for n in sessions if n in held or _is_locked(descriptor, n)}


def _is_locked(descriptor: int, session: int) -> bool:
    try:
        _lock(descriptor, session, is_shared=False)
    except OSError:
        return True
    _unlock(descriptor, session)
    return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int, place: int, *, is_shared: bool) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_LOCK if is_shared else msvcrt.LK_NBLCK, 1)

    def _unlock(descriptor: int, place: int) -> None:
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int, place: int, *, is_shared: bool) -> None:
        kind = fcntl.LOCK_NB | (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX)
        until = time.monotonic() + WAIT_SECONDS * is_shared
        while True:
            try:
                fcntl.lockf(descriptor, kind, 1, place)
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.001)
            else:
                return

    def _unlock(descriptor: int, place: int) -> None:
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)
