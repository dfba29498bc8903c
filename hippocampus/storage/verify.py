"""Whether a state is sound: every file and row of it is read, none is written."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage import gc
from hippocampus.storage.archive import reader
from hippocampus.storage.content_store import STORE, ContentStore, DiskStore, damage
from hippocampus.storage.database import Database
from hippocampus.storage.ledger import stored_sessions
from hippocampus.storage.schema import SCHEMA
from hippocampus.storage.sqlite import FAILURES, reading
from hippocampus.storage.state import StateStore

HEADER_BYTES = 100
"""A database has a header of this size."""


class Report(NamedTuple):
    """The findings in a state directory, in sentences."""

    problems: list[str]
    """Data that is damaged or lost."""
    notes: list[str]
    """What costs space and nothing else, or is written again when it is needed."""


def verify(state: StateStore, store: ContentStore | None = None) -> Report:
    """Read all of a state; `store` is its content store, if it is another one than its own.

    What cannot be opened at all is one of the problems.
    """
    layout = state.layout
    problems = _databases(layout.database, SCHEMA.kind) if layout else []
    notes = _databases(layout.index, "search index") if layout else []
    references: dict[str, list[gc.Reference]] | None = None
    removed: set[str] = set()
    try:
        with state.reading() as db:
            problems += _sessions(db)
            references = gc.references(db)
            removed = {key for (key,) in db.rows("SELECT content FROM tombstone")}
    except StoreError as failure:
        problems = problems or [str(failure)]
    is_readable = not problems
    try:
        with contextlib.nullcontext(store) if store else state.contents() as opened:
            found = _payloads(references or {}, removed, opened, is_readable=is_readable)
            if isinstance(opened, DiskStore) and not store:
                notes += opened.strays()
    except StoreError as failure:
        return Report([str(failure), *problems], notes)
    return Report([*found.problems, *problems], [*notes, *found.notes])


def _sessions(db: Database) -> list[str]:
    """Return a sentence for each damaged entry and conversation."""
    return [
        f"session {each.name!r}: entry {entry_id} is damaged"
        for each in stored_sessions(db, damaged=True)
        for entry_id in each.damaged
    ] + [
        f"session {each.session!r}: its conversation is damaged: {each.damaged}"
        for each in reader.stored(db)
        if each.damaged
    ]


def _payloads(
    references: dict[str, list[gc.Reference]],
    removed: set[str],
    store: ContentStore,
    *,
    is_readable: bool,
) -> Report:
    """Report on payloads; those to which no entry refers only where the whole state was read."""
    entries = {
        key: [f"entry {each.entry_id} of session {each.session!r}" for each in found]
        for key, found in references.items()
    }
    disk = isinstance(store, DiskStore)
    keys = store.keys() if isinstance(store, DiskStore) else [each.key for each in store.stored()]
    problems = [
        "; ".join([wrong, *(f"{entry} refers to it" for entry in entries.get(key, ()))])
        for key in keys
        if (wrong := damage(store, key))
    ]
    lost = f"is lost; a store of your own is named by {STORE}" if disk else "is lost"
    for key in sorted(entries.keys() - set(keys) - removed):
        problems += [f"{each}: its content {key[:12]} {lost}" for each in entries[key]]
    unused = sorted(set(keys) - set(entries)) if is_readable else []
    return Report(
        problems,
        [
            f"content {key[:12]} is an orphan: no session refers to it; `gc` removes it"
            for key in unused
        ],
    )


def _databases(path: Path, kind: str) -> list[str]:
    if not path.exists():
        return []
    try:
        if path.stat().st_size < HEADER_BYTES:  # SQLite takes it for a new file
            return [f"{kind} {path} is empty: its content is lost"]
        with reading(path) as db:
            found = [text for (text,) in db.execute("PRAGMA integrity_check")]
    except FAILURES as failure:
        return [f"{kind} {path}: {failure}"]
    wrong = [text for text in found if text != "ok"]
    more = f"; and {len(wrong) - 1} more" if wrong[1:] else ""
    return [f"{kind} {path}: {wrong[0]}{more}"] if wrong else []
