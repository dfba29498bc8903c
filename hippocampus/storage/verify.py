"""Checks that the rows and the payloads of a state are sound: all are read, none is written."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries.entry import named_content
from hippocampus.errors import DamageError, StoreError
from hippocampus.storage import archive, encryption, gc, salvage
from hippocampus.storage.content_store import ContentStore, DiskStore, damage
from hippocampus.storage.database import Database
from hippocampus.storage.ledger import stored_sessions
from hippocampus.storage.sqlite import FAILURES, error_of, reading
from hippocampus.storage.state import STORE, StateStore
from hippocampus.storage.state_dir import StateDir

HEADER_BYTES = 100
"""A database has a header of this size."""


class Finding(NamedTuple):
    """A fault of a state, and its remedy."""

    text: str
    is_fault: bool = False
    """Whether data is damaged or lost; otherwise it costs space, time or privacy."""
    remedy: str = ""
    """What `mend` does, in words; empty where only a person can do something."""
    mend: Callable[[], object] | None = None


def verify(state: StateStore, store: ContentStore | None = None) -> list[Finding]:
    """Read all of a state; `store` is its content store, if it is another one than its own.

    What cannot be opened at all is one of the findings.
    """
    found = [*_database(state.layout)] if state.layout else []
    references: dict[str, list[gc.Reference]] = {}
    removed: set[str] = set()
    try:
        with state.reading() as db:
            found += damaged_sessions(db)
            references = gc.references(db)
            removed = {key for (key,) in db.rows("SELECT content FROM tombstone")}
    except StoreError as failure:
        if not any(finding.is_fault for finding in found):
            found.append(Finding(str(failure), is_fault=True))
    is_whole = not any(finding.is_fault for finding in found)
    try:
        encryption.marker()  # a key that cannot be used is one, whatever is stored
        with contextlib.nullcontext(store) if store else state.contents() as opened:
            found += _payloads(references, removed, opened, is_whole=is_whole)
    except StoreError as failure:
        finding = Finding(str(failure), is_fault=True)
        # A new file lets sessions go on; one that is locked, for example, is not damaged.
        if state.layout and isinstance(failure, DamageError):
            remedy = "write the payloads that can be read into a new file and keep the damaged one"
            mend = functools.partial(salvage.salvage_contents, state.layout.contents)
            finding = finding._replace(remedy=remedy, mend=mend)
        found.append(finding)
    return found


def _database(layout: StateDir) -> Iterator[Finding]:
    try:
        wrong = _damage(layout.database)
        lost = salvage.lost(layout.database) if wrong else []
    except StoreError as failure:  # a lock or a full disk, for example, is no damage
        yield Finding(f"state {failure}", is_fault=True)
        return
    if wrong:
        left = "; ".join(lost) or "all of it can be read"
        remedy = f"write what can be read into a new file and keep the damaged one ({left})"
        mend = functools.partial(salvage.salvage, layout.database)
        yield Finding(f"state {wrong}", is_fault=True, remedy=remedy, mend=mend)


def _damage(path: Path) -> str:
    """Return the damage of a file of SQLite; empty for a sound or a missing one.

    Raises:
        StoreError: it cannot be examined, damaged or not.
    """
    if not os.path.lexists(path):
        return ""
    try:
        if path.stat().st_size < HEADER_BYTES:  # SQLite takes it for a new file
            return f"{path} is empty: its content is lost"
        with reading(path) as db:
            texts = [text for (text,) in db.execute("PRAGMA integrity_check")]
    except FAILURES as failure:
        wrong = error_of(path, failure)
        if not isinstance(wrong, DamageError):
            raise wrong from failure
        return str(wrong)
    # SQLite joins what it finds in the pages to one text, below a line with the database's name.
    found = [line for text in texts for line in text.splitlines()]
    faults = [line for line in found if line != "ok" and not line.startswith("***")]
    more = f"; and {len(faults) - 1} more" if faults[1:] else ""
    return f"{path}: {faults[0]}{more}" if faults else ""


def damaged_sessions(db: Database) -> Iterator[Finding]:
    """Yield the damaged entries and conversations."""
    for session in stored_sessions(db, damaged=True):
        for entry_id in session.damaged:
            yield Finding(f"session {session.name!r}: entry {entry_id} is damaged", is_fault=True)
    for name, why in archive.damaged(db):
        yield Finding(f"session {name!r}: its conversation is damaged: {why}", is_fault=True)


def _payloads(
    references: Mapping[str, Sequence[gc.Reference]],
    removed: set[str],
    store: ContentStore,
    *,
    is_whole: bool,
) -> Iterator[Finding]:
    """Yield damaged and lost payloads, and those without an entry only where the whole state was read."""
    entries = {
        key: [f"entry {reference.entry_id} of session {reference.session!r}" for reference in found]
        for key, found in references.items()
    }
    keys, needed = list[str](), set[str]()
    for payload in store.stored():
        keys.append(payload.key)
        needed.update(payload.parts)
    read = ((key, damage(store, key)) for key in keys)
    for key, wrong in store.damaged() if isinstance(store, DiskStore) else read:
        if wrong:
            losers = [f"{entry} refers to it" for entry in entries.get(key, ())]
            yield Finding("; ".join([wrong, *losers]), is_fault=True)
    more = f"; a store of your own is named by {STORE}" if isinstance(store, DiskStore) else ""
    lost = sorted(entries.keys() - set(keys) - removed)
    # A store that is away has lost all of them: one line, and not as many as there are entries.
    if lost[1:] and not keys:
        some = f"and {len(lost) - 1} more are lost: the content store is empty{more}"
        yield Finding(f"{named_content(lost[0])} {some}", is_fault=True)
        return
    for key in lost:
        for entry in entries[key]:
            yield Finding(f"{entry}: its {named_content(key)} is lost{more}", is_fault=True)
    # A payload without an entry may be of a row that cannot be read.
    for key in sorted(set(keys) - set(entries) - needed) if is_whole else []:
        yield Finding(
            f"{named_content(key)} is an orphan: no session refers to it; `gc` removes it"
        )
