"""Payloads by the hash of their bytes.

They are in the store of `Hippocampus(store=…)` or `HIPPOCAMPUS_STORE`, else in diskcache, as bytes only (its
default unpickles its values), never evicted, in a folder that only its owner may read. The meaning of a
payload is not known here.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import itertools
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import diskcache
import zstandard

from hippocampus.entries.entry import content_key, named_content
from hippocampus.errors import DamageError, StoreError
from hippocampus.storage import encryption, files, packing
from hippocampus.storage.sqlite import (
    BUSY_SECONDS,
    FAILURES,
    connected,
    error_of,
    in_turn,
    is_fixed,
    reading,
    transaction,
)

NO_BYTES = 1 << 50
"""More than a payload or a store ever has: diskcache evicts above one limit, and writes files above another."""
STORED = """
    SELECT key, coalesce(length(value), 0), coalesce(expire_time, 0),
        CASE substr(value, 1, ?) WHEN ? THEN value ELSE x'' END
    FROM Cache ORDER BY key
"""
LEVEL = 6
"""How hard a payload is packed, for which a turn waits: 0.04 ms longer than at 3, for 5 to 7 percent less."""
APPLICATION_ID = 0x48C0_57E0
"""By which SQLite's header names the file as ours."""
PAGE_BYTES, CACHED_PAGES = 8_192, 4_096
"""Most packed payloads are small: on pages of 4,096 bytes, the rest of which is lost to them, a sixth is empty."""
WITH_PARTS = b"hippocampus-parts1"
"""The start of a payload that repeats others: their number in 4 bytes, their keys, and a frame.

Without a frame it is the JSON list of the items of the others, which are lists.
"""
COUNT_BYTES, KEY_BYTES = 4, 32
MAX_PARTS_BYTES = 1 << 24
"""Payloads that another one repeats are unpacked together when it is read."""
POLL_SECONDS = 0.01
"""How long SQLite itself waits for a lock; after that, writers ask again at random moments."""
NEVER_SECONDS = 1e10
"""When a payload expires after its last put: in 300 years. diskcache renews nothing but the expiry, so
it is how the time of the last put is stored."""


class StoredPayload(NamedTuple):
    """A payload in a store, not unpacked."""

    key: str
    packed_bytes: int
    put_at: float
    """When it was last put, in seconds since 1970."""
    parts: tuple[str, ...] = ()
    """The keys of the payloads without which it cannot be read."""


