"""The state of sessions on PostgreSQL, shared by any number of workers; one tenant's rows at a time."""

from __future__ import annotations

import contextlib
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage.archive import Journal
from hippocampus.storage.archive.reader import readable
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import StateRows
from hippocampus.storage.postgres.connections import Connections
from hippocampus.storage.postgres.contents import PostgresContents
from hippocampus.storage.postgres.objects import Objects
from hippocampus.storage.postgres.proxy import PostgresConversations
from hippocampus.storage.postgres.session import PostgresSession, storable_name
from hippocampus.storage.proxy import KEPT_SECONDS


class PostgresState(StateRows):
    """The sessions and payloads of one tenant: `storage.state.StateStore`."""

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
        [rows] = self._read((query, (storable_name(session),)))
        return b"".join(readable(lines) for (lines,) in rows)

    def conversations(self, now: float, seconds: float) -> PostgresConversations:  # noqa: ARG002 - each request has its time
        """Return the conversations of the tenant's proxies; a call waits for `seconds` at most."""
        return PostgresConversations(self.connections, self.tenant, seconds, KEPT_SECONDS)

    def of_tenant(self, tenant: str) -> PostgresState:
        """Return the state of a tenant, which shares the connections of this one."""
        return PostgresState(self._address, tenant, self.connections, self._objects)

    def _read(self, *queries: tuple[str, tuple[Any, ...]]) -> list[list[tuple[Any, ...]]]:
        numbered = [(sql.replace("?", "%s"), values) for sql, values in queries]
        return self.connections.rows(self.tenant, self.connections.patience_seconds, *numbered)

    def close(self) -> None:
        """Close the connections to the server, where they are its own."""
        if self._is_owner:
            self.connections.close()
