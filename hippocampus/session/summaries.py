"""Summary lines by the host's function, such as a model: in threads, and awaited for a bounded time.

The function may fail, be late or return nonsense; then the entry keeps its own line.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late
from copy import copy
from typing import Self

LOG = logging.getLogger("hippocampus")
WORKERS = 4
MAX_CHARACTERS = 400
MAX_LINES = 1_000
"""The newest lines that a memory keeps; an entry without one has its own."""


class Summaries:
    """Asks for a line when a payload arrives, and takes it when its entry is written."""

    def __init__(self, summarise: Callable[[str], str], patience_seconds: float) -> None:
        self._summarise = summarise
        self._patience_seconds = patience_seconds
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="hippocampus-summary")
        self._asked: dict[str, Future[str]] = {}
        self._asking = threading.Lock()
        self._deadline = 0.0
        """Until when a line is awaited, in seconds of the monotonic clock."""

    def ask(self, name: str, text: str) -> None:
        """Start on the line for a payload; a second request for it changes nothing."""
        with self._asking:
            if name not in self._asked:
                self._asked[name] = self._pool.submit(self._summarise, text)
                for oldest in [*self._asked][:-MAX_LINES]:
                    del self._asked[oldest]

    def of_turn(self) -> Self:
        """Return the summaries for one turn, which waits for all lines no longer than for one."""
        own = copy(self)
        own._deadline = time.monotonic() + self._patience_seconds  # noqa: SLF001 - of this class
        return own

    def take(self, name: str) -> str | None:
        """Return the line if it is there before the turn's patience ends, else nothing."""
        asked = self._asked.get(name)
        if asked is None:
            return None
        try:
            failure = asked.exception(max(0.0, self._deadline - time.monotonic()))
        except Late:
            return None
        if failure:  # law 3: not even `SystemExit` in a thread of the user's code breaks the loop
            LOG.warning("no summary for %s: the entry keeps its own", name, exc_info=failure)
            return None
        line = " ".join(str(asked.result()).split())[:MAX_CHARACTERS]
        return line or None

    def close(self) -> None:
        """Stop asking; lines under way are not awaited."""
        self._pool.shutdown(wait=False, cancel_futures=True)
