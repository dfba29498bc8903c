"""The files of a corpus: recordings and rows in folders of this machine, or in object storage.

Their content is read elsewhere.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Protocol

from hippocampus.errors import StoreError
from hippocampus.storage import files
from hippocampus.storage.objects import Objects

REQUEST_SECONDS = 600.0
"""The limit of a request for a recording or for its rows, however large."""


def is_bucket(path: str) -> bool:
    """Return whether a path is the address of object storage, such as `s3://bucket/prefix`."""
    return "://" in path


@functools.cache
def _objects(address: str) -> Objects:
    return Objects(address, REQUEST_SECONDS)


class BucketFile(NamedTuple):
    """A recording in object storage."""

    bucket: str
    name: str
    etag: str
    size: int

    def __str__(self) -> str:
        """Return its address."""
        return f"{self.bucket.rstrip('/')}/{self.name}"

    def read(self) -> bytes:
        """Return its content.

        Raises:
            StoreError: it cannot be read.
        """
        return _objects(self.bucket).get(self.name, REQUEST_SECONDS)


def iter_bucket(address: str) -> Iterator[BucketFile]:
    """Yield the files under an address, sorted by name; hidden ones are left out.

    Raises:
        StoreError: it cannot be listed, or obstore is not installed.
    """
    for found in _objects(address).list():
        if not any(part.startswith(".") for part in found.name.split("/")):
            yield BucketFile(address, *found)


class Parts(Protocol):
    """Where the rows of a corpus are: texts by name, each written whole or not at all."""

    def put(self, name: str, text: bytes) -> None:
        """Write a text."""

    def get(self, name: str) -> bytes:
        """Return a text; empty where there is none."""


class FolderParts(NamedTuple):
    """Rows in a folder of this machine."""

    folder: Path

    def put(self, name: str, text: bytes) -> None:
        """Write a text.

        Raises:
            StoreError: the folder cannot be written.
        """
        try:
            files.replace_file(self.folder / name, text)
        except OSError as failure:
            reason = f"{self.folder / name} cannot be written: {failure.strerror}"
            raise StoreError(reason) from failure

    def get(self, name: str) -> bytes:
        """Return a text; empty where there is none.

        Raises:
            StoreError: it cannot be read.
        """
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return b""
        except OSError as failure:
            reason = f"{self.folder / name} cannot be read: {failure.strerror}"
            raise StoreError(reason) from failure


class BucketParts(NamedTuple):
    """Rows in object storage."""

    bucket: str

    def put(self, name: str, text: bytes) -> None:
        """Write a text.

        Raises:
            StoreError: the bucket cannot be written.
        """
        _objects(self.bucket).put(name, text, REQUEST_SECONDS)

    def get(self, name: str) -> bytes:
        """Return a text; empty where there is none.

        Raises:
            StoreError: the bucket cannot be read.
        """
        return _objects(self.bucket).get(name, REQUEST_SECONDS)


def parts_in(out: str) -> Parts:
    """Return the parts in a folder or under the address of a bucket."""
    return BucketParts(out) if is_bucket(out) else FolderParts(Path(out))
