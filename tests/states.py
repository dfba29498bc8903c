"""What tests ask of the database of a state directory, each in a connection of its own; and its modes."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hippocampus.storage import archive, gc, ledger
from hippocampus.storage.archive import ArchivedConversation, parsed
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import StoredSession
from hippocampus.storage.state import StateStore, state_of
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify


def holdings(root: Path | str, store: ContentStore) -> list[gc.Holding]:
    with state_of(root).reading() as db:
        return gc.holdings(db, store)


def collect(
    root: Path | str, store: ContentStore, removals: Sequence[gc.Removal], *when: float
) -> list[gc.Removal]:
    with contextlib.closing(state_of(root).database()) as db:
        return gc.collect(db, store, removals, *when)


def activity(root: Path | str) -> dict[str, float]:
    with state_of(root).reading() as db:
        return ledger.activity(db)


def stored_sessions(root: Path | str, **options: Any) -> list[StoredSession]:
    with state_of(root).reading() as db:
        return ledger.stored_sessions(db, **options)


def problems(state: StateStore, store: ContentStore | None = None) -> list[str]:
    """Return what is damaged or lost."""
    return [each.text for each in verify(state, store) if each.is_fault]


def conversation(root: Path | str, session: str) -> ArchivedConversation:
    """Return the raw messages of a session as its host last sent them, finished or not."""
    with state_of(root).reading() as db:
        found = ArchivedConversation(session)
        for record in parsed(archive.exported(db, session)):
            found.take(record)
        return found


def execute(root: Path | str, statement: str, *values: object) -> list[Any]:
    """Run a statement in the database."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(StateDir(Path(root)).database)) as db, db:
        return db.execute(statement, values).fetchall()


@contextlib.contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Act as an account that may read a folder and not write there; root may write everywhere."""
    account, paths = os.geteuid(), [folder, *folder.rglob("*")]
    modes = [path.stat().st_mode for path in paths]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        if account == 0:
            os.seteuid(65534)
        yield
    finally:
        if account == 0:
            os.seteuid(0)
        for path, mode in zip(paths, modes, strict=True):
            path.chmod(mode)
