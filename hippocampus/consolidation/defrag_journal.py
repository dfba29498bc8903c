"""The undo record of a `defrag` run: each step is written down before it is done.

It is kept until the next run, with the contents that the run removed. Nothing is decided here.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from hippocampus.consolidation.memory_file import MemoryFile
from hippocampus.errors import StoreError
from hippocampus.facts.store import Facts
from hippocampus.storage import files, tombstones
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.gc import Removal
from hippocampus.storage.state_dir import StateDir


@dataclass(slots=True)
class Undo:
    """The steps of a run so far."""

    when: str
    removed: list[str] = field(default_factory=list)
    """Ids of facts that compaction removes."""
    retired: list[str] = field(default_factory=list)
    """Ids of facts that a person deleted or reworded."""
    added: list[str] = field(default_factory=list)
    """Ids of new facts."""
    promoted: list[str] = field(default_factory=list)
    """Ids of facts that got a line in the memory file."""
    lined: list[str] = field(default_factory=list)
    """Ids of facts that had a line before."""
    contents: list[str] = field(default_factory=list)
    before: dict[str, str | None] = field(default_factory=dict)
    """The texts of the memory file and of its record of lines, before the run."""
    after: dict[str, str | None] = field(default_factory=dict)
    """The same texts after the run."""


def begin(state: StateDir, undo: Undo) -> None:
    """Delete the last run's record, and write the first one of this run."""
    shutil.rmtree(state.undo_contents, ignore_errors=True)
    note(state, undo)


def note(state: StateDir, undo: Undo) -> None:
    """Write the record of a run as it is so far."""
    files.replace_file(state.undo_record, json.dumps(asdict(undo)).encode())


def last(state: StateDir) -> Undo | None:
    """Return the run that can be undone, or None.

    Raises:
        StoreError: its record cannot be read.

    """
    path = state.undo_record
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
        return Undo(**found)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as failure:
        raise StoreError(f"defrag record {path}: {failure}") from failure


def set_aside(state: StateDir, store: ContentStore, removals: Iterable[Removal]) -> list[Removal]:
    """Copy contents to the undo store, and return those that exist and can be removed.

    Raises:
        StoreError: a store cannot be read or written.

    """
    safe = []
    with contextlib.closing(DiskStore(state.undo_contents)) as aside:
        for each in removals:
            content = store.get(each.key)
            if content is not None:
                aside.put(content)
                safe.append(each)
    return safe


def texts_of(file: MemoryFile) -> dict[str, str | None]:
    """Return the texts of the memory file and of its record of lines."""
    return {
        path.name: path.read_bytes().decode("utf-8", "surrogateescape") if path.exists() else None
        for path in file.paths
    }


def take_back(
    state: StateDir, store: ContentStore, undo: Undo, facts: Facts | None, file: MemoryFile
) -> None:
    """Undo a run step by step, the last step first; later changes stay.

    Raises:
        StoreError: something cannot be read or written; then it can be repeated.

    """
    _contents_back(state, store, undo.contents)
    if facts is not None:
        facts.delete(undo.added)
        gone = facts.by_ids([*undo.removed, *undo.retired]).values()
        facts.restore([each.id for each in gone if each.removed is not None])
        _file_back(state, undo, facts, file)
    state.undo_record.unlink(missing_ok=True)
    shutil.rmtree(state.undo_contents, ignore_errors=True)


def _contents_back(state: StateDir, store: ContentStore, keys: Iterable[str]) -> None:
    with (
        contextlib.closing(DiskStore(state.undo_contents)) as aside,
        tombstones.opened(state) as db,
    ):
        for key in keys:
            content = aside.get(key)
            if content is not None:
                store.put(content)
                tombstones.unbury(db, key)


def _file_back(state: StateDir, undo: Undo, facts: Facts, file: MemoryFile) -> None:
    """Restore the memory file; one that was edited since keeps the edits."""
    if undo.before == undo.after:
        return
    if texts_of(file) != undo.after:
        fresh = set(undo.promoted) - set(undo.lined)
        file.sync(facts, undo.lined, without=fresh)
        return
    with files.held(state.memory_lock):
        for path in file.paths:
            text = undo.before.get(path.name)
            if text is None:
                path.unlink(missing_ok=True)
            else:
                files.replace_file(path, text.encode("utf-8", "surrogateescape"))
