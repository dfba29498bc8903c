"""The request and the result of a fetch. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

FetchOutcome = Literal["full", "partial", "failed"]
"""The full content, its summary only, or nothing (the protocol's section 12.2)."""


class Unavailable(Exception):  # noqa: N818 - an answer of a source, not an error in it
    """A source cannot return the content; the text is one sentence with the reason."""


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """The call whose result is fetched again."""

    tool: str
    arguments: Mapping[str, Any]

    def named(self, *keys: str) -> str:
        """Return the first of these arguments that is text.

        Raises:
            Unavailable: there is none.

        """
        for key in keys:
            value = self.arguments.get(key)
            if isinstance(value, str) and value:
                return value
        raise Unavailable(f"the call of {self.tool} names no {keys[0]}")


@dataclass(frozen=True, slots=True)
class FetchResult:
    """The result of a fetch, and its source."""

    outcome: FetchOutcome
    content: str
    source: str
    """The name of the source, or `store`, `summary`, `nothing`."""
    changed: bool = False
    """Whether it differs from the stored copy."""
    difference: str = ""
    """A unified diff from the stored copy, cut to a few lines."""
    tried: tuple[str, ...] = ()
    """A sentence for each source that failed."""
