"""Which sessions have their files open: a bounded number, so that no host runs out of descriptors."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

MAX_OPEN = 24
"""A session has up to eight descriptors, and some systems give a process 256."""


class OpenFiles:
    """The sessions that were used last; the files of all others are closed."""

    def __init__(self, most: int = MAX_OPEN) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._used: dict[int, weakref.WeakMethod[Callable[[], bool]]] = {}
        """By the identity of a session with open files, the most recently used last."""

    def use(self, rest: Callable[[], bool]) -> None:
        """Keep the files of a session open, and close those of the sessions idle for longest.

        `rest` is its method that closes them until their next use; False if the session is in use.
        """
        reference = weakref.WeakMethod(rest)
        owner = id(rest.__self__)  # type: ignore[attr-defined]
        with self._lock:
            self._used.pop(owner, None)
            self._used[owner] = reference
            oldest = list(self._used.items())[: -self._most]
        for key, reference in oldest:  # without the lock: files take their time to close
            rests = reference()
            if rests is None or rests():
                with self._lock:
                    if self._used.get(key) is reference:  # else it was used again meanwhile
                        del self._used[key]
