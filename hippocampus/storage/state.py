"""What the rooms above ask of a state: its sessions, and what is asked over all of them.

A path is a directory with SQLite and diskcache. Failures are `StoreError`; nothing is decided here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record
from hippocampus.storage import ledger, tombstones
from hippocampus.storage.archive import Journal, RawList, exported
from hippocampus.storage.content_store import ContentStore, opened_store
from hippocampus.storage.ledger import (
    NOTHING_SENT,
    Ledger,
    Measure,
    ModelCall,
    NextText,
    Reactivation,
    SentMessages,
    SessionExcerpt,
)
from hippocampus.storage.state_dir import StateDir


class SessionState(Protocol):
    """One session as it is stored; each method is described in `Ledger`, its class over SQLite."""

    busy_seconds: float | None
    """How long a call waits for the store; None is the store's own limit."""

    # What a run begins with

    def agent(self, named: str = "") -> str: ...
    def pending(self) -> int: ...
    def records(self) -> list[Record]: ...
    def measures(self) -> list[Measure]: ...
    def candidates(self) -> list[NextText]: ...
    def reactivations(self) -> list[Reactivation]: ...
    def sent(self, encoding: str) -> SentMessages: ...
    def context_load(self) -> str | None: ...

    # A turn

    def has_changed(self) -> bool: ...
    def last_call(self, before_turn: int | None = None) -> ModelCall | None: ...
    def go_on_from(self, turn: int) -> None: ...
    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str: ...
    def is_lost(self, store: ContentStore, key: str) -> bool: ...
    def put(self, store: ContentStore, content: bytes, parts: Iterable[str] = ()) -> None: ...
    def commit(  # noqa: PLR0913, PLR0917 - as in `Ledger`
        self,
        records: Iterable[Record],
        decisions: Iterable[Decision],
        call: ModelCall,
        again: Iterable[Reactivation] = (),
        sent: SentMessages = NOTHING_SENT,
        measures: Iterable[Measure] = (),
        raw: RawList | None = None,
        candidates: Iterable[NextText] = (),
    ) -> None: ...
    def save(self, *records: Record, raw: RawList | None = None) -> None: ...

    # Its end

    def decisions(self) -> list[tuple[int, Decision]]: ...
    def is_archived(self) -> bool: ...
    def is_shared(self) -> bool: ...
    def pack(self, min_bytes: int = 0) -> None: ...
    def rest(self) -> None: ...
    def close(self) -> None: ...


class State(Protocol):
    """The sessions of one memory, and their payloads."""

    @property
    def index(self) -> Path | str:
        """Return the file of the search index; `:memory:` where it is made anew for each session."""

    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the content store of the state, for a `with` block."""

    def session(
        self, name: str, journal: Journal | None = None, busy_seconds: float | None = None
    ) -> SessionState:
        """Open a session, and make it where it does not exist."""

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry."""

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first."""

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule."""

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation."""

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""

    def close(self) -> None:
        """Close what all sessions share."""


class DirectoryState:
    """A state directory: SQLite for rows, diskcache for payloads."""

    def __init__(self, layout: StateDir) -> None:
        """Name the directory; nothing is opened yet."""
        self.layout = layout

    @property
    def index(self) -> Path:
        """Return the file of the search index."""
        return self.layout.index

    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the store on the disk, or the one that `HIPPOCAMPUS_STORE` names."""
        return opened_store(self.layout)

    def session(
        self, name: str, journal: Journal | None = None, busy_seconds: float | None = None
    ) -> Ledger:
        """Open a session, and make it where it does not exist."""
        return Ledger(self.layout, name, journal, busy_seconds)

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry."""
        return ledger.entry_of(self.layout, entry_id)

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first."""
        return ledger.earlier(self.layout, session, agent, sessions)

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule."""
        return tombstones.tombstone(self.layout, key)

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation."""
        return ledger.unconsolidated(self.layout)

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""
        return exported(self.layout, session)

    def close(self) -> None:
        """Close nothing: sessions have the files."""
