"""The state of sessions on PostgreSQL, shared by any number of workers; one tenant's rows at a time."""

from __future__ import annotations

import contextlib
from typing import Any

from hippocampus.entries.entry import Record
from hippocampus.entries.origin import ADOPTED, STATE
from hippocampus.errors import StoreError
from hippocampus.storage.archive import Journal
from hippocampus.storage.archive.reader import readable
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import ENTRY, SessionExcerpt, record_of
from hippocampus.storage.postgres.connections import Connections
from hippocampus.storage.postgres.contents import PostgresContents
from hippocampus.storage.postgres.objects import Objects
from hippocampus.storage.postgres.proxy import PostgresConversations
from hippocampus.storage.postgres.session import PostgresSession, storable_name
from hippocampus.storage.proxy import KEPT_SECONDS

OWNER = f"""
    SELECT name, {ENTRY} FROM entry JOIN session ON session.number = entry.session
    WHERE id = %s ORDER BY entry.number LIMIT 1
"""
EARLIER = """
    SELECT number, name FROM session WHERE agent = %s AND name != %s
    ORDER BY active_at DESC, number DESC LIMIT %s
"""
NEWEST = f"""
    (SELECT {ENTRY} FROM entry WHERE session = %s AND stage != 'full'
        AND substr(origin, 1, 8) != '{ADOPTED}:' ORDER BY number DESC LIMIT 40)
    UNION ALL
    (SELECT {ENTRY} FROM entry WHERE session = %s AND substr(origin, 1, 6) = '{STATE}:'
        ORDER BY number DESC LIMIT 10)
"""


class PostgresState:
    """The sessions and payloads of one tenant: `storage.state.StateStore`."""

    index = ":memory:"
    """The search index of a session is made anew where it is searched: it is derived data."""

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

    def entry_of(self, entry_id: str) -> tuple[str, Record] | None:
        """Return the session that has an entry of an id, and the entry."""
        rows = self._rows(OWNER, storable_name(entry_id))
        return (rows[0][0], record_of(rows[0][1:])) if rows else None

    def earlier(self, session: str, agent: str, sessions: int) -> list[SessionExcerpt]:
        """Return the other sessions of an agent, the one that was written last first."""
        found = self._rows(EARLIER, storable_name(agent), storable_name(session), sessions)
        queries = [(NEWEST, (number, number)) for number, _ in found]
        rows = self.connections.rows(self.tenant, self.connections.patience_seconds, *queries)
        return [
            SessionExcerpt(name, [record_of(row) for row in newest])
            for (_, name), newest in zip(found, rows, strict=True)
        ]

    def tombstone(self, key: str) -> tuple[str, str] | None:
        """Return when a payload was removed, in UTC, and by which rule."""
        rows = self._rows("SELECT removed, rule FROM tombstone WHERE content = %s", key)
        return (rows[0][0], rows[0][1]) if rows else None

    def unconsolidated(self) -> list[str]:
        """Return the names of the sessions that changed since their consolidation."""
        query = "SELECT name FROM session WHERE changes > consolidated ORDER BY number"
        return [name for (name,) in self._rows(query)]

    def exported(self, session: str) -> bytes:
        """Return the raw conversation of a session as JSON lines."""
        query = (
            "SELECT lines FROM conversation JOIN session ON session.number = conversation.session"
            " WHERE name = %s ORDER BY conversation.number"
        )
        return b"".join(readable(lines) for (lines,) in self._rows(query, storable_name(session)))

    def agent_of(self, session: str) -> str | None:
        """Return the agent of a session; None where there is no such session."""
        rows = self._rows("SELECT agent FROM session WHERE name = %s", storable_name(session))
        return rows[0][0] if rows else None

    def conversations(self, now: float, seconds: float) -> PostgresConversations:  # noqa: ARG002 - each request has its time
        """Return the conversations of the tenant's proxies; a call waits for `seconds` at most."""
        return PostgresConversations(self.connections, self.tenant, seconds, KEPT_SECONDS)

    def of_tenant(self, tenant: str) -> PostgresState:
        """Return the state of a tenant, which shares the connections of this one."""
        return PostgresState(self._address, tenant, self.connections, self._objects)

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.connections.rows(
            self.tenant, self.connections.patience_seconds, (query, values)
        )[0]

    def close(self) -> None:
        """Close the connections to the server, where they are its own."""
        if self._is_owner:
            self.connections.close()
