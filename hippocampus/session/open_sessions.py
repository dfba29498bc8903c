"""The sessions that a memory holds open between their calls: bounded, the least recently used go first."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from hippocampus.session.session import Session

CLOSING_SECONDS = 5.0
"""How long the end of a memory ends sessions."""


class OpenSessions:
    """Sessions by id, each open once; one in use is never released."""

    def __init__(self, opened: Callable[[str], Session], max_idle: int) -> None:
        """`opened` opens a session; more than `max_idle` stay open only while they are in use."""
        self._opened = opened
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        """The most recently used last."""
        self._users: Counter[str] = Counter()

    @contextlib.contextmanager
    def using(self, session_id: str) -> Iterator[Session]:
        """Return a session for a `with` block.

        Raises:
            StoreError: its ledger cannot be opened.
        """
        with self._lock:
            session = self._sessions.pop(session_id, None) or self._opened(session_id)
            self._sessions[session_id] = session
            self._users[session_id] += 1
        try:
            yield session
        finally:
            with self._lock:
                self._users[session_id] -= 1
                self._users = +self._users
                idle = [name for name in self._sessions if name not in self._users]
                for name in idle[: max(0, len(idle) - self._max_idle)]:
                    self._sessions.pop(name).release()  # under the lock: its files are opened again

    def close(self) -> None:
        """End every session; those that are left after a while are released, for the next start."""
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        until = time.monotonic() + CLOSING_SECONDS
        for session in sessions:
            (session.close if time.monotonic() < until else session.release)()
