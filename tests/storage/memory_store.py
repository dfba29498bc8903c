"""A second content store: the smallest that a host could bring."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from hippocampus.entries.entry import content_key
from hippocampus.storage.content_store import DiskStore, StoredPayload


class MemoryStore:
    """A content store in memory."""

    def __init__(self) -> None:
        self._contents: dict[str, tuple[bytes, float]] = {}

    def put(self, content: bytes) -> str:
        """Store a payload and return its key."""
        key = content_key(content)
        self._contents[key] = content, time.time()
        return key

    def get(self, key: str) -> bytes | None:
        """Return the payload of a key, or None."""
        content, _ = self._contents.get(key, (None, 0.0))
        return content

    def delete(self, key: str, put_before: float = float("inf")) -> bool:
        """Remove a payload and return whether it was there; one put after `put_before` stays."""
        _, put_at = self._contents.get(key, (b"", float("inf")))
        return put_at <= put_before and self._contents.pop(key, None) is not None

    def stored(self) -> Iterator[StoredPayload]:
        """Yield every payload, by key."""
        for key, (content, put_at) in sorted(self._contents.items()):
            yield StoredPayload(key, len(content), put_at)


def elsewhere(root: Path) -> DiskStore:
    """Return a store beside a state directory, as `HIPPOCAMPUS_STORE` names one."""
    return DiskStore(root.parent / "elsewhere")
