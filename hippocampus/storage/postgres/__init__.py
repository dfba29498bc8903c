"""The state of sessions and facts on PostgreSQL, shared by any number of workers; one tenant's rows at a time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence

from hippocampus.entries.entry import content_key, named_content, storable
from hippocampus.errors import StoreError
from hippocampus.storage import encryption
from hippocampus.storage.content_store import (
    ContentStore,
    StoredPayload,
    packed_payload,
    unpacked_payload,
)
from hippocampus.storage.database import Database, Row
from hippocampus.storage.deadline import bounded, left
from hippocampus.storage.facts.rows import TextRules
from hippocampus.storage.object_storage import MIN_BYTES, REQUEST_SECONDS, Objects
from hippocampus.storage.postgres.connections import Connections, due_tenants
from hippocampus.storage.postgres.database import ServerDatabase
from hippocampus.storage.state import StateStore, state_of

HOUSEKEEPING_SECONDS = 60.0
"""How long a statement of a maintenance command may take."""
HEAD_BYTES = 16
"""Payloads of one key that begin alike are the same; one that was stored before the key of encryption is not."""
PUT = f"""
    INSERT INTO content AS known (key, put_at, packed_bytes, packed) VALUES {{(?, ?, ?, ?)}}
    ON CONFLICT (key) DO UPDATE SET put_at = excluded.put_at, packed_bytes = excluded.packed_bytes, packed = CASE
        WHEN substr(known.packed, 1, {HEAD_BYTES}) = substr(excluded.packed, 1, {HEAD_BYTES})
            OR excluded.packed = '' THEN known.packed
        ELSE excluded.packed
    END
"""
KNOWN = f"SELECT key, substr(packed, 1, {HEAD_BYTES}) FROM content WHERE key IN (SELECT value FROM json_each(?))"
LOST = "SELECT key FROM content WHERE packed = '' AND key IN (SELECT value FROM json_each(?))"
SEALED = "sealed"
"""The key of `meta` under which the marker of encryption is, once a payload is encrypted."""
MARK = f"INSERT INTO meta (key, value) VALUES ('{SEALED}', ?) ON CONFLICT (key) DO NOTHING"
ALL = f"""
    SELECT key, packed_bytes, put_at, CASE WHEN length(packed) < packed_bytes THEN substr(packed, {HEAD_BYTES + 1}) END
    FROM content ORDER BY key
