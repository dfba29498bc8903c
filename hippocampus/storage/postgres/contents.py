"""Payloads on PostgreSQL, by the hash of their bytes: `content_store.ContentStore` for one tenant."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage import encryption
from hippocampus.storage.content_store import StoredPayload, packed_payload, unpacked_payload
from hippocampus.storage.database import Database, Row
from hippocampus.storage.deadline import bounded, left
from hippocampus.storage.objects import MIN_BYTES, REQUEST_SECONDS, Objects
from hippocampus.storage.postgres.database import ServerDatabase

PUT = """
    INSERT INTO content AS known (key, put_at, packed_bytes, packed) VALUES {(?, ?, ?, ?)}
    ON CONFLICT (key) DO UPDATE SET put_at = excluded.put_at, packed_bytes = excluded.packed_bytes, packed = CASE
        WHEN substr(known.packed, 1, 16) = substr(excluded.packed, 1, 16) THEN known.packed
        ELSE excluded.packed
    END
"""
"""Bytes that begin alike are the same: a payload that was stored before the key is replaced."""
SEALED = "sealed"
"""The key of `meta` under which the marker of encryption is, once there are encrypted payloads."""
MARK = f"INSERT INTO meta (key, value) VALUES ('{SEALED}', ?) ON CONFLICT (key) DO NOTHING"
ALL = "SELECT key, packed_bytes, put_at FROM content ORDER BY key"
GONE = "DELETE FROM content WHERE key = ? AND put_at <= ? RETURNING key"

DELETE_SECONDS = 3 * REQUEST_SECONDS
"""How long a deletion takes at most; no turn waits for it."""


class PostgresContents:
    """The payloads of one tenant."""

    def __init__(self, db: ServerDatabase, tenant: str, objects: Objects | None = None) -> None:
        self._db = db
        self._objects = objects
        self._prefix = hashlib.sha256(tenant.encode()).hexdigest()[:32]
        self.busy_seconds = db.patience_seconds
        """How long a put waits for the server."""

    def row_of(self, content: bytes) -> Row:
        """Return the row of a payload. A large one goes to object storage first, and its row has no bytes.

        Raises:
            StoreError: the key of encryption cannot be used, or object storage fails.
        """
        key = content_key(content)
        packed = packed_payload(key, content)
        size = len(packed)
        if self._objects and size >= MIN_BYTES:
            self._objects.put(
                f"{self._prefix}/{key}",
                packed,
                self.busy_seconds,
                replaces=encryption.is_sealed(packed),
            )
            packed = b""
        return key, time.time(), size, packed

    def require_key(self) -> None:
        """Check the key of encryption.

        Raises:
            SealedError: payloads are encrypted, and their key is not set.
        """
        encryption.require(bytes.fromhex(self._db.meta(SEALED) or ""), self._db.path)

    def write(self, db: Database, rows: Sequence[Row]) -> None:
        """Write rows in the open transaction, in the order of their keys: two workers wait for no ring.

        The server refuses them where another worker encrypts, under a key that this one has not.

        Raises:
            StoreError: another worker has deleted one from object storage since it was put there.
        """
        if marked := encryption.marker().hex():
            db.run(MARK, (marked,))
        db.run("SELECT expect_key(?)", (marked,))
        db.insert(PUT, sorted({row[0]: row for row in rows}.values()))
        large = [f"{self._prefix}/{key}" for key, *_, packed in rows if not packed]
        if large and self._objects:
            db.rows("SELECT 1")  # the rows are locked: a deletion waits from here on
            # The commit has the other half: a late bucket is not taken for a late server.
            if missing := self._objects.missing(large, left(self.busy_seconds) / 2):
                key = missing[0].removeprefix(f"{self._prefix}/")
                raise StoreError(f"content {key[:12]} was deleted while it was put: put it again")

    def put(self, content: bytes) -> str:
        """Store a payload and return its key; again renews its `put_at`."""
        row = self.row_of(content)
        with bounded(self.busy_seconds), self._db.transaction():
            self.write(self._db, [row])
        return str(row[0])

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, byte for byte, or None; a damaged one is a `StoreError`."""
        query = "SELECT packed FROM content WHERE key = ?"
        seconds = max(self._db.patience_seconds, self.busy_seconds)
        with bounded(seconds):
            found = self._db.rows(query, (key,))
        if not found:
            return None
        packed = found[0][0]
        if not packed and not self._objects:
            raise StoreError(
                f"content {key[:12]} is in object storage: name it by HIPPOCAMPUS_PAYLOADS"
            )
        if not packed and self._objects:
            packed = self._objects.get(f"{self._prefix}/{key}", seconds)
        return unpacked_payload(key, packed, self._db.path)

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays.

        A worker that puts it again meanwhile waits for its row, and looks for its object then.
        """
        with bounded(DELETE_SECONDS), self._db.transaction():
            gone = self._db.rows(GONE, (key, put_before))
            if gone and self._objects:
                self._objects.delete(f"{self._prefix}/{key}")
        return bool(gone)

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key."""
        return (StoredPayload(*row) for row in self._db.rows(ALL))
