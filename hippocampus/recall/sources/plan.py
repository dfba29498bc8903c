"""The plan of a fetch, its request and its result. Data only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from hippocampus.policy.rules import Fallback, Refetch

FetchOutcome = Literal["full", "partial", "failed"]
"""The full content, its summary only, or nothing (the protocol's section 12.2)."""


class Unavailable(Exception):  # noqa: N818 - an answer of a source, not an error in it
    """A source cannot return the content; the text is one sentence with the reason."""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """How content is fetched again, as a policy's `source:` declares it."""

    order: tuple[str, ...] = ()
    """The sources to ask, in order: `file`, `http`, `tool`, or custom ones; none asks the content
    store alone."""
    timeout_seconds: float = 10.0
    """How long each source may take."""
    largest_bytes: int = 10_000_000
    """The most bytes of an answer."""
    fallbacks: tuple[Fallback, ...] = ("stored", "summary")
    """The fallbacks, in this order, where no source answers."""
    roots: tuple[str, ...] = ()
    """The folders that `file` may read; none allows no file."""
    allow_private: bool = False
    """Whether `http` may ask addresses of this machine and its networks."""
    hosts: tuple[str, ...] = ()
    """The only hosts that `http` may ask; none allows every public one."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The options of custom sources, by name."""


def plan_of(source: Refetch) -> SourcePlan:
    """Return the plan that a policy's `source:` declares; other fields are a custom source's options."""
    declared = source.model_dump(exclude={"type"}, exclude_none=True)
    options = {key: declared.pop(key) for key in source.model_extra or ()}
    return SourcePlan(
        **{"order": (source.type,), **declared}, options={source.type: options} if options else {}
    )


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
