"""How long the calls of a thread wait for other processes, or for a server. One limit holds for a whole block.

The wait for other threads of this process that write one after the other does not count.

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
    """On the clock of this module."""
    uncounted = 0.0
    """The seconds of this thread that count for no limit."""


_LIMIT = _Limit()


def clock() -> float:
    """Return the time of this thread in seconds, without those that count for no limit."""
    return time.monotonic() - _LIMIT.uncounted


def leave_out(seconds: float) -> None:
    """Count some seconds of this thread, which are over, for no limit."""
    _LIMIT.uncounted += seconds


@contextlib.contextmanager
def bounded(seconds: float | None) -> Iterator[None]:
    """Let a `with` block wait for so long at most in this thread, all together; None changes nothing."""
    before = _LIMIT.until
    if seconds is not None:
        _LIMIT.until = min(before, clock() + seconds)
    try:
        yield
    finally:
        _LIMIT.until = before


def left(patience: float) -> float:
    """Return the seconds that a call may wait: up to the limit of its thread, or `patience` without one."""
    return patience if _LIMIT.until == math.inf else max(0.0, _LIMIT.until - clock())
