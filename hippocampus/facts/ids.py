"""Ids that sort by time, and a clock that never stands still. Nothing is stored here."""

from __future__ import annotations

import os
import threading
import uuid

from hippocampus.facts.models import Clock

FRACTION = 1 << 12
"""Steps of a millisecond that ids distinguish."""
STEP_SECONDS = 1e-6


def new_id(at: float) -> str:
    """Return a UUID of version 7 for a time: ids sort as their times do, to a quarter microsecond."""
    milliseconds, fraction = divmod(round(at * 1000 * FRACTION), FRACTION)
    chance = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    milliseconds = max(0, milliseconds) & ((1 << 48) - 1)
    return str(uuid.UUID(int=milliseconds << 80 | 7 << 76 | fraction << 64 | 2 << 62 | chance))


class MonotonicClock:
    """A clock each reading of which is later than the one before."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._last = float("-inf")
        self._lock = threading.Lock()

    def __call__(self) -> float:
        """Return the time, or just after the last reading where the clock has not moved on."""
        with self._lock:
            self._last = max(self._clock(), self._last + STEP_SECONDS)
            return self._last
