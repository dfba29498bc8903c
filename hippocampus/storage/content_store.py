"""Contents on disk, by the hash of their bytes: put, get, has, drop.

On diskcache with bytes only (its default unpickles what it reads), nothing evicted, and a folder
that only its owner may read. What a content means is not known here.
"""

from __future__ import annotations

import contextlib
import sqlite3
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import diskcache
import zstandard

from hippocampus.entries.entry import content_key
from hippocampus.errors import StoreError
from hippocampus.storage import files

SIZE_LIMIT_BYTES = 1 << 50
"""diskcache evicts above its limit; this one is never reached."""
LARGE_CONTENT_BYTES = 1 << 15
"""Contents over this go to files of their own beside the database."""


NEVER_SECONDS = 1e10
"""When a content expires after its last put: in 300 years. What the cache keeps renewable is its
expiry alone, so this is how it knows when a content was last put."""


class Kept(NamedTuple):
    """A stored content, not unpacked."""

    key: str
    packed_bytes: int
    put_at: float
    """When it was last put, in seconds since 1970."""


class ContentStore(Protocol):
    """Where full contents wait."""

    def put(self, content: bytes) -> str:
        """Keep a content and return its key; one that is there already is not written again."""

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, byte for byte, or nothing."""

    def has(self, key: str) -> bool:
        """Say whether a content is there."""

    def drop(self, key: str) -> bool:
        """Remove a content and say whether it was there."""


class _BytesDisk(diskcache.Disk):  # type: ignore[misc]  # it carries no types
    """Reads and writes bytes; refuses what would be unpickled (CVE-2025-69872)."""

    def put(self, key: Any) -> tuple[Any, bool]:
        if not isinstance(key, str):
            raise TypeError("keys of the content store are text")
        return key, True

    def get(self, key: Any, raw: bool) -> Any:  # noqa: FBT001 - diskcache's signature
        if not raw:
            raise StoreError("the content store holds a key that it did not write")
        return key

    def store(self, value: Any, read: bool, key: Any = diskcache.UNKNOWN) -> Any:  # noqa: FBT001
        if not isinstance(value, bytes):
            raise TypeError("values of the content store are bytes")
        size, mode, name, kept = super().store(value, read, key)
        if name is not None:
            (Path(self._directory) / name).chmod(0o600)
        return size, mode, name, kept

    def fetch(self, mode: int, filename: Any, value: Any, read: bool) -> Any:  # noqa: FBT001
        if mode not in (diskcache.core.MODE_RAW, diskcache.core.MODE_BINARY):
            raise StoreError("the content store holds a value that it did not write")
        return super().fetch(mode, filename, value, read)


class DiskStore:
    """The content store on diskcache; `folder` is made when missing, readable by its owner only."""

    def __init__(self, folder: Path) -> None:
        with _as_store_error(folder):
            files.private_folder(folder)
            files.private_file(folder / diskcache.core.DBNAME)
            self._cache = diskcache.Cache(
                str(folder),
                disk=_BytesDisk,
                eviction_policy="none",
                cull_limit=0,
                size_limit=SIZE_LIMIT_BYTES,
                disk_min_file_size=LARGE_CONTENT_BYTES,
            )
        self._folder = folder
        self._database = folder / diskcache.core.DBNAME

    def put(self, content: bytes) -> str:
        """Keep a content and return its key.

        Raises:
            StoreError: the disk is full, locked, not writable or gone.

        """
        key = content_key(content)
        with _as_store_error(self._folder):
            self._database.stat()  # SQLite would go on writing into a file that was removed
            packed = zstandard.ZstdCompressor(level=3).compress(content)
            with self._cache.transact(retry=True):
                if self._cache.get(key) == packed:
                    self._cache.touch(key, expire=NEVER_SECONDS)
                else:  # not there, or lost or damaged since
                    self._cache.set(key, packed, expire=NEVER_SECONDS)
        return key

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, byte for byte, or nothing.

        Raises:
            StoreError: the stored bytes are damaged or cannot be read.

        """
        with _as_store_error(self._folder):
            packed = self._cache.get(key)
        if packed is None:
            return None
        try:
            content = zstandard.ZstdDecompressor().decompress(packed)
        except zstandard.ZstdError:
            content = None
        if content is None or content_key(content) != key:
            raise StoreError(f"content {key[:12]} in {self._folder} is damaged")
        return content

    def has(self, key: str) -> bool:
        """Say whether a content is there."""
        with _as_store_error(self._folder):
            return self._cache.get(key) is not None

    def drop(self, key: str) -> bool:
        """Remove a content and say whether it was there."""
        with _as_store_error(self._folder):
            return bool(self._cache.delete(key))

    def keys(self) -> list[str]:
        """Return the keys of all contents, sorted."""
        with _as_store_error(self._folder):
            return list(self._cache.iterkeys())

    def kept(self, key: str) -> Kept | None:
        """Return what is known of a stored content without unpacking it, or nothing."""
        with _as_store_error(self._folder):
            packed, until = self._cache.get(key, expire_time=True)
        if packed is None:
            return None
        return Kept(key, len(packed), (until or NEVER_SECONDS) - NEVER_SECONDS)

    def drop_older(self, key: str, moment: float) -> bool:
        """Remove a content unless it was put after a moment; say whether it was removed.

        Both in one transaction: who puts a content and then refers to it finds it there.
        """
        with _as_store_error(self._folder), self._cache.transact(retry=True):
            found = self.kept(key)
            return found is not None and found.put_at <= moment and bool(self._cache.delete(key))

    def check(self) -> list[str]:
        """Return a sentence for each damaged or stray object; empty when all is well."""
        told = (self.damage(key) for key in self.keys())
        return [each for each in told if each] + self.strays()

    def damage(self, key: str) -> str:
        """Return what is wrong with a content, in a sentence; empty when nothing is."""
        try:
            lost = self.get(key) is None
        except StoreError as damage:
            return str(damage)
        return f"content {key[:12]} in {self._folder} has lost its file" if lost else ""

    def strays(self) -> list[str]:
        """Return a sentence for each file beside the database that belongs to no content."""
        with _as_store_error(self._folder), warnings.catch_warnings():
            warnings.simplefilter("always")
            found = [str(each.message) for each in self._cache.check()]
        return [f"store {self._folder}: {told}" for told in found if told.startswith("unknown")]

    def close(self) -> None:
        """Close the database."""
        self._cache.close()


class MemoryStore:
    """The content store in memory, for tests: it is gone with its process."""

    def __init__(self) -> None:
        self._contents: dict[str, bytes] = {}

    def put(self, content: bytes) -> str:
        """Keep a content and return its key."""
        key = content_key(content)
        self._contents[key] = content
        return key

    def get(self, key: str) -> bytes | None:
        """Return the content of a key, or nothing."""
        return self._contents.get(key)

    def has(self, key: str) -> bool:
        """Say whether a content is there."""
        return key in self._contents

    def drop(self, key: str) -> bool:
        """Remove a content and say whether it was there."""
        return self._contents.pop(key, None) is not None

    def check(self) -> list[str]:
        """Return nothing: memory does not decay."""
        return []


@contextlib.contextmanager
def _as_store_error(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error, diskcache.Timeout, zstandard.ZstdError) as failure:
        raise StoreError(f"content store {folder}: {failure}") from failure
