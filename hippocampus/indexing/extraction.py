"""What every kind of content is read into: lines that an entry may show, in content order.

An extractor writes an `Extraction` and does not choose; `select` chooses what fits and what pays.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from hippocampus.models import tokens

P = ParamSpec("P")
T = TypeVar("T")
MAX_BY_HASH = 1 << 14
NUMBER, PLACE = "{}: ", "[{}] "
"""The forms of a line with its number in the content, and with its place in a list."""
PACKED_CHARACTERS = 110
"""How long a line of packed items may grow: about 30 tokens."""
SPACES = re.compile(r"\s+")


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


class LaterLines(Sequence[EntryLine]):
    """Lines that are read at their first use: of most texts only the kind is needed."""

    def __init__(self, read: Callable[[], Iterable[EntryLine]]) -> None:
        """Name what reads the lines."""
        self._read = read

    @functools.cached_property
    def _lines(self) -> tuple[EntryLine, ...]:
        return tuple(self._read())

    def __getitem__(self, at: Any) -> Any:
        return self._lines[at]

    def __len__(self) -> int:
        return len(self._lines)


@dataclass(frozen=True, slots=True)
class Extraction:
    """A text as an extractor read it."""

    kind: str
    summary: str
    """What it is, in one line: title, counts, sizes, state."""
    lines: Sequence[EntryLine]
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


# What extractors write lines with


def cut(text: str, characters: int) -> str:
    """Return a text on one line, cut between words where it is longer."""
    flat = SPACES.sub(" ", text[: 4 * characters]).strip()
    if len(flat) <= characters:
        return flat
    end = flat.rfind(" ", 0 if flat.isascii() else characters * 2 // 3, characters + 1)
    return f"{flat[: end if end > 0 else characters]}…"


def packed(  # noqa: PLR0913 — what a line may have
    items: Iterable[str],
    label: str = "",
    *,
    weight: float = 1.0,
    parent: int | None = None,
    unit: str = "",
    characters: int = PACKED_CHARACTERS,
) -> list[EntryLine]:
    """Return lines that hold the items one after the other; every line opens with the label."""
    groups: list[list[str]] = []
    size = 0
    for item in items:
        if not groups or size + len(item) > characters:
            groups.append([])
            size = 0
        groups[-1].append(item)
        size += len(item) + 2
    lines: list[EntryLine] = []
    for group in groups:
        opening = f"{label}: " if label.strip() else label
        text = opening + ", ".join(group)
        lines.append(EntryLine(text, weight, parent=parent, count=len(group), unit=unit))
    return lines


def with_lines_before(extraction: Extraction, lines: Sequence[EntryLine]) -> Extraction:
    """Return an extraction that opens with more lines."""

    def joined() -> Iterator[EntryLine]:
        yield from lines
        for line in extraction.lines:
            parent = None if line.parent is None else line.parent + len(lines)
            yield replace(line, parent=parent)

    return replace(extraction, lines=LaterLines(joined))


def numbered_from(first: int, lines: Iterable[EntryLine]) -> Iterator[EntryLine]:
    """Yield lines of a part of a file with their numbers in the file; at 0, which is not known, with none.

    A place in a list stays as it is.
    """
    for line in lines:
        if line.number is None or line.form != NUMBER or first == 1:
            yield line
            continue
        number, form = (line.number + first - 1, NUMBER) if first else (line.number, "")
        same = line.text, line.weight, line.keep, line.parent, line.count
        yield EntryLine(*same, number, line.unit, form)  # in half the time of `replace`


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: `1 link`, `12 links`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def lines_in(text: str) -> int:
    """Return how many lines a text has; an end of line at its end begins none."""
    return text.count("\n") + (not text.endswith("\n"))
