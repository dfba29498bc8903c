"""What a consolidation kept: data that the fact store, MEMORY.md and the daily log agree on.

Pure data; nothing is judged, stored or rendered here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Origin = Literal["user", "assistant", "tool", "host"]
"""Who said it: what a tool result says has lower trust than what the user says."""


@dataclass(frozen=True, slots=True)
class Kept:
    """One thing that outlives a session."""

    text: str
    """One sentence or line, as it is remembered."""
    kind: str
    """The fact's type: `fact`, `preference`, `event`, `note`, `decision`, `correction`, `error`."""
    origin: Origin
    session: str
    turn: int
    entry_id: str | None
    """The entry whose content says more, recallable by this id; none where there is none."""
    fact_id: str = ""
    """The id in the fact store, once it is there."""
    outcome: str = ""
    """What the store did: added, strengthened, superseded, merged, kept apart."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one consolidation of a session did."""

    session: str
    turn: int
    kept: tuple[Kept, ...]
    finished: bool
    """Whether everything was written; an unfinished one is finished at the next start."""
