"""What a failure inside does to a call of the host: it is logged, and something else is returned.

Law 3 stands here, in `Guard.run`: a failure of the memory never breaks the agent's loop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from hippocampus.errors import MessagesError

LOG = logging.getLogger("hippocampus")
T = TypeVar("T")


class Guard:
    """The failures of one session."""

    def __init__(self, session_id: str) -> None:
        """Nothing has failed yet."""
        self.failures = 0
        """How many calls failed inside and sent the messages as they were."""
        self.problem = ""
        """Why the last call failed, or why nothing can be stored; empty where all is well."""
        self.is_quiet = False
        """Whether failures are expected, and logged once each: the session is closed."""
        self._id = session_id
        self._said: set[str] = set()
        """What was logged, and is not logged again."""

    def run(self, work: Callable[[], T], fallback: Callable[[], T], lost: str) -> T:
        """Return the result of some work; where it fails, log the loss, and return the fallback's."""
        try:
            return work()
        except Exception as failure:
            self.problem = f"{failure}" or type(failure).__name__
            if not lost:
                LOG.debug("session %s: a fallback failed too", self._id, exc_info=True)
            elif isinstance(failure, MessagesError) or self.is_quiet:
                self.say_once(f"{lost}: {failure}")
            else:
                LOG.exception("session %s: %s", self._id, lost)
            return fallback()

    def say_once(self, text: str) -> None:
        """Log a problem that may come with every call."""
        if text not in self._said:
            self._said.add(text)
            LOG.error("session %s: %s", self._id, text)
