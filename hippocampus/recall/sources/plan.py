"""The plan of a fetch: which sources in which order, and the fallbacks. Data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from hippocampus.policy.rules import Fallback

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
    """What is used, in this order, where no source answers."""
    roots: tuple[str, ...] = ()
    """The folders that `file` may read; none allows no file."""
    allow_private: bool = False
    """Whether `http` may ask addresses of this machine and its networks."""
    hosts: tuple[str, ...] = ()
    """The only hosts that `http` may ask; none allows every public one."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The options of custom sources, by name."""


def plan_of(name: str, declared: Mapping[str, Any]) -> SourcePlan:
    """Return the plan that a policy's `source:` declares: its type and the other fields.

    Fields that are not of a plan are options of the source of that name.

    Raises:
        ValueError: a field has a wrong value; the message names both.

    """
    given = {"order": [name], **{key: value for key, value in declared.items() if key in READ}}
    own = {key: value for key, value in declared.items() if key not in READ}
    for key, value in given.items():
        if not READ[key](value):
            raise ValueError(f"{key} of source {name!r} cannot be {value!r}")
    listed: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in given.items()
    }
    return SourcePlan(**listed, options={name: own} if own else {})


def _is_texts(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, str) for each in value)


def _is_size(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


READ: Mapping[str, Callable[[Any], bool]] = {
    "order": _is_texts,
    "timeout_seconds": _is_size,
    "largest_bytes": lambda value: _is_size(value) and isinstance(value, int),
    "fallbacks": lambda value: _is_texts(value) and set(value) <= set(get_args(Fallback)),
    "roots": _is_texts,
    "allow_private": lambda value: isinstance(value, bool),
    "hosts": _is_texts,
}
"""By field of a plan, the check of its value in a policy's `source:`."""


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
