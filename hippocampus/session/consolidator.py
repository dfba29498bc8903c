"""What a session needs from consolidation, which is above it: a Protocol, and the data it exchanges.

Nothing is decided here. `memory` fills the port in from `consolidation.scheduler`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Message
from hippocampus.storage.ledger import Ledger

Speaker = Literal["user", "assistant", "tool", "host"]
"""Who a statement comes from; statements of tools have less trust than those of the user."""


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """A session at one moment, as a consolidation reads it."""

    name: str
    agent: str
    turn: int
    messages: Sequence[Message]
    """The list as the host holds it; empty where only the disk has it."""
    records: Sequence[Record]


@dataclass(frozen=True, slots=True)
class ContextLoadRequest:
    """The start of a session, for which memories of earlier sessions are chosen."""

    session: str
    agent: str
    message: str
    """The user's first message."""
    context_time: float
    """When the session started, in seconds since 1970."""
    mark: str = ""
    """The letters that open the ids of its entries."""


@dataclass(frozen=True, slots=True)
class KeptItem:
    """One statement that outlives its session."""

    text: str
    """One sentence or line, as it is stored."""
    kind: str
    """The fact's type: `fact`, `preference`, `event`, `note`, `decision`, `correction`, `error`."""
    origin: Speaker
    session: str
    turn: int
    entry_id: str | None
    """The entry with the full content, which can be recalled; None without one."""
    fact_id: str = ""
    """The id in the fact store, once it is stored."""
    outcome: str = ""
    """What the store did: added, strengthened, superseded, merged, kept apart."""


@dataclass(frozen=True, slots=True)
class ConsolidationOutcome:
    """The result of one consolidation of a session."""

    session: str
    turn: int
    kept: tuple[KeptItem, ...]
    finished: bool
    """Whether everything was written; if not, the next consolidation finishes it."""
    model_tokens: int = 0
    """The estimated tokens of the model's call, prompt and answer; 0 without one."""


class Consolidator(Protocol):
    """The consolidation of one memory's sessions, as a session uses it."""

    @property
    def closed(self) -> bool:
        """Whether the memory is closed; a session that ends later is consolidated at the next start."""

    def context_load(self, request: ContextLoadRequest, ledger: Ledger) -> str:
        """Return the text before the first message, decided once and stored in the ledger.

        Raises:
            StoreError: the ledger cannot be read or written.
        """

    def end(self, session: SessionSnapshot, *, is_whole: bool) -> None:
        """Consolidate a session that ends in a thread, and wait for it for a bounded time."""

    def start(self, session: SessionSnapshot, *, last: bool) -> None:
        """Consolidate a session in a thread; `last` if no later run has these messages."""

    def consolidate(self, session: SessionSnapshot, *, is_whole: bool) -> ConsolidationOutcome:
        """Consolidate a session; unless `is_whole`, what the disk has of it is read first.

        Raises:
            StoreError: the ledger or the archive cannot be read or written.
        """
