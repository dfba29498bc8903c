"""The numbers that decide when the past of a view is edited, and how much stays in its place.

What other values do, chosen with one owner left out:

    python -m tests.bench.policy_numbers PATH...
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Constants:
    """What no policy sets: shares and parts without a unit, turns, tokens."""

    chance_of_use: float = 0.5
    """How likely a payload at full strength is used in the next ten turns: a record has the curve."""
    risky_turns: int = 30
    """The turns in which a payload is taken to have the strength that it has now."""
    roomy_share: float = 3 / 4
    """The share of its limit to which a forced view shrinks."""
    faded_part: int = 3
    """The part of its content that the entry of something small and faded weighs at most."""
    sleeping_part: int = 15
    """A dormant entry may have one token more per this many of its content."""
    sleeping_more_tokens: int = 300
    """The most of these."""
    min_saved_tokens: int = 2_000
    """What digests have to save: many of few turns show less than one of many turns, even where no
    provider caches anything."""
    limit_share: float = 1 / 4
    """The share of the view's limit that all digests together may take."""
    digest_share: float = 1 / 5
    """The tokens of digests without files, as a share of the tokens that they replace."""
    shown_share: float = 1 / 2
    """The same as a share of the view's tokens: entries may have shortened the messages before."""
    steps_share: float = 0.5
    """The share of a digest for the steps; the rest shows the files."""
    outcome_part: int = 10
    """The part of its tokens by which a result is shown in a digest."""
    outline_part: int = 6
    """The part of the tokens of a changed file that its outline has."""
    read_share: float = 1 / 4
    """The share that is shown of a file that the agent read earlier and did not change."""
    whole_turns: int = 24
    """The turns after it was read in which a file is shown whole."""


CONSTANTS = Constants()
