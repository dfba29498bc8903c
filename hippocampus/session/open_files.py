"""Which sessions have their files open: a bounded number, so that no host runs out of descriptors."""

from __future__ import annotations

import threading
import weakref
from typing import Protocol

MAX_OPEN = 24
"""A session has up to eight descriptors, and some systems give a process 256."""


class Resting(Protocol):
    """What can close its files until it is used again."""

    def rest(self) -> bool:
        """Close the files, and return whether that was possible."""


class OpenFiles:
    """The sessions that were used last; the files of all others are closed."""

    def __init__(self, most: int = MAX_OPEN) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._used: dict[int, weakref.ref[Resting]] = {}
        """By its identity each session with open files, the most recently used last."""

    def use(self, session: Resting) -> None:
        """Note that a session uses its files now; one in use keeps them, whatever their number."""
        with self._lock:
            self._used.pop(id(session), None)
            self._used[id(session)] = weakref.ref(session)
            for key, reference in list(self._used.items())[: -self._most]:
                oldest = reference()
                if oldest is None or oldest.rest():
                    del self._used[key]
