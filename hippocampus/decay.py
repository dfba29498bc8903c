"""How strong an entry is after some turns: the power law of forgetting. Pure; turns, no clock.

Sources: protocol sections 8.1, 8.2 and 14.2; Wixted & Ebbesen 1991.
"""

from __future__ import annotations

from hippocampus.entry import Entry

EXPONENT = 0.5
"""The forgetting exponent, about 0.5 for people (section 2.3)."""
PRIORITY_FACTOR = {"critical": 0.0, "high": 0.3, "normal": 1.0, "low": 2.0}
ENCODING_FACTOR = {"manual": 0.5, "auto": 1.0}
ASSOCIATION_FACTOR = 0.7
"""For an entry that is associated with a strong one."""


def strength(entry: Entry, turn: int, *, associated: bool = False) -> float:
    """Return how strong an entry is at a turn, between its floor and 1.

    `initial x (1 + rate x turns) ** -0.5`, the rate multiplied by the factors of priority, encoding
    and association. The entry's own strength is the one at its last access.

    >>> from hippocampus.entry import Decay, Entry, Source
    >>> source = Source(type="tool", ref="", turn=0)
    >>> e = Entry(id="e", type="tool_result", source=source, summary="", decay=Decay(rate=0.1))
    >>> [round(strength(e, turn), 2) for turn in (0, 5, 10, 20, 50, 100)]
    [1.0, 0.82, 0.71, 0.58, 0.41, 0.3]
    """
    turns = max(0, turn - entry.decay.last_access)
    rate = entry.decay.rate * PRIORITY_FACTOR[entry.modifiers.priority]
    rate *= ENCODING_FACTOR[entry.modifiers.encoding]
    if associated:
        rate *= ASSOCIATION_FACTOR
    faded = min(1.0, entry.strength * float((1 + rate * turns) ** -EXPONENT))
    return max(entry.decay.floor, faded)
