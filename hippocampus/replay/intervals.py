"""95 percent intervals: of a share by its counts, and of a ratio of sums by samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

Z = 1.959964
"""The quantile of the normal distribution for 95 percent."""
ENDS = (2.5, 97.5)
"""The percentiles between which 95 percent of the samples lie."""
SAMPLES = 10_000


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Return the ends of the interval of a share (Wilson 1927).

    >>> [round(end, 3) for end in wilson(1, 35)]
    [0.005, 0.145]
    """
    share, spread = part / whole, Z**2 / whole
    middle = share + spread / 2
    half = math.sqrt(spread * (share * (1 - share) + spread / 4))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def bootstrap(parts: Sequence[float], wholes: Sequence[float]) -> tuple[float, float, float]:
    """Return the ratio of two sums over pairs, and the ends of its bootstrap interval.

    Samples with a second sum of zero do not count.
    """
    draws = np.random.default_rng(0).integers(0, len(parts), (SAMPLES, len(parts)))
    part, whole = (np.array(values, float)[draws].sum(1) for values in (parts, wholes))
    low, high = np.percentile(part[whole > 0] / whole[whole > 0], ENDS)
    return sum(parts) / sum(wholes), float(low), float(high)
