"""What the rooms above ask of a state: its sessions, and what can be read over all of them.

A path is a directory with SQLite and diskcache, an address a PostgreSQL server. Failures are
`StoreError`; nothing is decided here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record
from hippocampus.errors import StoreError
from hippocampus.storage import database
from hippocampus.storage.archive import Journal, RawList, exported
from hippocampus.storage.content_store import ContentStore, DiskStore, opened_store
from hippocampus.storage.ledger import (
    Ledger,
    Measure,
    ModelCall,
    NextText,
    SentMessages,
    SessionExcerpt,
    StateRows,
    TurnRows,
)
from hippocampus.storage.proxy import KEPT_SECONDS, ConversationStore, DirectoryConversations
from hippocampus.storage.state_dir import StateDir, is_address

if TYPE_CHECKING:
    from hippocampus.storage.facts.database import Database
    from hippocampus.storage.facts.models import TextRules

NO_FILES = "a state on PostgreSQL has no memory file and no daily logs: these are of a directory"
NO_CLAIMS = "the sessions of a directory are consolidated as they end: --watch is of a server"
INSTALL = "a state on PostgreSQL needs: pip install 'hippocampus-context[postgres]'"


class SessionStore(Protocol):
    """One session as it is stored; each method is described in `Ledger`, its class over SQLite."""

    busy_seconds: float | None
    """How long calls wait for the store, all until it is set again; None is the store's own limit."""
    mark: str
    """The letters that open the ids of all entries of a state, drawn for its first session."""

    # What a run begins with

    def agent(self, named: str = "") -> str: ...
    def pending(self) -> int: ...
    def records(self) -> list[Record]: ...
    def measures(self) -> list[Measure]: ...
    def candidates(self) -> list[NextText]: ...
    def sent(self, encoding: str) -> SentMessages: ...
    def context_load(self) -> str | None: ...

    # A turn

    def has_changed(self) -> bool: ...
    def last_call(self, before_turn: int | None = None) -> ModelCall | None: ...
    def go_on_from(self, turn: int) -> None: ...
    def settle_context_load(self, text: str, tokens: int, records: Iterable[Record]) -> str: ...
    def is_lost(self, store: ContentStore, key: str) -> bool: ...
    def put(self, store: ContentStore, content: bytes, parts: Iterable[str] = ()) -> None: ...
    def commit(self, turn: TurnRows) -> None: ...
    def save(self, *records: Record, raw: RawList | None = None) -> None: ...

    # Its end

    def decisions(self) -> list[tuple[int, Decision]]: ...
    def is_archived(self) -> bool: ...
    def is_shared(self) -> bool: ...
    def pack(self, min_bytes: int = 0) -> None: ...
    def consolidated(self, change: int) -> None: ...
    def rest(self) -> None: ...
    def close(self) -> None: ...


class StateStore(Protocol):
    """The sessions of one memory, and their payloads."""

    @property
    def index(self) -> Path | str:
        """Return the file of the search index; `:memory:` where it is made anew for each session."""

    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the content store of the state, for a `with` block."""

    def rows(self, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of some queries of every engine, each with its values."""

    def open(self, seconds: float) -> None:
        """Try what the sessions share; a put waits for `seconds` at most from then on."""

    def session(
        self, name: str, journal: Journal | None = None, busy_seconds: float | None = None
    ) -> SessionStore:
        """Open a session, and make it where it does not exist."""

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry."""

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first."""

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule."""

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation."""

    def claimed(self, idle_seconds: float, seconds: float) -> str | None:
        """Return a session that is due for its consolidation, which no other worker gets for some time.

        Raises:
            StoreError: the state is a directory, whose sessions are consolidated as they end.
        """

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""

    def agent_of(self, session: str) -> str | None:
        """Return the agent of a session; None where there is no such session."""

    def bounded(self, seconds: float | None) -> contextlib.AbstractContextManager[None]:
        """Let what a `with` block asks of a server in this thread take so long at most, all together."""

    def has_facts(self) -> bool:
        """Return whether there are facts, memories or blocks."""

    def facts(self, text: TextRules) -> Database:
        """Open the tables of facts, made where they are missing."""

    def conversations(self, now: float, seconds: float) -> ConversationStore:
        """Return the conversations of proxies, without those that have sent nothing for long.

        A call waits for a server for `seconds` at most.
        """

    def of_tenant(self, tenant: str) -> StateStore:
        """Return the state of a tenant, which shares the connections of this one."""

    def close(self) -> None:
        """Close what all sessions share."""


