"""What the fact store keeps and answers: memories, triples, blocks, outcomes, and the policy.

Data only: nothing here computes, reads a clock or touches the disk. Times are seconds since 1970,
UTC; ids are UUIDs of version 7, which sort by time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    import numpy as np

Kind = Literal["fact", "memory"]
"""A fact is an atomic claim that can be superseded; a memory is kept word by word."""
Embed = Callable[[list[str]], "np.ndarray[Any, Any]"]
"""Texts to one row of numbers each; its attribute `model`, or else its name, names the model."""
Complete = Callable[[str], str]
"""A prompt to an answer."""
Rerank = Callable[[str, list[str]], Sequence[float]]
"""A query and texts to one score each, higher is better."""
Clock = Callable[[], float]
"""The time in seconds since 1970, UTC."""

UNTRUSTED = "tool"
"""The role whose words are data, not a wish."""
TRUSTED_ROLES = frozenset({"", "user", "host"})
"""Whose statements may end what another role said."""
HEARSAY = "hearsay"
"""The tag of statements that the user reports of others, supposes, or pasted."""
TYPES = ("fact", "preference", "event", "note", "decision", "correction", "error")
EVERY_AGENT = "*"
NEVER = float("inf")
"""A half-life that never ends."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was learnt; empty where that is not known."""

    session: str = ""
    turn: int | None = None
    entry_id: str = ""
    role: str = ""
    """Who said it, as messages name it: `user`, `assistant` or `tool`."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One fact or memory as it is kept."""

    id: str
    kind: Kind
    type: str
    content: str
    intensity: float
    """The running mean of how much it mattered, 0..1; scriptling calls it importance."""
    agent: str
    scope: str
    """The name of a part of the agent's memory; empty is the whole."""
    tags: tuple[str, ...]
    origin: Origin
    created: float
    accessed: float
    accesses: int
    encounters: int
    valid_from: float
    valid_until: float | None
    """When it stopped being true; none is still true."""
    known_until: float | None
    """When it was learnt that it is not true, or that another replaces it; none is current."""
    superseded_by: str | None
    removed: str | None
    """Why `compact` took it away: `faded`, `old` or `merged`; none is there."""
    embedding_model: str | None
    raw: str
    """The text that it was extracted from; empty where that is the content itself."""
    metadata: Mapping[str, Any]


class Relation(NamedTuple):
    """One value of a relation that has one at a time."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Triple:
    """One relation between two entities, with when it was true and when it was known."""

    id: int
    subject: str
    predicate: str
    object: str
    valid_from: float
    valid_until: float | None
    known_from: float
    known_until: float | None
    memory_id: str
    """The fact that states it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A named text of an agent."""

    agent: str
    scope: str
    key: str
    value: str
    updated: float


class Action(StrEnum):
    """What remembering did."""

    ADDED = "added"
    STRENGTHENED = "strengthened"
    """It was there already; its intensity and its count of encounters moved."""
    SUPERSEDED = "superseded"
    """It stands in the place of `others`, which are kept as history."""
    KEPT_APART = "kept_apart"
    """It is close to `others` but states something else; both are true."""
    REFUSED = "refused"
    """Nothing was written."""


WRITTEN = frozenset({Action.ADDED, Action.SUPERSEDED, Action.KEPT_APART})
"""The actions that made a memory."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one text, and why."""

    action: Action
    reason: str
    memory: Memory | None
    """The memory that holds the text; none when it was refused."""
    others: tuple[str, ...] = ()
    """Ids of the memories that were superseded, merged into or kept apart."""
    triples: tuple[Triple, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """The parts of a result's score, and what they come to."""

    total: float
    keyword: float = 0.0
    """The share of the query's words in it and in the turns next to it, rare words counting for more."""
    vector: float = 0.0
    """The cosine of query and content, with a share of those of the turns next to it."""
    minhash: float = 0.0
    """Estimated share of common words and shingles, where a ranking asks for it."""
    strength: float = 0.0
    recency: float = 0.0
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class Recalled:
    """One result: a memory, its score with parts, and its triples."""

    memory: Memory
    score: Score
    date: str
    """The day from which it is true, as `2026-02-09`."""
    triples: tuple[Triple, ...] = ()


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
    valid_until: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compaction:
    """What `compact` removed, or would remove."""

    removed: tuple[str, ...]
    merged: tuple[str, ...]
    remaining: int
    dry_run: bool


@dataclass(frozen=True, slots=True)
class Stats:
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


RANKINGS = ("ours", "hippo", "scriptling")
"""What may rank a recall; the second and the third are the formulas of those stores."""

HALF_LIFE_DAYS: Mapping[str, float] = MappingProxyType(
    {
        "fact": 90.0,
        "event": 30.0,
        "note": 7.0,
        "preference": NEVER,
        "decision": 180.0,
        "correction": 180.0,
        "error": 60.0,
    }
)
HIPPO_HALF_LIFE_DAYS = 28.881132523331054
"""ln 2 / (0.001 an hour × 24)."""


@dataclass(frozen=True, slots=True)
class FactPolicy:
    """How memories fade, conflict and rank; what the fields mean stands in `policy.facts.FactFields`."""

    half_life_days: Mapping[str, float] = field(default_factory=lambda: HALF_LIFE_DAYS)
    other_half_life_days: float = 90.0
    resistance: float = 0.3
    hide_below: float = 0.0
    prune_below: float = 0.1
    prune_after_days: float = 180.0
    boost: float = 0.02
    reinforce: Literal["confirmed", "returned"] = "confirmed"
    duplicate_cosine: float = 0.0
    new_cosine: float = 0.0
    duplicate_minhash: float = 0.0
    new_minhash: float = 0.0
    candidates: int = 5
    """How many stored facts a model is asked about for each new one."""
    preset: str = "ours"
    """Which of `RANKINGS` ranks a recall: `FactFields.ranking`."""
    importance: float = 0.5
    type: str = "note"
    """The type of a memory that is stored without one."""
    limit: int = 10
    block_characters: int = 100_000
    content_characters: int = 1_000_000
    keep_secrets: bool = False


POLICIES: Mapping[str, FactPolicy] = MappingProxyType(
    {
        "default": FactPolicy(),
        "hippo": FactPolicy(
            half_life_days=MappingProxyType({}),
            other_half_life_days=HIPPO_HALF_LIFE_DAYS,
            hide_below=0.05,
            reinforce="returned",
            duplicate_cosine=0.93,
            new_cosine=0.78,
            preset="hippo",
        ),
        "scriptling": FactPolicy(
            preset="scriptling",
            resistance=0.0,
            boost=0.0,
            reinforce="returned",
            duplicate_minhash=0.85,
            new_minhash=0.50,
        ),
    }
)
