"""Removes every trace of one session from a state directory.

What another session quotes, shares or was given of it belongs to that session, and stays.
"""

from __future__ import annotations

import contextlib
import math
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_file import MemoryFile
from hippocampus.errors import StoreError
from hippocampus.facts import memories, upkeep
from hippocampus.facts.store import Facts
from hippocampus.storage import entry_index, gc, proxy
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.sqlite import connected, is_open, remove_database
from hippocampus.storage.state_dir import StateDir


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What of a session is removed, or would be."""

    payloads: tuple[str, ...]
    """Keys of payloads that no other session refers to."""
    shared: tuple[str, ...]
    """Keys of payloads that another session refers to, or whose payloads repeat them: they stay."""
    facts: tuple[str, ...]
    """Ids of memories."""
    files: tuple[Path, ...]

    def __bool__(self) -> bool:
        """Return whether there is any trace."""
        return bool(self.payloads or self.shared or self.facts or self.files)


def traces(state: StateDir, session: str, store: ContentStore, facts: Facts | None) -> Forgotten:
    """Return what a state directory has of a session.

    Raises:
        StoreError: something cannot be read; then it is not known what may be removed.

    """
    path = state.ledger(session)
    payloads: list[str] = []
    shared: list[str] = []
    for held in gc.holdings(state, store):
        owners = {state.ledger(each.session) for each in held.references}
        if path in owners:
            (payloads if owners == {path} else shared).append(held.key)
    made = memories.of_session(facts.tables.database, session) if facts else {}
    stem = path.stem
    folders = (state.sessions, state.archive, state.search)
    found_files = (each for folder in folders for each in folder.glob(f"{stem}.*"))
    return Forgotten(
        tuple(payloads),
        tuple(shared),
        tuple(each.id for each in made.values()),
        tuple(sorted(each for each in found_files if not each.name.endswith(("-wal", "-shm")))),
    )


def forget(
    state: StateDir, session: str, store: ContentStore, facts: Callable[[], Facts]
) -> Forgotten:
    """Remove every trace of a session; return what was removed.

    The ledger goes last, so that a run that is cut off can be repeated.

    Raises:
        StoreError: the session is open, or something cannot be read or written.

    """
    ledger = state.ledger(session)
    if ledger.exists() and is_open(ledger):
        raise StoreError(f"session {session!r} is open in a process: close it first")
    known = facts() if state.facts.exists() else None
    found = traces(state, session, store, known)
    try:
        if known is not None:
            _without_lines(state, known, found.facts)
            upkeep.erase(known.tables, session)
        daily_log.remove(state, session)
        for key in found.payloads:
            store.delete(key)
        for path in sorted(found.files, key=lambda each: each == ledger):
            remove_database(path)
        entry_index.forget(state, ledger.name)
        proxy.remove(state, [session], math.inf)
        databases = [state.entry_index, state.proxy]
        databases += [state.contents / "cache.db"] if isinstance(store, DiskStore) else []
        for database in databases:
            if database.exists():
                rewrite(database)
    except (OSError, sqlite3.Error) as failure:
        raise StoreError(f"session {session!r} is not forgotten yet: {failure}") from failure
    return found


def _without_lines(state: StateDir, facts: Facts, ids: tuple[str, ...]) -> None:
    """Remove the lines of facts from every memory file, and the copies that an earlier form left."""
    for agent in state.agents():
        file = MemoryFile(state, agent)
        file.sync(facts, without=ids)
        for path in file.paths:
            path.with_name(f"{path.name}.before").unlink(missing_ok=True)


def rewrite(path: Path) -> None:
    """Write a database anew, so that no deleted row is left in its free pages or its log."""
    with contextlib.closing(connected(path)) as db:
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
