"""The strength of an entry after some turns, by the power law of forgetting. Pure; turns, no clock.

Sources: protocol sections 8.1, 8.2 and 14.2; Wixted & Ebbesen 1991. `replay.tune` computes the same law
on arrays; facts fade by `facts.models.FactPolicy`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from hippocampus.entries.entry import Entry

EXPONENT = 0.5
"""The exponent of forgetting, about 0.5 for people (section 2.3); the shipped policies set their own."""
INITIAL_STRENGTH = 1.0
"""The strength of a new entry."""
PRIORITY_FACTOR = {"critical": 0.0, "high": 0.3, "normal": 1.0, "low": 2.0}
ENCODING_FACTOR = {"manual": 0.5, "auto": 1.0}
ASSOCIATION_FACTOR = 0.9
"""The factor on the rate of an entry that was used together with others."""


def strength(
    entry: Entry, turn: int, exponent: float = EXPONENT, initial: float = INITIAL_STRENGTH
) -> float:
    """Return the strength of an entry at a turn, from its floor to 1; an expired entry has 0.

    Two traces fade by `s x (1 + rate x turns) ** -exponent`, and the stronger one counts: the first
    begins with `initial` when the entry is made, the second with `entry.strength` at its last access.
    So an access never weakens an entry. The rate is multiplied by the factors of priority, encoding
    and association.

    >>> from hippocampus.entries.entry import Decay, Entry, Source
    >>> source = Source(type="tool", ref="", turn=0)
    >>> e = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.1))
    >>> [round(strength(e, turn), 2) for turn in (0, 5, 10, 20, 50, 100)]
    [1.0, 0.82, 0.71, 0.58, 0.41, 0.3]
    """
    expires = entry.lifecycle.expires
    if expires is not None and turn > expires:
        return 0.0
    rate = rate_of(entry)
    made = faded(initial, rate, turn - entry.lifecycle.created, exponent)
    used = faded(entry.strength, rate, turn - entry.decay.last_access, exponent)
    return max(entry.decay.floor, min(1.0, max(made, used)))


def faded(start: float, rate: float, turns: int, exponent: float) -> float:
    """Return the strength of one trace after some turns, by the power law."""
    return start * float((1 + rate * max(0, turns)) ** -exponent)


def weak_from(
    entry: Entry, below: float, exponent: float = EXPONENT, initial: float = INITIAL_STRENGTH
) -> float:
    """Return the turn from which the strength of an entry is at most `below`; infinite is never.

    The inverse of `strength`, but never before the last access: an entry is idle only after it.
    """
    rate = rate_of(entry)
    made = turns_until(below, rate, exponent, initial)
    used = turns_until(below, rate, exponent, entry.strength)
    turn = max(entry.lifecycle.created + made, entry.decay.last_access + used)
    if entry.decay.floor > below:
        turn = math.inf
    expires = entry.lifecycle.expires
    return turn if expires is None else min(turn, expires + 1)


def turns_until(
    below: float, rate: float, exponent: float = EXPONENT, initial: float = INITIAL_STRENGTH
) -> float:
    """Return the number of turns in which a strength fades to `below`; infinite is never.

    >>> round(turns_until(0.5, 0.15))
    20
    """
    if initial <= below:
        return 0.0
    if rate <= 0 or exponent <= 0 or below <= 0:
        return math.inf
    try:
        return float((initial / below) ** (1 / exponent) - 1) / rate
    except OverflowError:
        return math.inf


def accessed(
    entry: Entry, turn: int, strength: float = INITIAL_STRENGTH, exponent: float = EXPONENT
) -> Entry:
    """Return the entry after an access that gives it at least `strength`.

    A stronger trace of an earlier access stays, so that a mention never weakens a recall.
    """
    since = turn - entry.decay.last_access
    was_accessed = entry.decay.last_access > entry.lifecycle.created
    if was_accessed and faded(entry.strength, rate_of(entry), since, exponent) > strength:
        return entry
    decay = replace(entry.decay, last_access=turn)
    return replace(entry, strength=strength, decay=decay)


def rate_of(entry: Entry) -> float:
    """Return the decay rate of an entry, per turn, with the factors of its modifiers."""
    modifiers = entry.modifiers
    factor = PRIORITY_FACTOR[modifiers.priority] * ENCODING_FACTOR[modifiers.encoding]
    return entry.decay.rate * factor * (ASSOCIATION_FACTOR if modifiers.associations else 1.0)


class Explanation(NamedTuple):
    """The strength of an entry at a turn, and its terms."""

    strength: float
    in_ten_turns: float
    """The strength ten turns later, without an access."""
    rate: float
    """The rate of its kind, before the factors."""
    factors: Mapping[str, float]
    """The factors on the rate, by modifier; factors of 1 are left out."""
    floor: float
    made: int
    """The turn in which the entry was made."""
    last_access: int
    at_last_access: float
    """The strength at the last access."""
    expires: int | None
    """The turn after which the strength is 0; None is never."""

    def __str__(self) -> str:
        factors = "".join(f" × {factor:g} ({name})" for name, factor in self.factors.items())
        floor = f", floor {self.floor:g}" if self.floor else ""
        expires = "" if self.expires is None else f", expires after turn {self.expires}"
        return (
            f"strength {self.strength:.2f}, {self.in_ten_turns:.2f} in ten turns: rate {self.rate:g}"
            f"{factors}{floor}, made at turn {self.made}, last access at turn {self.last_access}"
            f"{expires}"
        )


def explained(
    entry: Entry, turn: int, exponent: float = EXPONENT, initial: float = INITIAL_STRENGTH
) -> Explanation:
    """Return the strength of an entry at a turn, its terms, and the strength ten turns later."""
    modifiers = entry.modifiers
    factors = {
        f"priority {modifiers.priority}": PRIORITY_FACTOR[modifiers.priority],
        f"encoding {modifiers.encoding}": ENCODING_FACTOR[modifiers.encoding],
        "associated": ASSOCIATION_FACTOR if modifiers.associations else 1.0,
    }
    now, later = (strength(entry, at, exponent, initial) for at in (turn, turn + 10))
    return Explanation(
        strength=round(now, 4),
        in_ten_turns=round(later, 4),
        rate=entry.decay.rate,
        factors={name: factor for name, factor in factors.items() if factor != 1},
        floor=entry.decay.floor,
        made=entry.lifecycle.created,
        last_access=entry.decay.last_access,
        at_last_access=entry.strength,
        expires=entry.lifecycle.expires,
    )
