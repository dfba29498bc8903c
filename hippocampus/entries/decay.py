"""The strength of an entry after some turns, by the power law of forgetting. Pure; turns, no clock.

Sources: protocol sections 8.1, 8.2 and 14.2; Wixted & Ebbesen 1991.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from hippocampus.entries.entry import Entry

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]

EXPONENT = 0.5
"""The exponent of forgetting, about 0.5 for people (section 2.3)."""
INITIAL_STRENGTH = 1.0
"""The strength of an entry when it is made or accessed."""
PRIORITY_FACTOR = {"critical": 0.0, "high": 0.3, "normal": 1.0, "low": 2.0}
ENCODING_FACTOR = {"manual": 0.5, "auto": 1.0}
ASSOCIATION_FACTOR = 0.7
"""Multiplies the rate of an entry that is associated with a strong one."""


def strength(
    entry: Entry, turn: int, *, associated: bool = False, exponent: float = EXPONENT
) -> float:
    """Return the strength of an entry at a turn, from its floor to 1; an expired entry has 0.

    The formula is `initial x (1 + rate x turns) ** -0.5`, with the rate multiplied by the factors of
    priority, encoding and association. `entry.strength` is the strength at the last access.

    >>> from hippocampus.entries.entry import Decay, Entry, Source
    >>> source = Source(type="tool", ref="", turn=0)
    >>> e = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.1))
    >>> [round(strength(e, turn), 2) for turn in (0, 5, 10, 20, 50, 100)]
    [1.0, 0.82, 0.71, 0.58, 0.41, 0.3]
    """
    expires = entry.lifecycle.expires
    if expires is not None and turn > expires:
        return 0.0
    turns = max(0, turn - entry.decay.last_access)
    rate = _rate(entry)
    if associated:
        rate *= ASSOCIATION_FACTOR
    faded = min(1.0, entry.strength * float((1 + rate * turns) ** -exponent))
    return max(entry.decay.floor, faded)


def relative_rate(entry: Entry, rate: float) -> float:
    """Return how many times faster an entry fades than at a given rate, with its own factors.

    Strength depends on rate x turns alone, so an entry that fades twice as fast takes half the turns.
    """
    return _rate(entry) / rate if rate else 0.0


def accessed(entry: Entry, turn: int, initial: float = INITIAL_STRENGTH) -> Entry:
    """Return the entry after an access, with the strength of a new one."""
    decay = entry.decay.model_copy(update={"last_access": turn})
    return entry.model_copy(update={"strength": initial, "decay": decay})


class Columns(NamedTuple):
    """The numbers from which the strength of many entries is computed, one row an entry."""

    initial: Floats
    rate: Floats
    """The rate multiplied by the factors of priority and encoding."""
    floor: Floats
    last_access: Floats
    expires: Floats
    """The turn after which the entry has expired; infinite for none."""


def row(entry: Entry) -> tuple[float, float, float, float, float]:
    """Return the numbers from which an entry's strength is computed, in the order of `Columns`."""
    expires = entry.lifecycle.expires
    ends = float("inf") if expires is None else expires
    return entry.strength, _rate(entry), entry.decay.floor, entry.decay.last_access, ends


def columns(entries: Sequence[Entry]) -> Columns:
    """Return the columns of some entries, in their order."""
    import numpy as np

    return Columns(*np.array([row(entry) for entry in entries], np.float64).reshape(-1, 5).T)


def _rate(entry: Entry) -> float:
    """Return the rate with the factors that do not depend on other entries."""
    modifiers = entry.modifiers
    factor = PRIORITY_FACTOR[modifiers.priority] * ENCODING_FACTOR[modifiers.encoding]
    return entry.decay.rate * factor


def strengths(
    rows: Columns,
    turn: int,
    associated: npt.NDArray[np.bool_] | None = None,
    exponent: float = EXPONENT,
) -> Floats:
    """Return for each row the strength that `strength` returns for its entry.

    `associated` has True for each row whose entry is associated with a strong one.
    """
    import numpy as np

    turns = np.maximum(0.0, turn - rows.last_access)
    rate = rows.rate
    if associated is not None:
        rate = np.where(associated, rate * ASSOCIATION_FACTOR, rate)
    faded = np.minimum(1.0, rows.initial * (1 + rate * turns) ** -exponent)
    return np.where(turn > rows.expires, 0.0, np.maximum(rows.floor, faded))
