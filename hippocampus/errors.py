"""Every exception that hippocampus raises, grouped by who must act. Nothing else is here.

HippocampusError
├── PolicyError      you: a policy file or one of its values is wrong
├── MessagesError    you: a message list is in no known format
├── ViewError        us: a view is no valid conversation, so that the list is sent
├── RecordingError   you: a recorded session cannot be read
├── ModelError       you: a model or price table of that name is not known
├── RecallError      the caller of recall: nothing can be served for this request
├── FactError        the caller of the fact store: a request that cannot be served
│   └── BlockError   the caller: a memory block cannot be changed like that
├── ProviderError    the vendor: a model's endpoint failed
└── StoreError       the disk: a file of the state directory cannot be read or written
    ├── DamageError  the disk: stored bytes are damaged, and no later try reads them
    ├── SealedError  you: the state is encrypted and its key is not set, or the key cannot be used
    └── EmbeddingModelError  you: the memories were embedded with another model
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

PASSWORD = re.compile(r"""(:/+[^\s/:@]*:)\S+(?=@)|([?&]\w*password=)[^\s&"']+""")
"""A password in the address of a server; a path may have lost one of its slashes."""
MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError, RecursionError)
"""What a reader raises for foreign data of another shape; an edge turns it into an error of ours."""


class HippocampusError(Exception):
    """The base of all errors; each can be pickled with its fields, and none shows a password."""

    def __init__(self, text: object = "") -> None:
        """Take a sentence, in which an address loses its password."""
        super().__init__(without_password(str(text)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by text and fields, independent of the arguments of the class."""
        return type(self).__new__, (type(self), str(self)), vars(self)


def without_password(text: str) -> str:
    """Return a text in which each address of a server has `…` for its password.

    >>> without_password("postgresql://ann:secret@db/acme?sslpassword=more")
    'postgresql://ann:…@db/acme?sslpassword=…'
    """
    return PASSWORD.sub(lambda found: f"{found[1] or found[2]}…", text)


class PolicyError(HippocampusError):
    """A policy cannot be used; `problems` has one sentence for each problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class MessagesError(HippocampusError):
    """A message list is in none of the known provider formats."""


class ViewError(HippocampusError):
    """A view parts a call from its result; it is not sent, and the list is."""


class RecordingError(HippocampusError):
    """A recorded session cannot be read."""

    def __init__(self, path: str, reason: str, line: int | None = None) -> None:
        self.path = path
        self.line = line
        self.reason = reason
        super().__init__(f"{path}:{line}: {reason}" if line else f"{path}: {reason}")


MAX_NAMES = 10
"""Up to this number, all known names are listed where none is similar."""


class ModelError(HippocampusError):
    """A model or price table is unknown; the text lists the nearest known names."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        every = tuple(known)
        self.near = nearest(name, every)
        otherwise = "the names are those of the package genai-prices, such as gpt-5"
        if 0 < len(every) <= MAX_NAMES:
            otherwise = f"there are {', '.join(every)}"
        super().__init__(f"unknown {kind} {name!r}{hint(name, every, otherwise)}")


class RecallError(HippocampusError):
    """A recall cannot be served; `reason` is one word, the text adds what to do instead.

    `reason` is `never_existed`, `other_session`, `expired`, `unreadable`, `stale`, `too_large`,
    `bad_request`, `no_match` or, where a model's call broke something inside, `failed`.
    """

    def __init__(  # noqa: PLR0913 - one parameter a field
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
        """The tool of the call that made the content."""
        self.arguments = arguments
        """The arguments of that call, as JSON."""
        self.near = tuple(near)
        """For `never_existed`, the most similar ids."""
        self.owner = owner
        """For `other_session`, the id of that session."""
        self.when = when
        """For `expired`, the ISO date and time of the removal."""
        self.rule = rule
        """For `expired`, the garbage collection rule that removed it."""
        self.versions = tuple(versions)
        """For `stale`, the recalls of the stored version and of the present one."""
        super().__init__(text)


class FactError(HippocampusError):
    """A request to the fact store cannot be served; the text has the reason."""


class BlockError(FactError):
    """A memory block cannot be changed; `reason` is `missing`, `no_match`, `too_long`, `refused` or `empty`."""

    def __init__(self, reason: str, key: str, text: str) -> None:
        self.reason = reason
        self.key = key
        super().__init__(text)


class ProviderError(HippocampusError):
    """A model's endpoint cannot be reached, or its answer cannot be used."""


class StoreError(HippocampusError):
    """A file of the state directory cannot be read or written."""


class DamageError(StoreError):
    """Stored bytes are damaged; after any other `StoreError` a later try may succeed."""


class SealedError(StoreError):
    """The key of encryption cannot be used, or a state is encrypted under another one or without one set."""


class EmbeddingModelError(StoreError):
    """A file holds the vectors of one model and was opened with another."""

    def __init__(self, stored: str, given: str) -> None:
        self.stored = stored
        self.given = given
        super().__init__(
            f"the memories are embedded with {stored!r}, not {given!r};"
            " run `hippocampus memory reembed` to embed them anew"
        )


def hint(name: object, known: Iterable[str], otherwise: str = "") -> str:
    """Return a clause with the known names that a wrong one resembles, or with another sentence."""
    near = nearest(name, known) if isinstance(name, str) else ()
    clause = f"did you mean {', '.join(near)}?" if near else otherwise
    return clause and f"; {clause}"


def nearest(name: str, known: Iterable[str], most: int = 5) -> tuple[str, ...]:
    """Return the known names that are most similar to `name`, the most similar first."""
    by_lower = {candidate.lower(): candidate for candidate in known}
    import difflib

    close = difflib.get_close_matches(name.lower(), by_lower, n=most, cutoff=0.5)
    return tuple(by_lower[lower] for lower in close)
