"""Whether the files of a state directory are sound: every one is read, none is written."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hippocampus.errors import StoreError
from hippocampus.storage import gc, tombstones
from hippocampus.storage.archive import reader
from hippocampus.storage.archive.records import parsed
from hippocampus.storage.content_store import STORE, ContentStore, DiskStore, damage, opened_store
from hippocampus.storage.ledger import StoredSession, stored_session
from hippocampus.storage.sqlite import reading
from hippocampus.storage.state_dir import StateDir


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
    sessions, problems = _sessions(state)
    notes: list[str] = []
    readable = not problems
    problems += [*_archives(state), *_databases(state.facts, "fact store")]
    problems += _databases(state.tombstones, "tombstones")
    notes += _databases(state.entry_index, "entry index")
    for path in sorted(state.search.glob("*.sqlite3")):
        notes += _databases(path, "search index")
    try:
        with contextlib.nullcontext(store) if store else opened_store(state) as opened:
            found = _payloads(state, opened, sessions, orphans=readable)
            if isinstance(opened, DiskStore) and not store:
                notes += opened.strays()
    except StoreError as failure:
        return Report([str(failure), *problems], notes)
    return Report([*found.problems, *problems], [*notes, *found.notes])


def _sessions(state: StateDir) -> tuple[list[StoredSession], list[str]]:
    found, problems = [], []
    for path in state.ledgers():
        wrong = _databases(path, "ledger")
        try:
            session = stored_session(path)
        except StoreError as failure:
            problems += wrong or [str(failure)]
            continue
        problems += [*wrong, *(f"ledger {path}: entry {id_} is damaged" for id_ in session.damaged)]
        found.append(session)
    return found, problems


def _payloads(
    state: StateDir, store: ContentStore, sessions: list[StoredSession], *, orphans: bool
) -> Report:
    """Report on payloads; those to which no entry refers only where every ledger was read."""
    entries: dict[str, list[str]] = {}
    for session in sessions:
        for each in gc.references(session):
            named = f"entry {each.entry_id} of session {each.session!r}"
            entries.setdefault(each.content, []).append(named)
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
            if tombstones.tombstone(state, key) is None:
                problems += [f"{each}: its content {key[:12]} {lost}" for each in entries[key]]
    unused = sorted(set(keys) - set(entries)) if orphans else []
    return Report(
        problems,
        [
            f"content {key[:12]} is an orphan: no session refers to it; `gc` removes it"
            for key in unused
        ],
    )


def _archives(state: StateDir) -> Iterator[str]:
    for path in (*state.packed_archives(), *state.journals()):
        try:
            content = reader.unpacked(path) if path.suffix == ".zst" else reader.written(path)
        except StoreError as failure:
            yield str(failure)
            continue
        if not path.stat().st_size:
            yield f"archive {path} is empty: its content is lost"
            continue
        lines = content.rpartition(b"\n")[0].split(b"\n")
        wrong = sum(map(bool, lines)) - sum(1 for _ in parsed(content))
        if wrong:
            yield f"archive {path}: {wrong} of {len(lines)} lines are no JSON"


def _databases(path: Path, kind: str) -> list[str]:
    if not path.exists():
        return []
    try:
        if not path.stat().st_size:
            return [f"{kind} {path} is empty: its content is lost"]
        with reading(path) as db:
            found = [text for (text,) in db.execute("PRAGMA integrity_check")]
    except (OSError, sqlite3.Error) as failure:
        return [f"{kind} {path}: {failure}"]
    return [f"{kind} {path}: {text}" for text in found if text != "ok"]
