"""Object storage: bytes by name, in S3 or its like.

The large payloads of a server's state and the recordings of a corpus are such bytes; a directory keeps
its payloads in files, or in the `ContentStore` that `HIPPOCAMPUS_STORE` names.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from datetime import timedelta
from typing import Any, NamedTuple

from hippocampus.errors import StoreError
from hippocampus.models.bounded import in_thread
from hippocampus.storage.deadline import waiting

MIN_BYTES = 64 << 10
"""Packed payloads under this size stay in the database: a row is written sooner than an object."""
REQUEST_SECONDS = 10.0
"""The limit of a request itself, which may outlast the call that made it; it is made twice at most."""
INSTALL = "object storage needs: pip install 'hippocampus-context[object-store]'"


class StoredObject(NamedTuple):
    """What a bucket lists of an object."""

    name: str
    etag: str
    """Another one, once the bytes change."""
    size: int
    """In bytes."""
    put_at: float
    """In seconds since 1970."""


class Objects:
    """A bucket, or a part of one.

    A refusal, or no answer within the seconds of a call, is a `StoreError`.
    """

    def __init__(self, address: str, request_seconds: float = REQUEST_SECONDS) -> None:
        """Name it: `s3://bucket/prefix`, `gs://…` or `az://…`; nothing is asked yet.

        A request that lasts longer than `request_seconds` fails. Keys and regions come from the
        environment, as for the provider's own tools.

        Raises:
            StoreError: the address cannot be read, or its client is not installed.
        """
        try:
            import obstore
            from obstore.store import from_url
        except ImportError:
            raise StoreError(INSTALL) from None
        self.name = address
        self._client = obstore
        seconds = timedelta(seconds=request_seconds)
        try:
            self._store = from_url(
                address,
                client_options={"timeout": seconds, "allow_http": True},
                retry_config={"max_retries": 1, "retry_timeout": seconds},
            )
        except (obstore.exceptions.BaseError, ValueError) as wrong:
            raise StoreError(f"{address}: {wrong}") from None

    def put(self, packed: Mapping[str, bytes], seconds: float) -> None:
        """Store bytes under their names, all at once."""
        put = functools.partial(self._client.put, self._store)
        self._within(seconds, *(functools.partial(put, *named) for named in packed.items()))

    def get(self, name: str, seconds: float) -> bytes:
        """Return the bytes of a name; empty where no object has it."""

        def get() -> bytes:
            try:
                return bytes(self._client.get(self._store, name).bytes())
            except FileNotFoundError:
                return b""

        found: bytes
        [found] = self._within(seconds, get)
        return found

    def list(self, prefix: str = "") -> Iterator[StoredObject]:
        """Yield the objects under the address, or in a folder of it, sorted by name."""
        try:
            for found in self._client.list(self._store, prefix or None, chunk_size=1_000):
                for item in found:
                    put_at = item["last_modified"].timestamp()
                    yield StoredObject(item["path"], item["e_tag"] or "", item["size"], put_at)
        except (self._client.exceptions.BaseError, OSError) as failure:
            raise StoreError(f"{self.name}: {str(failure).splitlines()[0]}") from failure

    def delete(self, name: str) -> None:
        """Remove an object, now or later; a missing one is no error."""

        def delete() -> None:
            with contextlib.suppress(FileNotFoundError):
                self._client.delete(self._store, name)

        self._within(None, delete)

    def _within(self, seconds: float | None, *requests: Callable[[], Any]) -> Sequence[Any]:
        """Return the results of requests, made at once in threads that may be left."""
        answers = [in_thread(request) for request in requests]
        with waiting():
            wait(answers, seconds)
        try:
            return [answer.result(0) for answer in answers]
        except TimeoutError:
            raise StoreError(f"{self.name}: no answer within {seconds:.3g} seconds") from None
        except (self._client.exceptions.BaseError, OSError) as failure:
            raise StoreError(f"{self.name}: {str(failure).splitlines()[0]}") from failure
