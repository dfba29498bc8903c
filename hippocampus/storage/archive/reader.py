"""Reads archives: the journal of a running session, and its packed parts.

Nothing is written here but the new name of a damaged archive.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage import files, packing
from hippocampus.storage.archive.records import ArchivedConversation, Context, contexts, parsed
from hippocampus.storage.state_dir import StateDir


def unpacked(path: Path) -> bytes:
    """Return what a packed archive holds; nothing where there is none.

    Raises:
        StoreError: it cannot be read, or is damaged.

    """
    try:
        return packing.unpacked(written(path))
    except packing.DamagedError as damage:
        raise StoreError(
            f"archive {path} is damaged: {damage}; rename it to go on without it"
        ) from damage


def set_aside(path: Path) -> Path:
    """Rename a damaged archive so that it is read no more, and return its new path.

    Raises:
        OSError: it cannot be renamed.

    """
    names = (path.with_name(f"{path.name}.damaged-{number}") for number in itertools.count(1))
    return path.rename(next(name for name in names if not name.exists()))


def conversation(state_dir: str | Path, session: str) -> ArchivedConversation:
    """Return the raw messages of a session as its host last sent them, finished or not.

    Of a session that was never archived it has no messages. What its policy redacts is redacted.

    Raises:
        StoreError: the archive cannot be read.

    """
    found = ArchivedConversation(session)
    for record in _records(StateDir(Path(state_dir)), session):
        found.take(record)
    return found


def is_archived(state: StateDir, session: str) -> bool:
    """Return whether there is an archive of a session."""
    return state.journal(session).exists() or state.packed_archive(session).exists()


def lists(state: StateDir, session: str) -> list[Context]:
    """Return each list that the host of a session sent, as it stood before a cut, the last one last.

    Raises:
        StoreError: the archive cannot be read.

    """
    return contexts(_records(state, session))


def _records(state: StateDir, session: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a session; of a journal that is packed already, once."""
    part = 0
    for content in (unpacked(state.packed_archive(session)), written(state.journal(session))):
        records = list(parsed(content))
        if records and records[0].get("part", part + 1) > part:
            part = max([part, *(int(each.get("part", 0)) for each in records)])
            yield from records


def written(path: Path) -> bytes:
    """Return the bytes of a file; nothing where there is none.

    Raises:
        StoreError: it cannot be read.

    """
    try:
        return files.read_file(path)
    except OSError as failure:
        raise StoreError(f"archive {path}: {failure}") from failure
