"""What a failure inside does to a call of the host: it is logged, and something else is returned.

Law 3 stands here, in `Guard.run`: a failure of the memory never breaks the agent's loop.
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
        """Take when its sessions logged each problem of the directory; nothing has failed yet."""
        self.failures = 0
        """How many calls failed inside and sent the messages as they were."""
        self.raw_calls = 0
        """How many calls sent the messages as they were, for any reason."""
        self.raw_reason = ""
        """Why the last call sent its messages as they are; empty where it sent a view."""
        self.problem = ""
        """Why the last call failed, or why nothing can be stored; empty where all is well."""
        self.cause = ""
        """The name of the last failure's class."""
        self.is_quiet = False
        """Whether failures are expected, and logged once each: the session is closed."""
        self._id = session_id
        self._disk_problems = {} if disk_problems is None else disk_problems
        self._said: set[str] = set()
        """What was logged, and is not logged again."""

    def run(
        self,
        work: Callable[[], T],
        fallback: Callable[[], T],
        lost: str,
        raises: tuple[type[Exception], ...] = (),
    ) -> T:
        """Return the result of some work; where it fails, log the loss, and return the fallback's.

        What the work `raises` by its contract is the caller's.
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
                self.say_of_disk(lost, failure)
            elif isinstance(failure, MessagesError) or self.is_quiet:
                self.say_once(f"{lost}: {failure}")
            else:  # a bug: with its traceback, the next of the same place as a line, and no other
                [place] = traceback.extract_tb(failure.__traceback__, limit=-1)
                cause = f"{self.cause} at {place.filename}:{place.lineno}"
                if cause in self._said:
                    self.say_once(f"{lost}: again {cause}, which is not logged from here on")
                else:
                    self._said.add(cause)
                    LOG.exception("session %s: %s", self._id, lost)
            return fallback()

    def say_of_disk(self, lost: str, failure: StoreError) -> None:
        """Log what the directory refuses: for all sessions one line, and one again after a while."""
        problem, now = f"{failure.__cause__ or failure}", time.monotonic()
        if now > self._disk_problems.get(problem, -REPEAT_SECONDS) + REPEAT_SECONDS:
            self._disk_problems[problem] = now
            LOG.error("session %s: %s: %s", self._id, lost, failure)

    def say_once(self, text: str) -> None:
        """Log a problem that may come with every call, at another place of the list too."""
        problem = PLACE.sub("", text)
        if problem not in self._said:
            self._said.add(problem)
            LOG.error("session %s: %s", self._id, text)
