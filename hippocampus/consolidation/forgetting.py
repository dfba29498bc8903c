"""Removes every trace of one session from a state directory.

What another session quotes, shares or was given of it belongs to that session, and stays.
"""

from __future__ import annotations

from dataclasses import dataclass

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_file import MemoryFile
from hippocampus.entries.text import storable
from hippocampus.errors import StoreError
from hippocampus.facts import upkeep
from hippocampus.facts.store import Facts
from hippocampus.storage import database, gc, ledger, search_index
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.facts import memories, triples
from hippocampus.storage.sqlite import rewrite, wipe
from hippocampus.storage.state import DirectoryState
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


def traces(state: StateDir, session: str, store: ContentStore, facts: Facts) -> Forgotten:
    """Return what a state directory has of a session.

    Raises:
        StoreError: something cannot be read; then it is not known what may be removed.
    """
    name = storable(session)
    payloads: list[str] = []
    shared: list[str] = []
    for held in gc.holdings(state, store):
        owners = {each.session for each in held.references}
        if name in owners:
            (payloads if owners == {name} else shared).append(held.key)
    made = memories.of_session(facts.tables.database, session)
    return Forgotten(
        tuple(payloads),
        tuple(shared),
        tuple(each.id for each in made.values()),
        DirectoryState(state).agent_of(session) is not None,
    )


def forget(state: StateDir, session: str, store: ContentStore, facts: Facts) -> Forgotten:
    """Remove every trace of a session; return what was removed.

    Its rows and facts go last, in one transaction, so that a run that is cut off can be repeated.

    Raises:
        StoreError: the session is open, or something cannot be read or written.
    """
    ledger.expect_closed(state, session)
    found = traces(state, session, store, facts)
    try:
        with database.as_store_error(state):
            for agent in state.agents():
                MemoryFile(state, agent).sync(facts, without=found.facts)
            daily_log.remove(state, session)
            for key in found.payloads:
                store.delete(key)
            search_index.forget(state.index, [session])
            db = facts.tables.database
            with db.transaction():
                upkeep.delete_rows(facts.tables, memories.of_session(db, session))
                triples.drop_unused_names(db)
                memories.rewrite_index(db)
                ledger.forget(db.connection, session)
            wipe(db.connection)
            if isinstance(store, DiskStore):
                rewrite(state.contents / "cache.db")
    except StoreError as failure:
        raise StoreError(f"session {session!r} is not forgotten yet: {failure}") from failure
    return found
