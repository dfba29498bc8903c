"""Catches failures inside a call of the host: they are logged, and a fallback is returned.

Law 3 holds in `Guard.run`: a failure of the memory never breaks the agent's loop.
"""

from __future__ import annotations

import logging
import re
import time
import traceback
from collections.abc import Callable
from typing import TypeVar

from hippocampus.errors import MessagesError, StoreError

LOG = logging.getLogger("hippocampus")
T = TypeVar("T")
PLACE = re.compile(r"\[\d+\]")
REPEAT_SECONDS = 600
"""How long a problem of the directory that was logged is not logged again."""


class Guard:
    """The failures of one session."""

    def __init__(self, session_id: str, disk_problems: dict[str, float] | None = None) -> None:
        """Share when sessions of the directory logged its problems, in monotonic seconds."""
        self.failures = 0
        """The number of calls that failed inside and sent the raw messages."""
        self.raw_calls = 0
        """The number of calls that sent the raw messages, for any reason."""
        self.raw_reason = ""
        """Why the last call sent the raw messages; empty where it sent a view."""
        self.problem = ""
        """Why the last call failed, or why nothing can be stored; empty where all is well."""
        self.cause = ""
        """The name of the last failure's class."""
        self.is_quiet = False
        """Whether failures are expected, and logged without a traceback: the session is closed."""
        self._id = session_id
        self._disk_problems = {} if disk_problems is None else disk_problems
        self._logged: set[str] = set()
        """The problems that are not logged again."""

    def run(
        self,
        work: Callable[[], T],
        fallback: Callable[[], T],
        lost: str,
        raises: tuple[type[Exception], ...] = (),
    ) -> T:
        """Return the result of `work`; where it fails, log the loss, and return the fallback's.

        The exceptions that it `raises` by its contract reach the caller.
        """
        try:
            return work()
        except raises:
            raise
        except Exception as failure:
            if not lost:
                LOG.debug("session %s: a fallback failed too", self._id, exc_info=True)
                return fallback()
            self.cause = type(failure).__name__
            self.problem = f"{failure}" or self.cause
            if isinstance(failure, StoreError):
                self.log_disk_problem(lost, failure)
            elif isinstance(failure, MessagesError) or self.is_quiet:
                self.log_once(f"{lost}: {failure}")
            else:  # a bug: first with its traceback, a second time as a line, and then no more
                [place] = traceback.extract_tb(failure.__traceback__, limit=-1)
                cause = f"{self.cause} at {place.filename}:{place.lineno}"
                if cause in self._logged:
                    self.log_once(f"{lost}: again {cause}, which is not logged from here on")
                else:
                    self._logged.add(cause)
                    LOG.exception("session %s: %s", self._id, lost)
            return fallback()

    def log_disk_problem(self, lost: str, failure: StoreError) -> None:
        """Log a problem of the directory once for all its sessions, and again after a while."""
        problem, now = f"{failure.__cause__ or failure}", time.monotonic()
        if now > self._disk_problems.get(problem, -REPEAT_SECONDS) + REPEAT_SECONDS:
            self._disk_problems[problem] = now
            LOG.error("session %s: %s: %s", self._id, lost, failure)

    def log_once(self, text: str) -> None:
        """Log a problem once, though every call may have it, at another place of the list too."""
        problem = PLACE.sub("", text)
        if problem not in self._logged:
            self._logged.add(problem)
            LOG.error("session %s: %s", self._id, text)
