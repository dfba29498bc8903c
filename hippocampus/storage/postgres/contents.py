"""Payloads on PostgreSQL, by the hash of their bytes: `content_store.ContentStore` for one tenant."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import zstandard

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage import encryption, packing
from hippocampus.storage.content_store import LEVEL, StoredPayload
from hippocampus.storage.objects import MIN_BYTES, Objects
from hippocampus.storage.postgres.connections import Connections

PUT = """
    INSERT INTO content (key, put_at, packed) VALUES (%s, %s, %s)
    ON CONFLICT (tenant, key) DO UPDATE SET put_at = excluded.put_at
"""
ALL = "SELECT key, octet_length(packed), put_at FROM content ORDER BY key"
GONE = "DELETE FROM content WHERE key = %s AND put_at <= %s RETURNING key"


class PostgresContents:
    """The payloads of one tenant."""

    def __init__(
        self, connections: Connections, tenant: str, objects: Objects | None = None
    ) -> None:
        self._connections = connections
        self._tenant = tenant
        self._objects = objects
        self._prefix = hashlib.sha256(tenant.encode()).hexdigest()[:32]
        self.busy_seconds = connections.patience_seconds
        """How long a put waits for the server."""

    def row_of(self, content: bytes) -> tuple[str, float, bytes]:
        """Return the row of a payload. A large one goes to object storage first, and its row has no bytes.

        Raises:
            StoreError: the key of encryption cannot be used, or object storage fails.
        """
        key = content_key(content)
        compressed = zstandard.ZstdCompressor(level=LEVEL).compress(content)
        packed = encryption.sealed(compressed, key)
        if self._objects and len(packed) >= MIN_BYTES:
            self._objects.put(f"{self._prefix}/{key}", packed, self.busy_seconds)
            packed = b""
        return key, time.time(), packed

    def write(self, cursor: psycopg.Cursor[Any], rows: Sequence[tuple[str, float, bytes]]) -> None:
        """Write rows in the open transaction, in the order of their keys: two workers wait for no ring."""
        if rows:
            cursor.executemany(PUT, sorted(rows))

    def put(self, content: bytes) -> str:
        """Store a payload and return its key; again renews its `put_at`."""
        row = self.row_of(content)
        with self._connections.transaction(self._tenant, self.busy_seconds) as db:
            self.write(db.cursor(), [row])
        return row[0]

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, byte for byte, or None; a damaged one is a `StoreError`."""
        query = "SELECT packed FROM content WHERE key = %s"
        seconds = max(self._connections.patience_seconds, self.busy_seconds)
        [found] = self._connections.rows(self._tenant, seconds, (query, (key,)))
        if not found:
            return None
        packed = found[0][0]
        if not packed and not self._objects:
            raise StoreError(
                f"content {key[:12]} is in object storage: name it by HIPPOCAMPUS_PAYLOADS"
            )
        if not packed and self._objects:
            packed = self._objects.get(f"{self._prefix}/{key}", seconds)
        try:
            content = packing.unpacked(encryption.unsealed(packed, key))
        except packing.DamagedError:
            content = b""
        if content_key(content) != key:
            raise StoreError(f"content {key[:12]} in {self._connections.name} is damaged")
        return content

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays."""
        query = (GONE, (key, put_before))
        [gone] = self._connections.rows(self._tenant, self._connections.patience_seconds, query)
        if gone and self._objects:
            seconds = self._connections.patience_seconds
            self._objects.delete(f"{self._prefix}/{key}", seconds)
        return bool(gone)

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key; one in object storage has no bytes here."""
        [rows] = self._connections.rows(self._tenant, self._connections.patience_seconds, (ALL, ()))
        return (StoredPayload(*row) for row in rows)
