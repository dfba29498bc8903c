"""What the fact store answers, and its policy: outcomes, scores, settings.

Data only: nothing here reads a clock or touches the disk. Times are seconds since 1970,
UTC; ids are UUIDs of version 7, which sort by time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from hippocampus.storage.facts.rows import Memory, Triple

if TYPE_CHECKING:
    import numpy as np

    from hippocampus.policy.policy import FactFields

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
TYPES = ("fact", "preference", "event", "note", "decision", "correction", "error")
NEVER = float("inf")
"""A half-life that never ends."""
DAY_SECONDS = 86_400.0
FORGET_THRESHOLD, MAX_DELETED = 0.7, 10
"""How near a memory has to be to a description by which it is deleted, and how many go at once at most."""


class Action(StrEnum):
    """What remembering did."""

    ADDED = "added"
    STRENGTHENED = "strengthened"
    """It was there already; its intensity and its count of encounters moved."""
    SUPERSEDED = "superseded"
    """It replaces `others`, which are kept as history."""
    KEPT_APART = "kept_apart"
    """It is close to `others` but states something else; all are true."""
    REFUSED = "refused"
    """Nothing was written."""


WRITTEN = frozenset({Action.ADDED, Action.SUPERSEDED, Action.KEPT_APART})
"""The actions that made a memory."""


class Outcome(NamedTuple):
    """What became of one text, and why."""

    action: Action
    reason: str
    memory: Memory | None
    """The memory that holds the text; none when it was refused."""
    others: tuple[str, ...] = ()
    """Ids of the memories that were superseded, merged into or kept apart."""


class Score(NamedTuple):
    """The total of a result's score, and its parts."""

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


class Recalled(NamedTuple):
    """One result: a memory, its score with parts, and its triples."""

    memory: Memory
    score: Score
    date: str
    """The day from which it is true, as `2026-02-09`."""
    triples: tuple[Triple, ...] = ()


class Compaction(NamedTuple):
    """What `compact` removed, or would remove."""

    removed: tuple[str, ...]
    merged: tuple[str, ...]
    remaining: int
    dry_run: bool


HALF_LIFE_DAYS: Mapping[str, float] = {
    "fact": 90.0,
    "event": 30.0,
    "note": 7.0,
    "preference": NEVER,
    "decision": 180.0,
    "correction": 180.0,
    "error": 60.0,
}
HIPPO_HALF_LIFE_DAYS = 28.881132523331054
"""ln 2 / (0.001 an hour × 24)."""


@dataclass(frozen=True, slots=True)
class FactPolicy:
    """How memories fade, conflict and rank."""

    half_life_days: Mapping[str, float] = field(default_factory=lambda: HALF_LIFE_DAYS)
    """By type, the days in which a memory loses half of its strength."""
    other_half_life_days: float = 90.0
    """The same for all other types."""
    resistance: float = 0.3
    """How much a further access slows the fading; 0 ignores accesses."""
    hide_below: float = 0.0
    """Weaker memories are not returned, and not deleted; 0 hides none."""
    prune_below: float = 0.1
    """`compact` removes weaker memories; 0 keeps all."""
    prune_after_days: float = 180.0
    """`compact` removes memories without an access for longer; 0 keeps all."""
    boost: float = 0.02
    """How much an access adds to the intensity."""
    duplicate_cosine: float = 0.0
    """Over this cosine two facts are one, if no number, name or negation differs; 0 compares none."""
    duplicate_minhash: float = 0.0
    """The same for the share of common words and shingles."""
    new_minhash: float = 0.0
    """Facts under this share are unrelated: `compact` asks no model about them."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """The parts of another store's score; without them, results are ranked as in `ranking`."""
    keep_secrets: bool = False

    def strength(self, kind: str, intensity: float, accesses: int, age_seconds: float) -> float:
        """Return how strong a memory of a type is: intensity * 2 ** (-age / (half-life * resistance)).

        Its age counts from the last access; resistance is 1 + `self.resistance` * ln(1 + accesses).

        >>> FactPolicy().strength("fact", 1.0, 0, 90 * DAY_SECONDS)
        0.5
        """
        half_life = self.half_life_days.get(kind, self.other_half_life_days)
        span = half_life * (1.0 + self.resistance * math.log1p(accesses)) * DAY_SECONDS
        return intensity * math.exp2(min(0.0, -age_seconds / span))

    def due_for_pruning(self, memory: Memory, at: float) -> str | None:
        """Return why a memory would be pruned, `old` or `faded`, or nothing."""
        age = at - memory.accessed
        if self.prune_after_days and age > self.prune_after_days * DAY_SECONDS:
            return "old"
        if self.half_life_days.get(memory.type, self.other_half_life_days) == NEVER:
            return None
        left = self.strength(memory.type, memory.intensity, memory.accesses, age)
        return "faded" if left < self.prune_below else None


POLICIES: Mapping[str, FactPolicy] = {
    "default": FactPolicy(),
    "hippo": FactPolicy(
        half_life_days={},
        other_half_life_days=HIPPO_HALF_LIFE_DAYS,
        hide_below=0.05,
        duplicate_cosine=0.93,
        weights={"vector": 0.6, "strength": 0.3, "recency": 0.1},
    ),
    "scriptling": FactPolicy(
        weights={"keyword": 0.3, "minhash": 0.3, "importance": 0.2, "recency": 0.2},
        resistance=0.0,
        boost=0.0,
        duplicate_minhash=0.85,
        new_minhash=0.50,
    ),
}


def settings_of(fields: FactFields) -> FactPolicy:
    """Return a preset's settings with those of a policy's `facts` block put over them."""
    base = POLICIES[fields.preset]
    named = fields.model_dump(exclude={"preset"}, exclude_none=True)
    named["half_life_days"] = {**base.half_life_days, **fields.half_life_days}
    return replace(base, **named)