"""
GONE = "DELETE FROM content WHERE key = ? AND put_at <= ? RETURNING packed_bytes, packed"
DELETE_SECONDS = 3 * REQUEST_SECONDS
"""How long a deletion takes at most; no turn waits for it."""


def state_at(address: str, tenant: str, payloads: str) -> PostgresState:
    """Return the state of a tenant; `payloads` is the address of object storage for the large ones, or empty."""
    return PostgresState(address, tenant, objects=Objects(payloads) if payloads else None)


def due_states(address: str, idle_seconds: float) -> Iterator[tuple[str, StateStore]]:
    """Yield the names and the states of the tenants with sessions to consolidate."""
    bound, tenants = due_tenants(address, idle_seconds)
    for first in tenants[:1]:
        with contextlib.closing(state_of(bound, first)) as state:
            yield from ((tenant, state.of_tenant(tenant)) for tenant in tenants)


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
        return contextlib.nullcontext(self._contents)

    def payload_rows(self) -> PostgresContents:
        return self._contents

    def open(self, seconds: float) -> None:
        del seconds  # a pool takes its own to open
        encryption.marker()  # a key that cannot be used is an error while the server is away too
        self.connections.start()
        db = self.database()
        encryption.require(bytes.fromhex(db.meta(SEALED) or ""), db.path)

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
        if self._is_owner:
            self.connections.close()


class PostgresContents:
    """The payloads of one tenant, by the hash of their bytes: its `ContentStore`."""

    def __init__(self, db: ServerDatabase, tenant: str, objects: Objects | None = None) -> None:
        self._db = db
        self._objects = objects
        self._prefix = hashlib.sha256(tenant.encode()).hexdigest()[:32]

    def rows_of(self, contents: Iterable[bytes]) -> list[Row]:
        """Return the rows of payloads; large ones go to object storage first, all at once.

        An object has a name that none had before: no row names the object that an abandoned request
        stores later. The rows of payloads that are stored already have no bytes.

        Raises:
            StoreError: the key of encryption cannot be used, or object storage fails or is late.
        """
        found = {content_key(content): content for content in contents}
        packed = {key: packed_payload(key, content) for key, content in found.items()}
        sizes, now = {key: len(content) for key, content in packed.items()}, time.time()
        if self._objects and (large := [key for key in packed if sizes[key] >= MIN_BYTES]):
            known: dict[str, bytes] = dict(self._db.rows(KNOWN, (json.dumps(large),)))
            names: dict[str, bytes] = {}
            for key in large:
                head, content = packed[key][:HEAD_BYTES], packed[key]
                packed[key] = b""
                if known.get(key) != head:
                    name = f"{self._prefix}/{key}/{secrets.token_hex(8)}"
                    names[name], packed[key] = content, head + name.encode()
            self._objects.put(names, left(self._db.patience_seconds))
        return [(key, now, sizes[key], content) for key, content in packed.items()]

    def write(self, db: Database, rows: Sequence[Row]) -> None:
        """Write rows in the open transaction, in the order of their keys: two workers wait for no ring.

        The server refuses them where another worker encrypts, under a key that this one has not.

        Raises:
            StoreError: another worker has deleted one meanwhile that was stored already.
        """
        if marked := encryption.marker().hex():
            db.run(MARK, (marked,))
        db.run("SELECT expect_key(?)", (marked,))
        db.insert(PUT, sorted(rows))
        known = json.dumps([key for key, *_, packed in rows if not packed])
        if known != "[]" and (lost := db.rows(LOST, (known,))):
            raise StoreError(
                f"{named_content(lost[0][0])} was deleted while it was put: put it again"
            )

    def put(self, content: bytes) -> str:
        rows = self.rows_of([content])
        with self._db.transaction():
            self.write(self._db, rows)
        return str(rows[0][0])

    def get(self, key: str) -> bytes | None:
        query = "SELECT packed_bytes, packed FROM content WHERE key = ?"
        key, _, name = key.partition("/")
        found = [] if name else self._db.rows(query, (key,))
        if not found and not name:
            return None
        [(size, packed)] = found or [(1, b"")]
        if len(packed) < size:
            if not self._objects:
                raise StoreError(
                    f"{named_content(key)} is in object storage: name it by HIPPOCAMPUS_PAYLOADS"
                )
            name = f"{self._prefix}/{key}/{name}" if name else packed[HEAD_BYTES:].decode()
            packed = self._objects.get(name, left(self._db.patience_seconds))
        return unpacked_payload(key, packed, self._db.path)

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        # The row first: an object that no row names is a payload of its own, without an entry.
        with bounded(DELETE_SECONDS):
            gone = self._db.rows(GONE, (key, put_before))
        names = [packed[HEAD_BYTES:].decode() for size, packed in gone if len(packed) < size]
        names += [f"{self._prefix}/{key}"] if "/" in key else []
        if self._objects:
            for name in names:
                self._objects.delete(name)
        return bool(names or gone)

    def stored(self) -> Iterator[StoredPayload]:
        """Yield the objects that no row names too, by key and own name."""
        named = set()
        for key, size, put_at, packed in self._db.rows(ALL):
            named.add(packed)
            yield StoredPayload(key, size, put_at)
        for found in self._objects.list(self._prefix) if self._objects else ():
            if found.name.encode() not in named:
                key = found.name.removeprefix(f"{self._prefix}/")
                yield StoredPayload(key, found.size, found.put_at)
