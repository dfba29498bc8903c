"""Which contents are due at a turn, and how strong they are: a row for each content, kept in columns.

Pure; turns, no clock. Whether what is due leaves the view is the plan's to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import TYPE_CHECKING

from hippocampus.entries import decay
from hippocampus.entries.entry import Entry, Stage
from hippocampus.policy import DECAY_RATES, Policy
from hippocampus.session.payload import Held

if TYPE_CHECKING:
    import numpy as np
    from numpy import typing as npt

    Floats = npt.NDArray[np.float64]

SLEEPING_ARGUMENTS_OVER = 50
"""Shortened arguments under so many tokens stay as they are."""
FIRST_ROWS = 64


def first_turn(held: Held, policy: Policy) -> float:
    """Return the first turn at which a content may be due as it stands; infinite is never.

    The policy's turns since the last access are those of a tool result at the policy's own rate: an
    entry that fades twice as fast is due after half as many. One at rate 0 is never due, nor is one
    whose floor is above the strength of the others then, nor any under the exponent 0.
    """
    entry, stage = held.record.entry, held.record.stage
    if stage is Stage.DORMANT or held.is_pinned:
        return inf
    if stage is Stage.FULL and held.large:
        return held.due_turn
    if stage is Stage.INDEXED and not held.large:
        return inf
    full = stage is Stage.FULL
    if full and policy.keeps_whole(held.treatment):
        return inf
    if held.is_superseded:
        return 0
    patience = policy.fade_after_turns if full else policy.sleep_after_turns
    faded = entry.decay.last_access + _turns_until_faded(entry, patience, policy)
    expires = entry.lifecycle.expires
    return faded if full or expires is None else min(faded, expires + 1)


def _turns_until_faded(entry: Entry, patience: int, policy: Policy) -> float:
    """Return after how many turns an entry is as weak as a usual one is after `patience`."""
    usual = policy.decay_rates["tool_result"] or DECAY_RATES["tool_result"]
    speed = decay.relative_rate(entry, usual) if policy.exponent else 0.0
    weakest = policy.initial_strength * (1 + usual * patience) ** -policy.exponent
    return patience / speed if speed and entry.decay.floor <= weakest else inf


class DueTable:
    """The contents of a session as rows: from which turn on they are due, and how they fade."""

    def __init__(self, policy: Policy, weigh: Callable[[str], int]) -> None:
        self._policy = policy
        self._weigh = weigh
        self._held: list[Held] = []
        self.refill(())

    def refill(self, contents: Iterable[Held]) -> None:
        """Begin again with these contents alone."""
        import numpy as np

        for left in self._held:
            left.row = -1
        self._held = []
        self._first: Floats = np.full(FIRST_ROWS, inf)
        self._rows: Floats = np.zeros((FIRST_ROWS, len(decay.Columns._fields)))
        for held in contents:
            self.add(held)

    def add(self, held: Held) -> None:
        """Take a content in."""
        import numpy as np

        held.row = len(self._held)
        self._held.append(held)
        if held.row == len(self._first):
            self._first = np.resize(self._first, 2 * held.row)
            self._rows = np.resize(self._rows, (2 * held.row, self._rows.shape[1]))
        self.note(held)

    def note(self, held: Held) -> None:
        """Write a content's row again: it was accessed, shortened, superseded or pinned.

        A content that left the table, since a digest tells it, has no row: messages still name it.
        """
        if held.row < 0:
            return
        self._first[held.row] = first_turn(held, self._policy)
        self._rows[held.row] = decay.row(held.record.entry)

    def due(self, turn: int, view_tokens: int) -> list[Held]:
        """Return what is due at a turn in a view of so many tokens, in the order of the list."""
        import numpy as np

        awake = np.flatnonzero(self._first[: len(self._held)] <= turn)
        fading = view_tokens >= self._policy.fade_view_tokens
        found = (self._held[row] for row in awake.tolist())
        due = [held for held in found if self._is_ripe(held, fading=fading)]
        return sorted(due, key=lambda held: (held.message, held.part))

    def _is_ripe(self, held: Held, *, fading: bool) -> bool:
        """Say whether a content whose turn has come may leave the view as it is."""
        if held.record.stage is Stage.FULL:
            return fading or held.large
        if not fading:
            return False
        over = self._policy.sleep_over_tokens
        least = SLEEPING_ARGUMENTS_OVER if held.record.kind == "arguments" else over
        ripe = held.weight(self._weigh) > least
        if not ripe:  # nor will it be before its record is another, which is noted
            self._first[held.row] = inf
        return ripe

    def strengths(
        self, contents: Sequence[Held], turn: int, associated: Sequence[bool]
    ) -> list[float]:
        """Return how strong contents are at a turn; `associated` says which have a strong friend."""
        import numpy as np

        rows = np.fromiter((held.row for held in contents), np.intp, len(contents))
        taken = decay.Columns(*self._rows[rows].T)
        mask = np.fromiter(associated, np.bool_, len(contents))
        found: list[float] = decay.strengths(taken, turn, mask, self._policy.exponent).tolist()
        return found
