"""Removes every trace of one session from a state, or memories with their lines in files.

What another session quotes, shares or was given of it belongs to that session, and stays. A tool that
forgets a memory deletes its rows by `facts.upkeep`; its lines in files go when a consolidation or a
`defrag` next brings these up to date.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_file import sync
from hippocampus.entries.entry import storable
from hippocampus.errors import StoreError
from hippocampus.facts import upkeep
from hippocampus.facts.store import Facts
from hippocampus.storage import gc, ledger
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.facts import memories
from hippocampus.storage.state import StateStore
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
    is_stored: bool
    """Whether the database has the session."""

    def __bool__(self) -> bool:
        """Return whether there is any trace."""
        return bool(self.payloads or self.shared or self.facts or self.is_stored)


def traces(state: StateStore, session: str, store: ContentStore, facts: Facts) -> Forgotten:
    """Return what a state has of a session.

    Raises:
        StoreError: something cannot be read; then it is not known what may be removed.
    """
    name = storable(session)
    payloads: list[str] = []
    shared: list[str] = []
    db = facts.tables.database
    # A payload comes after its parts: without an entry, only a payload that has them names them.
    for held in sorted(gc.holdings(db, store), key=lambda held: len(held.parts)):
        owners = {reference.session for reference in held.references}
        if name in owners:
            (payloads if owners == {name} else shared).append(held.key)
    return Forgotten(
        tuple(payloads),
        tuple(shared),
        tuple(memory.id for memory in memories.of_session(db, session).values()),
        state.agent_of(session) is not None,
    )


def forget(state: StateStore, session: str, store: ContentStore, facts: Facts) -> Forgotten:
    """Remove every trace of a session, and return these traces.

    Its rows and facts go last, in one transaction, so that a run that is cut off can be repeated. On a
    server, a worker that has the session goes on with it no more.

    Raises:
        StoreError: the session is open, or something cannot be read or written.
    """
    db = facts.tables.database
    ledger.expect_closed(db, session)
    found = traces(state, session, store, facts)
    try:
        if layout := state.layout:
            sync_files(layout, facts, found.facts)
            daily_log.remove(layout, session)
        for key in found.payloads:
            store.delete(key)
        with db.transaction():
            upkeep.delete_rows(facts.tables, memories.of_session(db, session))
            ledger.forget(db, session)
        db.wipe()
        if isinstance(store, DiskStore):
            store.wipe()
    except (OSError, StoreError) as failure:
        raise StoreError(f"session {session!r} is not forgotten yet: {failure}") from failure
    return found


def sync_files(layout: StateDir, facts: Facts, without: Sequence[str] = ()) -> None:
    """Bring all memory files and daily logs of a state directory up to date; `without` are about to go."""
    for agent in layout.agents():
        sync(layout, facts, agent, without=without)
    daily_log.sync(layout, facts.tables.database, without)
