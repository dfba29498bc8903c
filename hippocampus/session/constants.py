"""The numbers that decide when old turns become digests, and what these show.

What other values do, chosen with one owner left out:

    python -m tests.bench.policy_numbers PATH...
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constants:
    """What no policy sets: shares without a unit, and turns."""

    digest_share: float = 1 / 5
    """The tokens of digests without files, as a share of the tokens that they replace."""
    shown_share: float = 1 / 2
    """The same as a share of the view's tokens: entries may have shortened the messages before."""
    steps_share: float = 0.5
    """The share of a digest for the steps; the rest shows the files."""
    read_share: float = 1 / 4
    """The share that is shown of a file that the agent read earlier and did not change."""
    whole_turns: int = 24
    """The turns after it was read in which a file is shown whole."""


CONSTANTS = Constants()
