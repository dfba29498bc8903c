"""Dates and times of callers, to and from seconds since 1970, ids that sort by time, and a clock that always moves on."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime

from hippocampus.errors import FactError
from hippocampus.facts.models import Clock
from hippocampus.storage.facts.rows import EARLIEST, LATEST

FRACTION = 1 << 12
"""Steps of a millisecond that ids distinguish."""
STEP_SECONDS = 1e-6
Moment = float | str | datetime
"""Seconds since 1970, an ISO 8601 date or time, or a datetime; without a zone it is UTC."""


def seconds(moment: Moment) -> float:
    """Return a moment as seconds since 1970.

    >>> seconds("2026-02-09")
    1770595200.0

    Raises:
        FactError: the text is no date of ISO 8601, or the time is not in the years 1 to 9999, as neither
            milliseconds nor `nan` are.
    """
    if isinstance(moment, int | float):
        if not EARLIEST <= moment <= LATEST:
            raise FactError(f"{moment!r} seconds since 1970 are not in the years 1 to 9999")
        return float(moment)
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError as problem:
            raise FactError(f"{moment!r} is no date such as 2026-02-09T14:30:00Z") from problem
    if not isinstance(moment, datetime):
        raise FactError(f"{moment!r} is no time: name seconds since 1970, a text or a datetime")
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def optional_seconds(moment: Moment | None) -> float | None:
    """Return a moment as seconds since 1970, or nothing."""
    return None if moment is None else seconds(moment)


def day(at: float) -> str:
    """Return the day of a time, UTC.

    >>> day(1770595200.0)
    '2026-02-09'
    """
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%d")


def stamp(at: float) -> str:
    """Return a time to the second, UTC.

    >>> stamp(1770595200.0)
    '2026-02-09T00:00:00Z'
    """
    return datetime.fromtimestamp(at, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_id(at: float) -> str:
    """Return a UUID of version 7 for a time: ids sort as their times do, to a quarter microsecond."""
    import uuid

    milliseconds, fraction = divmod(round(at * 1000 * FRACTION), FRACTION)
    milliseconds = max(0, milliseconds) & ((1 << 48) - 1)
    chance = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
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