@runtime_checkable
class ContentStore(Protocol):
    """Where payloads wait to be recalled. Any thread may call it; failures are `StoreError`."""

    def put(self, content: bytes) -> str:
        """Store a payload and return its key, `content_key(content)`; again renews its `put_at`."""

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, byte for byte, or None; a damaged one is a `DamageError`."""

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays.

        Both in one step: a payload that is put and then referred to is not lost in between.
        """

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key."""


class _BytesDisk(diskcache.Disk):  # type: ignore[misc]  # it carries no types
    """Reads and writes bytes in rows, under names of its own.

    Refuses what would be unpickled (CVE-2025-69872), and touches no file that a row names.
    """

    def put(self, key: Any) -> tuple[Any, bool]:
        if not isinstance(key, str):
            raise TypeError("keys of the content store are text")
        return key, True

    def get(self, key: Any, raw: bool) -> Any:  # noqa: FBT001 - diskcache's signature
        if not raw:
            raise StoreError("the content store holds a key that it did not write")
        return key

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:  # noqa: FBT001
        if mode != diskcache.core.MODE_RAW or filename is not None:
            raise StoreError("the content store holds a value that it did not write")
        return super().fetch(mode, filename, value, read)

    def remove(self, file_path: str) -> None:
        """Remove no file: none is ours."""


class DiskStore:
    """The content store on diskcache; `folder` is made when missing, readable by its owner only.

    It is opened when it is used first: one that cannot be opened is tried again at the next use.
    Whatever cannot be read or written is a `StoreError`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._database = folder / diskcache.core.DBNAME
        self._marker = folder / "sealed"
        """The file that marks a store with encrypted payloads, once it has one."""
        self._opened: diskcache.Cache | None = None
        self._opening = threading.Lock()
        """SQLite gives a lock to any waiting thread: only one of a process waits at a time."""

    @property
    def _cache(self) -> Any:
        if self._opened is None:
            self.open()
        return self._opened

    def open(self) -> None:
        """Open the database, and make it where it is missing.

        Raises:
            SealedError: it is encrypted, and its key is not set.
        """
        with self._opening, _as_store_error(self._folder):
            if self._opened is None:
                self._require_key()
                files.private_folder(self._folder)
                files.private_file(self._database)
                self._expect_own()
                self._opened = diskcache.Cache(
                    str(self._folder),
                    disk=_BytesDisk,
                    eviction_policy="none",
                    cull_limit=0,
                    size_limit=NO_BYTES,
                    disk_min_file_size=NO_BYTES,
                    timeout=POLL_SECONDS,
                    sqlite_cache_size=CACHED_PAGES,
                )
                _OPEN_STORES.add(self)

    def _expect_own(self) -> None:
        """Mark a new file as ours; one of something else gets no tables."""
        with contextlib.closing(sqlite3.connect(self._database, isolation_level=None)) as db:
            if not self._database.stat().st_size:
                db.execute(f"PRAGMA page_size = {PAGE_BYTES}")
                db.execute("PRAGMA auto_vacuum = FULL")
            with transaction(db, self._database):  # diskcache would wait for a minute
                [(found,)] = db.execute("PRAGMA application_id")
                if found == APPLICATION_ID:
                    return
                if db.execute("SELECT 1 FROM sqlite_schema").fetchone():
                    raise StoreError(
                        f"content store {self._folder}: {self._database.name} is a SQLite file of another "
                        "program, or of another checkout, which exports it (hippocampus store export); "
                        "name another state directory, or move the whole of this one away"
                    )
                db.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    def _require_key(self) -> bool:
        """Return whether the store has encrypted payloads; then its key has to be set."""
        has_marker = self._marker.exists()
        marked = files.read_file(self._marker) if has_marker else b""
        encryption.require(marked, str(self._folder))
        return has_marker

    def put(self, content: bytes, parts: Iterable[bytes] = ()) -> str:
        """Store a payload and return its key; stored payloads in `parts`, which it repeats, are referred to.

        Raises:
            SealedError: another process encrypts the store, under a key that this one has not.
        """
        key = content_key(content)
        with _as_store_error(self._folder):
            cache = self._cache
            self._database.stat()  # SQLite would go on writing into a file that was removed
            head, texts = self._parts(key, parts) if len(content) < MAX_PARTS_BYTES else (b"", b"")
            sealed = packed_payload(key, content, texts)
            is_sealed, packed = encryption.is_sealed(sealed), head + sealed
            with self._transaction(cache):
                if not self._require_key() and is_sealed:
                    files.replace_file(self._marker, encryption.marker())
                if cache.add(key, packed, expire=NEVER_SECONDS):
                    return key
                before = cache.get(key)
                # An encrypted payload stays encrypted where it is put again without the key.
                was_sealed = encryption.is_sealed(_without_parts(before)[1])
                if before == packed or (was_sealed and not is_sealed):
                    cache.touch(key, expire=NEVER_SECONDS)
                else:  # damaged since
                    cache.set(key, packed, expire=NEVER_SECONDS)
        return key

    def put_longer(self, key: str, start: str, items: bytes, parts: Iterable[bytes] = ()) -> bool:
        """Store the JSON list of a key, which has the items of the list `start` and then others.

        A list that grows is not written again: it refers to the lists that it has grown by, and these to
        `parts`. Return whether it was stored; without the list `start`, it has to be put as a whole.

        Its errors are those of `put`.
        """
        with _as_store_error(self._folder):
            cache = self._cache
            packed = cache.get(start)
            if packed is None:
                return False
            known, frame = _without_parts(packed)
            pieces = [*(known if known and not frame else (start,)), self.put(items, parts)]
            if len({*pieces}) < len(pieces):
                return False
            with self._transaction(cache):
                # A list that is stored whole may be damaged, and others may refer to it.
                is_whole = bool(_without_parts(cache.get(key, b""))[1])
                there = (cache.touch(piece, expire=NEVER_SECONDS) for piece in pieces)
                return not is_whole and all(there) and cache.set(key, _head(pieces), NEVER_SECONDS)

    @contextlib.contextmanager
    def _transaction(self, cache: Any) -> Iterator[None]:
        transaction = contextlib.ExitStack()

        def begin() -> bool:
            try:
                transaction.enter_context(cache.transact(retry=False))
            except diskcache.Timeout:
                return False
            return True

        with in_turn(self._database, begin, BUSY_SECONDS), transaction:
            yield

    def get(self, key: str) -> bytes | None:
        with _as_store_error(self._folder):
            packed = self._packed(key)
            if packed is None:
                return None
            pieces, frame = _without_parts(packed)
            if frame or not pieces:
                return self._content(key, packed)
            lists = [
                self._content(piece, self._packed(piece) or b"") for piece in dict.fromkeys(pieces)
            ]
        content = b"[" + b", ".join(items[1:-1] for items in lists) + b"]"
        if content_key(content) != key:
            raise DamageError(f"{named_content(key)} in {self._folder} is damaged")
        return content

    def __contains__(self, key: str) -> bool:
        """Return whether a payload of a key is stored, damaged or not."""
        with _as_store_error(self._folder):
            return self._packed(key) is not None if self._is_fixed else key in self._cache

    @property
    def _is_fixed(self) -> bool:
        """Whether nothing writes to the database, and nothing can open it for that."""
        return self._opened is None and is_fixed(self._database)

    def _packed(self, key: str) -> bytes | None:
        """Return a payload as it is stored, also from a folder that cannot be written."""
        if not self._is_fixed:
            return self._cache.get(key)  # type: ignore[no-any-return]
        self._require_key()
        with reading(self._database) as db:
            found = db.execute("SELECT value FROM Cache WHERE key = ?", (key,)).fetchone()
        return found[0] if found else None

    def _content(self, key: str, packed: bytes) -> bytes:
        parts, sealed = _without_parts(packed)
        return unpacked_payload(key, sealed, str(self._folder), self._texts(parts))

    def _texts(self, keys: Iterable[str]) -> Iterator[bytes]:
        """Yield the payloads that another one repeats, and that repeat none."""
        left = MAX_PARTS_BYTES
        for key in keys:
            packed = self._packed(key) or b""
            if not packed or packed.startswith(WITH_PARTS):
                raise packing.DamagedError(f"{named_content(key)}, which it repeats, is gone")
            text = self._content(key, packed)
            left -= len(text)
            if left < 0:
                raise packing.DamagedError(f"it repeats more than {MAX_PARTS_BYTES:,} bytes")
            yield text

    def _parts(self, own: str, parts: Iterable[bytes]) -> tuple[bytes, bytes]:
        """Return the head of a payload that repeats others, and their texts; those that are stored.

        A payload that repeats others is not repeated, and one that is stored whole stays so: no chain
        of payloads has to be read.
        """

        def is_whole(key: str) -> bool:
            return not (self._cache.get(key) or WITH_PARTS).startswith(WITH_PARTS)

        texts = {content_key(part): part for part in parts}
        found = [key for key in texts if is_whole(key)]
        sizes = itertools.accumulate(len(texts[key]) for key in found)
        del found[sum(size <= MAX_PARTS_BYTES for size in sizes) :]
        if not found or is_whole(own):
            return b"", b""
        return _head(found), packing.dictionary(map(texts.__getitem__, found))

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        with _as_store_error(self._folder), self._cache.transact(retry=True):
            _, until = self._cache.get(key, expire_time=True)
            return (until or 0) - NEVER_SECONDS <= put_before and bool(self._cache.delete(key))

    def stored(self) -> Iterator[StoredPayload]:
        if not self._is_fixed:
            self.open()
        with _as_store_error(self._folder), reading(self._database) as db:
            rows = [
                (key, size, until, _without_parts(head)[0])
                for key, size, until, head in db.execute(STORED, (len(WITH_PARTS), WITH_PARTS))
            ]
        parts = {key: own for key, _, _, own in rows if own}
        for key, size, until, own in rows:
            inner = (part for piece in own for part in parts.get(piece, ()))
            yield StoredPayload(
                key, size, until - NEVER_SECONDS, tuple(dict.fromkeys((*own, *inner)))
            )

    def wipe(self) -> None:
        """Leave nothing of deleted payloads in the database."""
        with _as_store_error(self._folder), contextlib.closing(connected(self._database)) as db:
            db.execute("VACUUM")
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> list[str]:
        """Return sentences on damaged payloads; empty when all is well."""
        return [text for _, text in self.damaged()]

    def damaged(self) -> Iterator[tuple[str, str]]:
        """Yield the keys of damaged payloads, and sentences on them."""
        joined = list[tuple[tuple[str, ...], str]]()
        for payload in self.stored():
            pieces, frame = payload.parts, b"unread"
            with contextlib.suppress(StoreError), _as_store_error(self._folder):
                pieces, frame = _without_parts(self._packed(payload.key) or b"")
            if pieces and not frame:
                joined.append((pieces, payload.key))
            elif text := damage(self, payload.key):
                yield payload.key, text
        # A joined list has the pieces of the one that it continues, which is the one before it here: to
        # read each of hundreds from its start takes a minute.
        known: tuple[str, ...] = ()
        before = start = hashlib.sha256(b"[")
        for pieces, key in sorted(joined):
            if pieces[: len(known)] != known:
                known, before = (), start
            hashed = before.copy()
            try:
                with _as_store_error(self._folder):
                    for piece in pieces[len(known) :]:
                        items = self._content(piece, self._packed(piece) or b"")
                        hashed.update(b", " * (piece != pieces[0]) + items[1:-1])
            except StoreError as failure:
                yield key, str(failure)
                continue
            known, before, whole = pieces, hashed, hashed.copy()
            whole.update(b"]")
            if whole.hexdigest() != key:
                yield key, f"{named_content(key)} in {self._folder} is damaged"

    def close(self) -> None:
        """Close the database."""
        if self._opened is not None:
            self._opened.close()


