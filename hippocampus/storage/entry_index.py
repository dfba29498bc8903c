"""Which session has an entry, for ids that a session does not know: one table for all ledgers.

Derived data: written when such an id is looked up, and read again from each ledger that has changed
since. What a ledger's tables are is not known here.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hippocampus.errors import StoreError
from hippocampus.storage.migrations import Migration, Schema, opened
from hippocampus.storage.sqlite import log_name, transaction
from hippocampus.storage.state_dir import LEDGER_SUFFIX, StateDir

SETTLED_NS = 2_000_000_000
"""A ledger written this recently is read again: two writes may have one time."""
SCHEMA = Schema(
    "entry index",
    (
        Migration(
            "entries",
            """
            CREATE TABLE ledger (name TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT;
            CREATE TABLE entry (
                id TEXT NOT NULL, ledger TEXT NOT NULL, PRIMARY KEY (id, ledger)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX entry_of_ledger ON entry (ledger)
            """,
        ),
    ),
)


def ledgers_with(
    state: StateDir, entry_id: str, ids_of: Callable[[Path], Iterable[str]]
) -> list[Path]:
    """Return the ledgers that have an entry of an id; `ids_of` reads the ids of one ledger.

    A ledger for which `ids_of` raises `StoreError` has none.

    Raises:
        StoreError: the index cannot be read or written.

    """
    with opened(state.entry_index, SCHEMA, "OFF") as db:
        known = dict(db.execute("SELECT name, stamp FROM ledger"))
        stamps = _stamps(state)
        changed = [name for name, stamp in stamps.items() if not stamp or known.get(name) != stamp]
        gone = known.keys() - stamps.keys()
        if changed or gone:
            with transaction(db):
                for name in (*changed, *gone):
                    db.execute("DELETE FROM entry WHERE ledger = ?", (name,))
                    db.execute("DELETE FROM ledger WHERE name = ?", (name,))
                for name in changed:
                    ids: Iterable[str] = ()
                    with contextlib.suppress(StoreError):
                        ids = ids_of(state.sessions / name)
                    db.executemany("INSERT INTO entry VALUES (?, ?)", ((id_, name) for id_ in ids))
                    db.execute("INSERT INTO ledger VALUES (?, ?)", (name, stamps[name]))
        found = db.execute("SELECT ledger FROM entry WHERE id = ? ORDER BY ledger", (entry_id,))
        return [state.sessions / name for (name,) in found]


def forget(state: StateDir, ledger: str) -> None:
    """Remove a ledger's entries from the index, where there is one.

    Raises:
        StoreError: the index cannot be written.

    """
    if state.entry_index.exists():
        with opened(state.entry_index, SCHEMA, "OFF") as db, transaction(db):
            db.execute("DELETE FROM entry WHERE ledger = ?", (ledger,))
            db.execute("DELETE FROM ledger WHERE name = ?", (ledger,))


def _stamps(state: StateDir) -> dict[str, str]:
    """Return a text for each ledger that differs once it or its log is written; empty if it just was."""
    written: dict[str, str] = {}
    try:
        with os.scandir(state.sessions) as entries:
            for each in entries:
                with contextlib.suppress(FileNotFoundError):  # a log that its last writer removed
                    found = each.stat()
                    is_settled = time.time_ns() - found.st_mtime_ns >= SETTLED_NS
                    written[each.name] = (
                        f"{found.st_mtime_ns}:{found.st_size}" if is_settled else ""
                    )
    except FileNotFoundError:
        return {}
    stamps = {}
    for name, ledger in written.items():
        if name.endswith(LEDGER_SUFFIX):
            log = written.get(log_name(name))
            with_log = f"{ledger} {log}" if ledger and log else ""
            stamps[name] = ledger if log is None else with_log
    return stamps
