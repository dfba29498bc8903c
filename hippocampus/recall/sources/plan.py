"""Which source answers for a kind of tool, in which order, and what is done when none does. Data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Outcome = Literal["full", "partial", "failed"]
"""The protocol's section 12.2: the content, its summary only, or nothing."""
Fallback = Literal["stored", "summary"]


class Unavailable(Exception):  # noqa: N818 - what a source says, not what went wrong in it
    """A source cannot give its content; the text says why in one sentence."""


@dataclass(frozen=True, slots=True)
class SourcePlan:
    """How a content is had again, as a policy's `source:` says."""

    order: tuple[str, ...] = ()
    """Names of sources to ask, the first first: `file`, `http`, `tool`, or a custom one's; none
    asks the content store alone."""
    timeout_seconds: float = 10.0
    """How long one source may take."""
    largest_bytes: int = 10_000_000
    """What a source may return at most."""
    fallbacks: tuple[Fallback, ...] = ("stored", "summary")
    """What is taken, in this order, where no source answers."""
    roots: tuple[str, ...] = ()
    """Folders under which `file` may read; none allows no file."""
    allow_private: bool = False
    """Whether `http` may ask addresses of this machine and its networks."""
    hosts: tuple[str, ...] = ()
    """The only hosts that `http` may ask; none allows every public one."""
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By name of a custom source, what it is called with."""


def plan_of(name: str, declared: Mapping[str, Any]) -> SourcePlan:
    """Return the plan that a policy's `source:` declares: its type, and the fields beside it.

    Fields that no plan has are for the source of that name.

    Raises:
        ValueError: a field has a value that it cannot have; the text names it.

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
    "fallbacks": lambda value: _is_texts(value) and set(value) <= {"stored", "summary"},
    "roots": _is_texts,
    "allow_private": lambda value: isinstance(value, bool),
    "hosts": _is_texts,
}
"""The fields of a policy's `source:` that a plan has, and what each of them may be."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be had again: the call that made a content."""

    tool: str
    arguments: Mapping[str, Any]

    def named(self, *keys: str) -> str:
        """Return the first argument of these names that is text.

        Raises:
            Unavailable: there is none.

        """
        for key in keys:
            value = self.arguments.get(key)
            if isinstance(value, str) and value:
                return value
        raise Unavailable(f"the call of {self.tool} names no {keys[0]}")


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back, and from where."""

    outcome: Outcome
    content: str
    source: str
    """Its name, or `store`, `summary`, `nothing`."""
    changed: bool = False
    """Whether it differs from what was captured."""
    difference: str = ""
    """How, as a unified diff, cut to a few lines."""
    tried: tuple[str, ...] = ()
    """A sentence for each source that could not answer."""
