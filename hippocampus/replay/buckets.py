"""The files of a corpus: recordings and rows in local folders, or in object storage."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage import files
from hippocampus.storage.object_storage import Objects

REQUEST_SECONDS = 600.0
"""The time limit of a request for a recording or its rows, of any size."""


def is_bucket(path: str) -> bool:
    """Return whether a path is an address, such as `s3://bucket/prefix`, and not of this machine."""
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
        """Return the file's address."""
        return f"{self.bucket.rstrip('/')}/{self.name}"

    def read(self) -> bytes:
        """Return the file's content."""
        return _objects(self.bucket).get(self.name, REQUEST_SECONDS)


def iter_bucket(address: str) -> Iterator[BucketFile]:
    """Yield the files under an address, sorted by name, without hidden ones."""
    for found in _objects(address).list():
        if not any(part.startswith(".") for part in found.name.split("/")):
            yield BucketFile(address, found.name, found.etag, found.size)


def put_part(out: str, name: str, text: bytes) -> None:
    """Write the rows of a part atomically into a folder or a bucket.

    Raises:
        StoreError: the part cannot be written.
    """
    if is_bucket(out):
        _objects(out).put({name: text}, REQUEST_SECONDS)
        return
    path = Path(out, name)
    try:
        files.replace_file(path, text)
    except OSError as failure:
        raise StoreError(f"{path} cannot be written: {failure.strerror or failure}") from failure


def get_part(out: str, name: str) -> bytes:
    """Return the rows of a part; empty if it does not exist.

    Raises:
        StoreError: the part cannot be read.
    """
    if is_bucket(out):
        return _objects(out).get(name, REQUEST_SECONDS)
    path = Path(out, name)
    try:
        return files.read_file(path, follows_links=True)
    except OSError as failure:
        raise StoreError(f"{path} cannot be read: {failure.strerror}") from failure
