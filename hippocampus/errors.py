"""Every exception that hippocampus raises, split by who must act. Nothing else is here.

HippocampusError
├── PolicyError      you: a policy file or one of its values is wrong
├── MessagesError    you: a message list is in no format that we know
├── RecordingError   you: a recorded session cannot be read
├── ModelError       you: a model, price table or tokenizer of that name is not known
├── RecallError      the caller of recall: nothing can be served for this request
└── StoreError       the disk: a content or a ledger cannot be read or written
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class HippocampusError(Exception):
    """Anything that hippocampus raises on purpose."""


class PolicyError(HippocampusError):
    """A policy cannot be used; `problems` holds every problem found, one sentence each."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class MessagesError(HippocampusError):
    """A message list is in none of the three provider formats."""


class RecordingError(HippocampusError):
    """A recorded session cannot be read."""

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.reason = reason
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")

    def __reduce__(self) -> tuple[type[RecordingError], tuple[str, str, int | None]]:
        """Pickle by fields, so that the error crosses a process boundary whole."""
        return type(self), (self.path, self.reason, self.line)


class ModelError(HippocampusError):
    """A model, price table or tokenizer is unknown; the text lists the nearest known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.near = nearest(name, known)
        hint = f"; did you mean {', '.join(self.near)}?" if self.near else ""
        super().__init__(f"unknown {kind} {name!r}{hint}")


class RecallError(HippocampusError):
    """A recall cannot be served; `reason` says why in one word, the text says what to do instead.

    `reason` is `never_existed`, `other_session`, `expired`, `bad_request` or `no_match`.
    """

    def __init__(self, reason: str, text: str, entry_id: str | None = None) -> None:
        self.reason = reason
        self.entry_id = entry_id
        super().__init__(text)


class StoreError(HippocampusError):
    """A content or a ledger on disk cannot be read or written."""


def nearest(name: str, known: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """Return the known names that look most like `name`, best first."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=most, cutoff=0.5)
    return tuple(by_lower[lower] for lower in close)
