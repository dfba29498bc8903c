"""What every kind of content is read into: lines that an entry may show, in content order.

An extractor writes an `Extraction` and does not choose; `select` chooses what fits and what pays.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Concatenate, ParamSpec, TypeVar

from hippocampus.models import tokens

P = ParamSpec("P")
T = TypeVar("T")
MAX_BY_HASH = 1 << 14
NUMBER, PLACE = "{}: ", "[{}] "
"""The forms of a line with its number in the content, and with its place in a list."""


@dataclass(frozen=True, slots=True)
class EntryLine:
    """One line that an entry may show."""

    text: str
    """As it would read in the entry: terse, every identifier whole and next to its label."""
    weight: float = 1.0
    """How likely it is needed, relative to the other lines of the content; 1 is ordinary."""
    keep: bool = False
    """Stays whatever the budget: an error's message, a final summary, a total."""
    parent: int | None = None
    """The number of the line without which this one does not read (a heading, a file's name)."""
    count: int = 1
    """How many things of the content this line covers, for the count of a gap."""
    number: int | None = None
    """Its line in the content, from 1, or its place in a list, from 0; none for other lines."""
    unit: str = ""
    """The list that the line belongs to: a gap in it is counted apart, where part of it is shown."""
    form: str = NUMBER
    """The form of the number before the line."""

    def numbered(self) -> str:
        """Return the line after its number in the content."""
        return self.text if self.number is None else self.form.format(self.number) + self.text


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text as an extractor read it."""

    kind: str
    summary: str
    """What it is, in one line: title, counts, sizes, state."""
    lines: tuple[EntryLine, ...]
    key_data: dict[str, Any] = field(default_factory=dict)
    """Values that code may want: counts, cursors, the exit code, the error."""
    selectors: tuple[str, ...] = ()
    """Selectors that make sense for a recall of it, such as `lines=[1, 312]` or `pattern="…"`."""
    unit: str = "lines"
    """What a gap counts: rows, files, links, hits."""


@dataclass(frozen=True, slots=True)
class ExtractionContext:
    """The call and the task around a text, all of it from before it arrived."""

    arguments: str = ""
    """Of the call, as JSON: they decide nothing but which line of a file is the first."""
    is_error: bool = False
    """The tool reported a failure: its message stays whole."""
    task: str = ""
    """The user's words so far."""
    cited: frozenset[str] | set[str] = frozenset()
    """Identifiers of the content that the agent has used already; they stay."""
    known: Callable[[AbstractSet[str]], AbstractSet[str]] = frozenset[str]().intersection
    """Returns those of some identifiers that other payloads have too."""
    content_tokens: int = 1_000
    """What the whole content weighs."""


Extractor = Callable[[str], Extraction | None]
"""Reads a text that it recognises, or returns nothing; never raises, linear in its length."""


def kept_by_hash(read: Callable[Concatenate[str, P], T]) -> Callable[Concatenate[str, P], T]:
    """Return a function that remembers what it returned, by hashes of the texts.

    A digest repeats the steps of the one before it.
    """
    found: dict[tuple[object, ...], T] = {}

    def once(text: str, /, *args: P.args, **kwargs: P.kwargs) -> T:
        given = (text, *args, *kwargs.values())
        key = (*kwargs, *(tokens.digest(x) if isinstance(x, str) else x for x in given))
        if key not in found:
            if len(found) >= MAX_BY_HASH:
                found.clear()
            found[key] = read(text, *args, **kwargs)
        return found[key]

    return once