class DirectoryState(StateRows):
    """A state directory: SQLite for rows, diskcache for payloads."""

    def __init__(self, layout: StateDir) -> None:
        """Name the directory; nothing is opened yet."""
        self.layout = layout
        self._contents: ContentStore | None = None

    @property
    def index(self) -> Path:
        """Return the file of the search index."""
        return self.layout.index

    @contextlib.contextmanager
    def contents(self) -> Iterator[ContentStore]:
        """Return the store on the disk, or the one that `HIPPOCAMPUS_STORE` names."""
        with opened_store(self.layout) as self._contents:
            yield self._contents

    def open(self, seconds: float) -> None:
        """Open the store on the disk."""
        if isinstance(self._contents, DiskStore):
            self._contents.busy_seconds = seconds
            self._contents.open()

    def session(
        self, name: str, journal: Journal | None = None, busy_seconds: float | None = None
    ) -> Ledger:
        return Ledger(self.layout, name, journal, busy_seconds)

    def rows(self, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        with database.reading(self.layout) as db:
            return [db.execute(*query).fetchall() for query in queries]

    def claimed(self, idle_seconds: float, seconds: float) -> str | None:  # noqa: ARG002 - as on a server
        raise StoreError(NO_CLAIMS)

    def exported(self, session: str) -> bytes:
        return exported(self.layout, session)

    def bounded(self, seconds: float | None) -> contextlib.AbstractContextManager[None]:  # noqa: ARG002 - as on a server
        return contextlib.nullcontext()

    def has_facts(self) -> bool:
        return database.has_facts(self.layout)

    def facts(self, text: TextRules) -> Database:
        from hippocampus.storage.facts.database import Database

        return Database(self.layout.database, text)

    def conversations(self, now: float, seconds: float = 0.0) -> DirectoryConversations:  # noqa: ARG002 - as on a server
        return DirectoryConversations(self.layout, now - KEPT_SECONDS)

    def of_tenant(self, tenant: str) -> DirectoryState:  # noqa: ARG002 - as on a server
        """Return this state: a directory has one tenant."""
        return self

    def close(self) -> None:
        """Close nothing: sessions have the files."""


def directory_of(state: StateStore) -> StateDir:
    """Return the directory of a state.

    Raises:
        StoreError: it is on a server.
    """
    if isinstance(state, DirectoryState):
        return state.layout
    raise StoreError(NO_FILES)


def state_of(named: str | Path, tenant: str = "", payloads: str = "") -> StateStore:
    """Return the state of a path, or of the address of a server and a tenant of it.

    `payloads` is the address of object storage for the large ones, else HIPPOCAMPUS_PAYLOADS is.

    Raises:
        StoreError: an address cannot be read, there is no tenant, or a driver is not installed.
    """
    if not is_address(named):
        if payloads:
            raise StoreError("a directory has its payloads itself: payloads= is of a server")
        return DirectoryState(StateDir(Path(named)))
    try:
        from hippocampus.storage.objects import Objects
        from hippocampus.storage.postgres import PostgresState
    except ImportError:
        raise StoreError(INSTALL) from None
    bucket = payloads or os.environ.get("HIPPOCAMPUS_PAYLOADS", "")
    return PostgresState(str(named), tenant, objects=Objects(bucket) if bucket else None)
