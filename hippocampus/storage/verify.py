"""Whether the files of a state directory are sound: every one is read, none is written."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage import gc
from hippocampus.storage.archive import reader
from hippocampus.storage.content_store import STORE, ContentStore, DiskStore, damage, opened_store
from hippocampus.storage.ledger import stored_sessions
from hippocampus.storage.schema import SCHEMA
from hippocampus.storage.sqlite import FAILURES, reading
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

HEADER_BYTES = 100
"""A database has a header of this size."""


class Report(NamedTuple):
    """The findings in a state directory, in sentences."""

    problems: list[str]
    """Data that is damaged or lost."""
    notes: list[str]
    """What costs space and nothing else, or is written again when it is needed."""


def verify(state: StateDir, store: ContentStore | None = None) -> Report:
    """Read every file of a state directory; `store` is its content store, if it is not on disk.

    What cannot be opened at all is one of the problems.
    """
    problems, notes = _state(state), list[str]()
    readable = not problems
    notes += _databases(state.index, "search index")
    try:
        with contextlib.nullcontext(store) if store else opened_store(state) as opened:
            found = _payloads(state, opened, is_readable=readable)
            if isinstance(opened, DiskStore) and not store:
                notes += opened.strays()
    except StoreError as failure:
        return Report([str(failure), *problems], notes)
    return Report([*found.problems, *problems], [*notes, *found.notes])


def _state(state: StateDir) -> list[str]:
    """Return a sentence for each damage of the database of the sessions."""
    wrong = _databases(state.database, SCHEMA.kind)
    try:
        sessions = stored_sessions(state, damaged=True)
    except StoreError as failure:
        return wrong or [str(failure)]
    return (
        wrong
        + [
            f"session {each.name!r}: entry {entry_id} is damaged"
            for each in sessions
            for entry_id in each.damaged
        ]
        + [
            f"session {each.session!r}: its conversation is damaged: {each.damaged}"
            for each in reader.stored(state)
            if each.damaged
        ]
    )


def _payloads(state: StateDir, store: ContentStore, *, is_readable: bool) -> Report:
    """Report on payloads; those to which no entry refers only where the whole state was read."""
    entries: dict[str, list[str]] = {}
    with contextlib.suppress(StoreError):
        for key, references in gc.references(state).items():
            entries[key] = [
                f"entry {each.entry_id} of session {each.session!r}" for each in references
            ]
    disk = isinstance(store, DiskStore)
    keys = store.keys() if isinstance(store, DiskStore) else [each.key for each in store.stored()]
    problems = [
        "; ".join([wrong, *(f"{entry} refers to it" for entry in entries.get(key, ()))])
        for key in keys
        if (wrong := damage(store, key))
    ]
    lost = f"is lost; a store of your own is named by {STORE}" if disk else "is lost"
    for key in sorted(set(entries) - set(keys)):
        with contextlib.suppress(StoreError):  # the check of the file itself names it
            if DirectoryState(state).tombstone(key) is None:
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
