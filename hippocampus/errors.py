"""Every exception that hippocampus raises, split by who must act. Nothing else is here.

The fact store draws its own branches in `facts/errors.py`.

HippocampusError
├── PolicyError      you: a policy file or one of its values is wrong
├── MessagesError    you: a message list is in no format that we know
├── RecordingError   you: a recorded session cannot be read
├── ModelError       you: a model, price table or tokenizer of that name is not known
├── RecallError      the caller of recall: nothing can be served for this request
├── ProviderError    the vendor: a model's endpoint failed
└── StoreError       the disk: a content or a ledger cannot be read or written
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class HippocampusError(Exception):
    """Anything that hippocampus raises on purpose; it crosses a process boundary whole."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by text and fields, whatever the class is made with."""
        return _remade, (type(self), str(self), vars(self))


def _remade(kind: type[HippocampusError], text: str, fields: dict[str, Any]) -> HippocampusError:
    error = kind.__new__(kind, text)
    vars(error).update(fields)
    return error


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


FEW_NAMES = 10
"""So many known names are listed whole where none of them is near."""


class ModelError(HippocampusError):
    """A model, price table or tokenizer is unknown; the text lists the nearest known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        every = tuple(known)
        self.near = nearest(name, every)
        hint = f"; did you mean {', '.join(self.near)}?" if self.near else ""
        if not hint and len(every) <= FEW_NAMES:
            hint = f"; there are {', '.join(every)}"
        super().__init__(f"unknown {kind} {name!r}{hint}")


class RecallError(HippocampusError):
    """A recall cannot be served; `reason` says why in one word, the text says what to do instead.

    `reason` is `never_existed`, `other_session`, `expired`, `stale`, `too_large`, `bad_request` or
    `no_match`.
    """

    def __init__(  # noqa: PLR0913 - what is known of a failure, each by its name
        self,
        reason: str,
        text: str,
        entry_id: str | None = None,
        *,
        tool: str = "",
        arguments: str = "",
        near: Iterable[str] = (),
        owner: str = "",
        when: str = "",
        rule: str = "",
        versions: Iterable[str] = (),
    ) -> None:
        self.reason = reason
        self.entry_id = entry_id
        self.tool = tool
        """The call that made the content, by its tool's name and its arguments as JSON."""
        self.arguments = arguments
        self.near = tuple(near)
        """Of *never existed*: the ids that look most like it."""
        self.owner = owner
        """Of *other session*: that session."""
        self.when = when
        """Of *expired*: when it was removed, as an ISO date and time."""
        self.rule = rule
        """Of *expired*: the retention rule that removed it."""
        self.versions = tuple(versions)
        """Of *stale*: how to ask for the stored version and for the present one."""
        super().__init__(text)


class ProviderError(HippocampusError):
    """A model's endpoint cannot be reached or answers nothing usable."""


class StoreError(HippocampusError):
    """A content or a ledger on disk cannot be read or written."""


def nearest(name: str, known: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """Return the known names that look most like `name`, best first."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=most, cutoff=0.5)
    return tuple(by_lower[lower] for lower in close)
