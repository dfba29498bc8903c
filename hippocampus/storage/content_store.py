"""Payloads by the hash of their bytes.

They are rows of the state's database, or in the store of `Hippocampus(store=…)` or `HIPPOCAMPUS_STORE`. The
large ones of a server may be in object storage. The meaning of a payload is not known here.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import pkgutil
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage import encryption, packing
from hippocampus.storage.database import Database, Row
from hippocampus.storage.deadline import bounded, left
from hippocampus.storage.sqlite import BUSY_SECONDS

if TYPE_CHECKING:
    from hippocampus.storage.objects import Objects

STORE = "HIPPOCAMPUS_STORE"
"""Names what makes the store of a state directory: `package.module:function`, called with its path."""
LEVEL = 3
"""How hard a payload is packed: a turn waits for it."""
MAX_PARTS_BYTES = 1 << 24
"""Payloads that another one repeats are unpacked together when it is read."""
MIN_OBJECT_BYTES = 64 << 10
"""Packed payloads under this size stay in the database: a row is written sooner than an object."""
HEAD_BYTES = 16
"""Payloads of one key that begin alike are the same; one that was stored before the key of encryption is not."""
DELETE_SECONDS = 30.0
"""How long a deletion takes at most; no turn waits for it."""
PUT = """
    INSERT INTO content AS known (key, put_at, packed_bytes, parts, packed) VALUES {(?, ?, ?, ?, ?)}
    ON CONFLICT (key) DO UPDATE SET put_at = excluded.put_at, packed_bytes = excluded.packed_bytes,
        parts = CASE length(excluded.packed) WHEN 0 THEN known.parts ELSE excluded.parts END,
        packed = CASE WHEN length(excluded.packed) = 0 OR known.packed = excluded.packed THEN known.packed
            ELSE excluded.packed END
"""
"""A row without bytes renews the `put_at` of one that is stored."""
OBJECT = f"CASE WHEN length(packed) < packed_bytes THEN substr(packed, {HEAD_BYTES + 1}) END"
KNOWN = f"SELECT key, parts, substr(packed, 1, {HEAD_BYTES}) FROM content WHERE key IN (SELECT value FROM json_each(?))"
LOST = (
    "SELECT key FROM content WHERE length(packed) = 0 AND key IN (SELECT value FROM json_each(?))"
)
ALL = f"SELECT key, packed_bytes, put_at, parts, {OBJECT} FROM content ORDER BY key"
ONE = "SELECT packed_bytes, parts, packed FROM content WHERE key = ?"
GONE = f"DELETE FROM content WHERE key = ? AND put_at <= ? RETURNING {OBJECT}"
SEALED = "sealed"
"""The key of `meta` under which the marker of encryption is, once a payload is encrypted."""
MARK = f"INSERT INTO meta (key, value) VALUES ('{SEALED}', ?) ON CONFLICT (key) DO NOTHING"


class StoredPayload(NamedTuple):
    """A payload in a store, not unpacked."""

    key: str
    packed_bytes: int
    put_at: float
    """When it was last put, in seconds since 1970."""
    parts: tuple[str, ...] = ()
    """The keys of the payloads without which it cannot be read."""


class NewPayload(NamedTuple):
    """A payload to store, and the payloads that it may repeat."""

    content: bytes
    parts: Sequence[bytes] = ()


@runtime_checkable
class ContentStore(Protocol):
    """Where payloads wait to be recalled. Any thread may call it; failures are `StoreError`."""

    def put(self, content: bytes) -> str:
        """Store a payload and return its key, `content_key(content)`; again renews its `put_at`."""

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, byte for byte, or None; a damaged one is a `StoreError`."""

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays.

        Both in one step: a payload that is put and then referred to is not lost in between.
        """

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key."""


