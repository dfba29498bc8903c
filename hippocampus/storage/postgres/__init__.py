"""The state of sessions and facts on PostgreSQL, shared by any number of workers; one tenant's rows at a time."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage.archive import Journal
from hippocampus.storage.archive.reader import readable
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.facts.models import TextRules
from hippocampus.storage.ledger import StateRows
from hippocampus.storage.objects import Objects
from hippocampus.storage.postgres.connections import Connections
from hippocampus.storage.postgres.contents import PostgresContents
from hippocampus.storage.postgres.dialect import translated
from hippocampus.storage.postgres.facts import PostgresDatabase
from hippocampus.storage.postgres.proxy import PostgresConversations
from hippocampus.storage.postgres.session import PostgresSession, storable_name
from hippocampus.storage.proxy import KEPT_SECONDS

CLAIM = """
    UPDATE session SET claimed_until = extract(epoch FROM now()) + ? WHERE number = (
        SELECT number FROM session WHERE changes > consolidated AND active_at <= ?
            AND claimed_until <= extract(epoch FROM now())
        ORDER BY active_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) RETURNING name
"""


class PostgresState(StateRows):
    """The sessions, payloads and facts of one tenant: `storage.state.StateStore`."""

    index = ":memory:"
    """The search index of a session is made anew where it is searched: it is derived data."""
    named = staticmethod(storable_name)

    def __init__(
        self,
        address: str,
        tenant: str,
        connections: Connections | None = None,
        objects: Objects | None = None,
    ) -> None:
        """Name the server and the tenant, and where large payloads are; nothing is asked yet.

        Raises:
            StoreError: no tenant is named, or the address cannot be read.
        """
        if not tenant:
            raise StoreError('a state on PostgreSQL needs the name of a tenant: tenant="acme"')
        self.tenant = storable_name(tenant)
        self.connections = connections or Connections(address)
        self._address, self._is_owner = address, connections is None
        self._objects = objects
        self._contents = PostgresContents(self.connections, self.tenant, objects)

    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the payloads of the tenant."""
        return contextlib.nullcontext(self._contents)

    def open(self, seconds: float) -> None:
        """Make the tables where they are missing; a put waits for `seconds` at most from then on."""
        self._contents.busy_seconds = seconds
        self.connections.start()

    def session(
        self, name: str, journal: Journal | None = None, busy_seconds: float | None = None
    ) -> PostgresSession:
        """Open a session, and make it where it does not exist."""
        return PostgresSession(
            self.connections, self._contents, self.tenant, name, journal, busy_seconds
        )

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""
        query = (
            "SELECT lines FROM conversation JOIN session ON session.number = conversation.session"
            " WHERE name = ? ORDER BY conversation.number"
        )
        [rows] = self.rows((query, (storable_name(session),)))
        return b"".join(readable(lines) for (lines,) in rows)

    def conversations(self, now: float, seconds: float) -> PostgresConversations:  # noqa: ARG002 - each request has its time
        """Return the conversations of the tenant's proxies; a call waits for `seconds` at most."""
        return PostgresConversations(self.connections, self.tenant, seconds, KEPT_SECONDS)

    def bounded(self, seconds: float | None) -> contextlib.AbstractContextManager[None]:
        """Let what a `with` block asks in this thread take so long at most, all together."""
        return self.connections.bounded(seconds)

    def claimed(self, idle_seconds: float, seconds: float) -> str | None:
        """Return a session that is due for its consolidation, which no other worker gets for some time.

        Due is one that changed since its last consolidation, and not for `idle_seconds`. A worker that
        dies loses nothing: after `seconds` another one claims the session.
        """
        query = (CLAIM, (seconds, time.time() - idle_seconds))
        [rows] = self.rows(query)
        return str(rows[0][0]) if rows else None

    def has_facts(self) -> bool:
        """Return whether there are facts, memories or blocks."""
        query = "SELECT EXISTS (SELECT FROM memory) OR EXISTS (SELECT FROM block)"
        return bool(self.rows((query, ()))[0][0][0])

    def facts(self, text: TextRules) -> PostgresDatabase:
        """Return the tables of the tenant's facts."""
        return PostgresDatabase(self.connections, self.tenant, text, self.close)

    def of_tenant(self, tenant: str) -> PostgresState:
        """Return the state of a tenant, which shares the connections of this one."""
        return PostgresState(self._address, tenant, self.connections, self._objects)

    def rows(self, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        """Return the rows of some queries of every engine, each with its values, in one round trip."""
        numbered = [(translated(sql), values) for sql, values in queries]
        return self.connections.rows(self.tenant, self.connections.patience_seconds, *numbered)

    def close(self) -> None:
        """Close the connections to the server, where they are its own."""
        if self._is_owner:
            self.connections.close()