_OPEN_STORES = weakref.WeakSet[DiskStore]()


def _close_inherited() -> None:
    """Close in a forked process the connections of its parent, as `database` does, those of other threads too."""
    for store in list(_OPEN_STORES):
        store.close()
    if _OPEN_STORES:
        gc.collect()  # a connection refers to itself, and outlives its thread


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_close_inherited)


def _head(keys: Sequence[str]) -> bytes:
    return WITH_PARTS + len(keys).to_bytes(COUNT_BYTES) + b"".join(map(bytes.fromhex, keys))


def _without_parts(packed: bytes) -> tuple[tuple[str, ...], bytes]:
    """Return the keys of the payloads that a stored one repeats, and the rest of it."""
    if not packed.startswith(WITH_PARTS):
        return (), packed
    start = len(WITH_PARTS) + COUNT_BYTES
    end = start + KEY_BYTES * int.from_bytes(packed[len(WITH_PARTS) : start])
    keys = packed[start:end]
    return (
        tuple(keys[at : at + KEY_BYTES].hex() for at in range(0, len(keys), KEY_BYTES)),
        packed[end:],
    )


def packed_payload(key: str, content: bytes, texts: bytes = b"") -> bytes:
    """Return a payload as a store writes it: compressed, and sealed if a key of encryption is set.

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
        DamageError: the bytes are damaged, or those of another payload, or sealed under another key.
    """
    try:
        content = packing.unpacked(encryption.unsealed(packed, key), packing.dictionary(texts))
    except packing.DamagedError:
        content = None
    if content is None or content_key(content) != key:
        raise DamageError(f"{named_content(key)} in {place} is damaged")
    return content


def damage(store: ContentStore, key: str) -> str:
    """Return a sentence on the damage of the payload of a key; empty without damage."""
    try:
        return "" if store.get(key) is not None else f"{named_content(key)} is lost"
    except StoreError as failure:
        return str(failure)


@contextlib.contextmanager
def _as_store_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except (*FAILURES, diskcache.Timeout, zstandard.ZstdError) as failure:
        raise error_of(f"content store {folder}", failure) from failure
