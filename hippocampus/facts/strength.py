"""How strong a memory is at a time: one formula for all seeds. Pure; ages are arguments."""

from __future__ import annotations

import math
from collections.abc import Callable

from hippocampus.facts.models import FactPolicy
from hippocampus.storage.facts.models import Memory

DAY_SECONDS = 86_400.0
RECENT_DAYS = 100.0


def resistance(accesses: int, share: float = 0.3) -> float:
    """Return 1 + share * ln(1 + accesses).

    >>> [round(resistance(n), 2) for n in (0, 5, 20, 100)]
    [1.0, 1.54, 1.91, 2.38]
    """
    return 1.0 + share * math.log1p(accesses)


def fading(policy: FactPolicy, at: float) -> Callable[[str, float, int, float], float]:
    """Return the function for the strength of many memories at a time in seconds.

    Its arguments are type, intensity, accesses and the time of the last access:
    intensity * 2 ** (-age / (half-life * resistance)).

    >>> fading(FactPolicy(), 90 * DAY_SECONDS)("fact", 1.0, 0, 0.0)
    0.5
    """
    spans: dict[tuple[str, int], float] = {}

    def left(type_name: str, intensity: float, accesses: int, accessed: float) -> float:
        span = spans.get((type_name, accesses))
        if span is None:
            half_life = policy.half_life_days.get(type_name, policy.other_half_life_days)
            days = half_life * resistance(accesses, policy.resistance)
            span = spans[type_name, accesses] = days * DAY_SECONDS
        return intensity * math.exp2(min(0.0, (accessed - at) / span))

    return left


def recency(age_days: float) -> float:
    """Return how recent something of an age is, 0..1: e ** -1 after `RECENT_DAYS`.

    >>> [round(recency(days), 2) for days in (3, 30, 365)]
    [0.97, 0.74, 0.03]
    """
    return math.exp(-max(0.0, age_days) / RECENT_DAYS)


def due_for_pruning(policy: FactPolicy, memory: Memory, at: float) -> str | None:
    """Return why a memory would be pruned, `old` or `faded`, or nothing."""
    age_days = (at - memory.accessed) / DAY_SECONDS
    if policy.prune_after_days and age_days > policy.prune_after_days:
        return "old"
    if math.isinf(policy.half_life_days.get(memory.type, policy.other_half_life_days)):
        return None
    left = fading(policy, at)(memory.type, memory.intensity, memory.accesses, memory.accessed)
    return "faded" if left < policy.prune_below else None
