"""The sessions that a memory holds open between their calls: bounded, the least recently used go first."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from hippocampus.session.session import Session

CLOSING_SECONDS = 5.0
"""How long the end of a memory ends sessions."""


@dataclass(slots=True, eq=False)
class _Slot:
    """The place of one session: open, or not at the moment."""

    session: Session | None = None
    users: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the session is opened or released; no other session waits for it."""


class OpenSessions:
    """Sessions by id, open once; one in use is never released."""

    def __init__(self, opened: Callable[[str], Session], max_idle: int) -> None:
        """`opened` opens a session; more than `max_idle` stay open only while they are in use."""
        self._opened = opened
        self._max_idle = max_idle
        self._lock = threading.Lock()
        self._slots: dict[str, _Slot] = {}
        """The most recently used last."""

    @contextlib.contextmanager
    def using(self, session_id: str) -> Iterator[Session]:
        """Return a session for a `with` block."""
        with self._lock:
            slot = self._slots[session_id] = self._slots.pop(session_id, _Slot())
            slot.users += 1
        try:
            with slot.lock:
                if slot.session is None:
                    slot.session = self._opened(session_id)
            yield slot.session
        finally:
            with self._lock:
                slot.users -= 1
                idle = [slot for slot in self._slots.values() if not slot.users]
            for oldest in idle[: max(0, len(idle) - self._max_idle)]:
                self._release(oldest)

    def _release(self, slot: _Slot) -> None:
        with slot.lock:  # a user who comes meanwhile waits, and opens it again
            if not slot.users and slot.session is not None:
                slot.session.release()
                slot.session = None
        with self._lock:
            if not slot.users and slot.session is None:
                self._slots = {
                    key: other for key, other in self._slots.items() if other is not slot
                }

    def close(self) -> None:
        """End every session; those that are left after a while are released, for the next start."""
        with self._lock:
            slots, self._slots = list(self._slots.values()), {}
        until = time.monotonic() + CLOSING_SECONDS
        for session in filter(None, (slot.session for slot in slots)):
            (session.close if time.monotonic() < until else session.release)()
