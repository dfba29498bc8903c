"""The rows of the fact store: memories, triples, blocks, and what ranking needs of a memory.

Data only: nothing here computes, reads a clock or touches the disk. Times are seconds since 1970,
UTC; ids are UUIDs of version 7, which sort by time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from annotated_types import Ge, Le

EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0
"""The years 1 to 9999, which is what a date can tell."""
Time = Annotated[float, Ge(EARLIEST), Le(LATEST)]
MAX_INTEGER = (1 << 63) - 1
"""The largest number of a database."""
Count = Annotated[int, Ge(0), Le(MAX_INTEGER)]
Kind = Literal["fact", "memory"]
"""A fact is an atomic claim that can be superseded; a memory is kept word by word."""
HEARSAY = "hearsay"
"""The tag of statements that the user reports of others, supposes, or pasted."""
EVERY_AGENT = "*"


class TextRules(NamedTuple):
    """How texts are compared and indexed, in every language: what SQL cannot do."""

    normalised: Callable[[str], str]
    """One form of Unicode, one case, one kind of space."""
    words: Callable[[str], list[str]]
    key: Callable[[str], str]
    """The form in which names of subjects and objects are compared."""
    indexed: Callable[[str], str | None]
    """What the text index holds of a text, or nothing where that is the text itself."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was learnt; empty where that is not known."""

    session: str = ""
    turn: Annotated[int, Ge(-MAX_INTEGER), Le(MAX_INTEGER)] | None = None
    entry_id: str = ""
    role: str = ""
    """Who said it, as messages name it: `user`, `assistant` or `tool`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """One fact or memory as it is kept."""

    id: str
    kind: Kind
    type: str
    content: str
    intensity: Annotated[float, Ge(0), Le(LATEST)] = 0.5
    """The running mean of how much it mattered, 0..1; scriptling calls it importance."""
    agent: str
    scope: str = ""
    """The name of a part of the agent's memory; empty is the whole."""
    tags: tuple[str, ...] = ()
    origin: Origin = Origin()
    created: Time
    accessed: Time
    accesses: Count = 0
    encounters: Count = 1
    valid_from: Time
    valid_until: Time | None = None
    """When it stopped being true; none is still true."""
    known_until: Time | None = None
    """When it was learnt that it is not true, or that another replaces it; none is current."""
    superseded_by: str | None = None
    removed: str | None = None
    """Why `compact` took it away: `faded`, `old` or `merged`; none is there."""
    embedding_model: str | None = None
    raw: str = ""
    """The text that it was extracted from; empty where that is the content itself."""
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Relation(NamedTuple):
    """One value of a relation that has one at a time."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Triple:
    """One relation, which is true while the fact that states it is."""

    subject: str
    predicate: str
    object: str
    memory_id: str
    """The fact that states it."""


class Block(NamedTuple):
    """A named text of an agent."""

    agent: str
    scope: str
    key: str
    value: str
    updated: Time


@dataclass(frozen=True, slots=True)
class Item:
    """A text to remember or to store in a batch."""

    content: str
    type: str | None = None
    intensity: float | None = None
    scope: str = ""
    tags: tuple[str, ...] = ()
    origin: Origin = Origin()
    at: float | None = None
    """When it was said; none is the clock's time."""
    valid_from: float | None = None
    """When it became true; none is when it was said."""
    valid_until: Time | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Stats(NamedTuple):
    """How much is kept."""

    current: Mapping[str, int]
    """Current memories by kind."""
    superseded: int
    removed: int
    triples: int
    blocks: int
    agents: Mapping[str, int]
    """Memories by agent, superseded ones too."""
    embedding_model: str | None
    bytes: int


class RankedRow(NamedTuple):
    """What ranking knows of a row."""

    row: int
    type: str
    intensity: float
    accesses: Count
    accessed: Time
    created: Time
    session: str
    turn: int | None
    asks: int
    """Whether its text holds a question."""
    ends_asking: int
    characters: int
    role: str
    speaker: str = ""
    """The start of its text before a colon, which may name the speaker."""

    @property
    def is_turn(self) -> bool:
        """Return whether it is part of a conversation, next to others."""
        return bool(self.session) and self.turn is not None