class PayloadTable:
    """The payloads of a state as rows, which a commit writes with its own.

    The database is opened when it is used first: one that cannot be opened is tried again at the next use.
    """

    def __init__(
        self,
        open_database: Callable[[], Database],
        tenant: str = "",
        objects: Objects | None = None,
    ) -> None:
        """Name the database, and where a server keeps the large payloads of a tenant."""
        self._open_database = open_database
        self._opened: Database | None = None
        self._opening = threading.Lock()
        self._objects = objects
        self._prefix = hashlib.sha256(tenant.encode()).hexdigest()[:32]
        self.busy_seconds: float | None = None
        """How long a put waits; None is the limit of the database."""

    def open(self) -> Database:
        """Return the database, opened.

        Raises:
            SealedError: payloads are encrypted, and their key is not set.
            StoreError: it cannot be opened.
        """
        with self._opening, bounded(self.busy_seconds):
            if self._opened is None:
                db = self._open_database()
                try:
                    _require_key(db)
                except BaseException:
                    db.close()
                    raise
                self._opened = db
            return self._opened

    def rows_of(self, payloads: Sequence[NewPayload]) -> list[Row]:
        """Return the rows of payloads; large ones go to object storage first, all at once.

        An object has a name that none had before: no row names the object that an abandoned request
        stores later. The rows of payloads that are stored there already have no bytes.

        Raises:
            StoreError: the key of encryption cannot be used, or object storage fails or is late.
        """
        found = {content_key(content): content for content, _ in payloads}
        parts = self._parts_of(payloads)
        packed = {
            key: packed_payload(key, content, packing.dictionary(parts.get(key, {}).values()))
            for key, content in found.items()
        }
        sizes, now = {key: len(content) for key, content in packed.items()}, time.time()
        large = [key for key in packed if sizes[key] >= MIN_OBJECT_BYTES]
        if self._objects and large:
            heads = {key: head for key, _, head in self._known(large)}
            names: dict[str, bytes] = {}
            for key in large:
                head, content = packed[key][:HEAD_BYTES], packed[key]
                packed[key] = b""
                if heads.get(key) != head:
                    name = f"{self._prefix}/{key}/{secrets.token_hex(8)}"
                    names[name], packed[key] = content, head + name.encode()
            self._objects.put(names, left(self.busy_seconds or BUSY_SECONDS))
        return [
            (key, now, sizes[key], " ".join(parts.get(key, ())), content)
            for key, content in packed.items()
        ]

    def _parts_of(self, payloads: Sequence[NewPayload]) -> dict[str, dict[str, bytes]]:
        """Return by key the stored payloads that a payload repeats: whole ones, up to a size.

        One that repeats others is not repeated, and one that is stored whole stays so: no chain of
        payloads has to be read.
        """
        given = {
            content_key(content): {content_key(part): part for part in parts}
            for content, parts in payloads
            if parts and len(content) < MAX_PARTS_BYTES
        }
        if not given:
            return {}
        known = self._known([*given, *itertools.chain.from_iterable(given.values())])
        whole = {key for key, parts, _ in known if not parts}
        whole |= {content_key(content) for content, parts in payloads if not parts}
        found: dict[str, dict[str, bytes]] = {}
        for key, texts in given.items():
            stored = {part: text for part, text in texts.items() if part in whole}
            sizes = itertools.accumulate(map(len, stored.values()))
            fitting = sum(size <= MAX_PARTS_BYTES for size in sizes)
            found[key] = {} if key in whole else dict([*stored.items()][:fitting])
        return found

    def _known(self, keys: Sequence[str]) -> list[Row]:
        return self.open().rows(KNOWN, (json.dumps(keys),))

    def write(self, db: Database, rows: Sequence[Row]) -> None:
        """Write rows in the open transaction, in the order of their keys: two workers wait for no ring.

        They are refused where another worker encrypts, under a key that this one has not.

        Raises:
            SealedError: so it is, in a file.
            StoreError: another worker has deleted one meanwhile that was stored already.
        """
        marked = encryption.marker().hex()
        if db.is_local:
            _require_key(db)
        else:
            db.run("SELECT expect_key(?)", (marked,))
        if marked:
            db.run(MARK, (marked,))
        db.insert(PUT, sorted(rows))
        known = json.dumps([key for key, *_, packed in rows if not packed])
        if known != "[]" and (lost := db.rows(LOST, (known,))):
            raise StoreError(
                f"content {lost[0][0][:12]} was deleted while it was put: put it again"
            )

    def put(self, content: bytes, parts: Sequence[bytes] = ()) -> str:
        """Store a payload and return its key; again renews its `put_at`."""
        db = self.open()
        with bounded(self.busy_seconds):
            rows = self.rows_of([NewPayload(content, parts)])
            with db.transaction():
                self.write(db, rows)
        return str(rows[0][0])

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, byte for byte, or None; a damaged one is a `StoreError`."""
        key, _, name = key.partition("/")
        db = self.open()
        seconds = max(db.patience_seconds, self.busy_seconds or 0.0)
        with bounded(seconds):
            found = [(1, "", b"")] if name else db.rows(ONE, (key,))
        if not found:
            return None
        [(size, parts, packed)] = found
        if len(packed) < size and not db.is_local:
            if not self._objects:
                raise StoreError(
                    f"content {key[:12]} is in object storage: name it by HIPPOCAMPUS_PAYLOADS"
                )
            name = f"{self._prefix}/{key}/{name}" if name else packed[HEAD_BYTES:].decode()
            packed = self._objects.get(name, seconds)
        return unpacked_payload(key, packed, db.path, self._texts(db, parts))

    def _texts(self, db: Database, parts: str) -> Iterator[bytes]:
        """Yield the payloads that another one repeats, none of which repeats others."""
        left = MAX_PARTS_BYTES
        for key in parts.split():
            [(_, others, packed)] = db.rows(ONE, (key,)) or [(0, key, b"")]
            if others:
                raise packing.DamagedError(f"content {key[:12]}, which it repeats, is gone")
            text = unpacked_payload(key, packed, db.path)
            left -= len(text)
            if left < 0:
                raise packing.DamagedError(f"it repeats more than {MAX_PARTS_BYTES:,} bytes")
            yield text

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays.

        Its row is deleted first: an object that no row names is a payload of its own, without an entry.
        """
        db = self.open()
        with bounded(DELETE_SECONDS):
            [gone] = db.together((GONE, (key, put_before)))
        names = [name.decode() for (name,) in gone if name]
        names += [f"{self._prefix}/{key}"] if "/" in key else []
        if self._objects:
            for name in names:
                self._objects.delete(name)
        return bool(names or gone)

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key; after them the objects that no row names, by key and own name."""
        named = set()
        for key, size, put_at, parts, name in self.open().rows(ALL):
            named.add(name)
            yield StoredPayload(key, size, put_at, tuple(parts.split()))
        for found in self._objects.list(self._prefix) if self._objects else ():
            if found.name.encode() not in named:
                key = found.name.removeprefix(f"{self._prefix}/")
                yield StoredPayload(key, found.size, found.put_at)

    def close(self) -> None:
        """Close the database until it is used again."""
        with self._opening:
            if self._opened is not None:
                self._opened.close()
            self._opened = None


def _require_key(db: Database) -> None:
    """Raise `SealedError` where payloads are encrypted, and their key is not set."""
    encryption.require(bytes.fromhex(db.meta(SEALED) or ""), db.path)


@contextlib.contextmanager
def host_store(root: Path) -> Iterator[ContentStore | None]:
    """Yield the content store that `STORE` names for a state directory, if it names one.

    Raises:
        StoreError: it names nothing that makes a store.
    """
    named = os.environ.get(STORE, "")
    if not named:
        yield None
        return
    try:
        store = pkgutil.resolve_name(named)(root)
        if not isinstance(store, ContentStore):
            raise TypeError(f"{store!r} has not the methods of a store")  # noqa: TRY301 - one sentence for all
    except Exception as failure:
        text = f"{STORE}={named!r}: expected package.module:function, called with a path; {failure}"
        raise StoreError(text) from failure
    try:
        yield store
    finally:
        getattr(store, "close", lambda: None)()


def packed_payload(key: str, content: bytes, texts: bytes = b"") -> bytes:
    """Return a payload as a row has it: compressed, and sealed if a key of encryption is set.

    Raises:
        StoreError: the key of encryption cannot be used, or the payload could not be read back.
    """
    packed = packing.packed(content, LEVEL, texts)
    if len(content) > packing.max_bytes(len(packed)):
        raise StoreError(
            f"a payload of {len(content):,} bytes packs into {len(packed):,}, and could not be "
            "distinguished from a decompression bomb"
        )
    return encryption.sealed(packed, key)


def unpacked_payload(key: str, packed: bytes, place: str, texts: Iterable[bytes] = ()) -> bytes:
    """Return the payload that `packed_payload` was given; `texts` are those that it repeats.

    Raises:
        StoreError: the bytes are damaged, or those of another payload, or sealed under another key.
    """
    try:
        content = packing.unpacked(encryption.unsealed(packed, key), packing.dictionary(texts))
    except packing.DamagedError:
        content = None
    if content is None or content_key(content) != key:
        raise StoreError(f"content {key[:12]} in {place} is damaged")
    return content


def damage(store: ContentStore, key: str) -> str:
    """Return a sentence on the damage of the payload of a key; empty without damage."""
    try:
        return "" if store.get(key) is not None else f"content {key[:12]} is lost"
    except StoreError as failure:
        return str(failure)
