"""The state of sessions and facts on PostgreSQL, shared by any number of workers; one tenant's rows at a time."""

from __future__ import annotations

import contextlib

from hippocampus.entries.entry import storable
from hippocampus.errors import StoreError
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.facts.models import TextRules
from hippocampus.storage.objects import Objects
from hippocampus.storage.postgres.connections import Connections
from hippocampus.storage.postgres.contents import PostgresContents
from hippocampus.storage.postgres.database import ServerDatabase
from hippocampus.storage.state import StateStore

HOUSEKEEPING_SECONDS = 60.0
"""How long a statement of a maintenance command may take."""


class PostgresState(StateStore):
    """The sessions, payloads and facts of one tenant."""

    layout = None

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
            raise StoreError(
                'a state on PostgreSQL needs the name of a tenant: tenant="acme", or the variable '
                "HIPPOCAMPUS_TENANT for a command"
            )
        self.tenant = storable(tenant).replace("\0", "\\x00")
        self.connections = connections or Connections(address)
        self._address, self._is_owner = address, connections is None
        self._objects = objects
        self._contents = PostgresContents(
            ServerDatabase(self.connections, self.tenant), self.tenant, objects
        )

    def contents(self) -> contextlib.AbstractContextManager[ContentStore]:
        """Return the payloads of the tenant."""
        return contextlib.nullcontext(self._contents)

    def payload_rows(self) -> PostgresContents:
        return self._contents

    def open(self, seconds: float) -> None:
        """Make the tables where they are missing; a put waits for `seconds` at most from then on."""
        self._contents.busy_seconds = seconds
        self.connections.start()
        self._contents.require_key()

    def database(self, text: TextRules | None = None) -> ServerDatabase:
        return ServerDatabase(self.connections, self.tenant, text, self.close if text else None)

    def reading(self) -> contextlib.closing[ServerDatabase]:
        return contextlib.closing(self.database())

    def caller_key(self) -> bytes:
        """Return the name of the tenant, which a caller does not see."""
        return self.tenant.encode()

    def of_tenant(self, tenant: str) -> PostgresState:
        return PostgresState(self._address, tenant, self.connections, self._objects)

    def wait_longer(self) -> None:
        self.connections.patience_seconds = HOUSEKEEPING_SECONDS

    def close(self) -> None:
        """Close the connections to the server, where they are its own."""
        if self._is_owner:
            self.connections.close()
