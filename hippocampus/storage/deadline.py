"""How long the calls of a thread wait for other processes, or for a server. One limit holds for a whole block.

A session's call sets `session.resources.DEADLINE_SECONDS`; where nothing is set, SQLite waits `sqlite.BUSY_SECONDS`.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator


class _Limit(threading.local):
    until = math.inf
    """On the clock of `time.monotonic`."""


_LIMIT = _Limit()


@contextlib.contextmanager
def bounded(seconds: float | None) -> Iterator[None]:
    """Let a `with` block wait for so long at most in this thread, all together; None changes nothing."""
    before = _LIMIT.until
    if seconds is not None:
        _LIMIT.until = min(before, time.monotonic() + seconds)
    try:
        yield
    finally:
        _LIMIT.until = before


def left(patience: float) -> float:
    """Return the seconds that a call may wait: up to the limit of its thread, or `patience` without one."""
    return patience if _LIMIT.until == math.inf else max(0.0, _LIMIT.until - time.monotonic())
