"""How long a thread waits for other processes, or for a server. One limit holds for a whole block.

Only waits count: not the time that it computes between them, nor the wait for other threads of this process
that write one after the other.

A session's call sets `session.resources.DEADLINE_SECONDS`; where nothing is set, SQLite waits `sqlite.BUSY_SECONDS`.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Iterator


class _Waits(threading.local):
    seconds = 0.0
    """How long the thread has waited so far."""
    until = math.inf
    """How long it may have waited at most, since it began."""


_WAITS = _Waits()


def spend(seconds: float) -> None:
    """Count some seconds for which this thread has waited."""
    _WAITS.seconds += seconds


@contextlib.contextmanager
def waiting() -> Iterator[None]:
    """Count the time of a `with` block as a wait."""
    started = time.monotonic()
    try:
        yield
    finally:
        spend(time.monotonic() - started)


@contextlib.contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Let a `with` block wait for so long at most in this thread, all together."""
    before = _WAITS.until
    _WAITS.until = min(before, _WAITS.seconds + seconds)
    try:
        yield
    finally:
        _WAITS.until = before


def left(patience: float) -> float:
    """Return the seconds that a call may wait: up to the limit of its thread, or `patience` without one."""
    return patience if _WAITS.until == math.inf else max(0.0, _WAITS.until - _WAITS.seconds)
