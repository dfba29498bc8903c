"""The housekeeping of a state: `defrag` promotes and prunes, a session is forgotten with every trace, faults are mended.

`defrag` is archival consolidation, section 9.3 of the protocol, for the trigger `defrag_cycle`: planned from
what sessions used, then applied. What another session quotes, shares or was given of a forgotten one
belongs to that session, and stays.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.consolidation.memory_file import members, remove_from_logs, sync_files, text_of
from hippocampus.entries.entry import storable
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.facts import upkeep
from hippocampus.facts.models import Compaction
from hippocampus.facts.store import Facts
from hippocampus.policy import Policy
from hippocampus.storage import files, gc, ledger
from hippocampus.storage.content_store import ContentStore, DiskStore
from hippocampus.storage.database import Database
from hippocampus.storage.facts import memories
from hippocampus.storage.facts.rows import EVERY_AGENT, Memory
from hippocampus.storage.gc import Removal
from hippocampus.storage.state import StateStore
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import Finding, verify

HOUR_SECONDS = 3_600.0
IDLE_HOURS = 1.0
"""A session that was active since then may be running, and its contents stay."""
JUST_PUT_SECONDS = 60.0
"""A turn stores content before its ledger refers to it; the longest time between both."""
MAX_LINE_CHARACTERS = 400
"""A longer memory gets no line in the memory file."""
PROMOTED_ACCESSES = 5
"""Accesses of a fact, from which it is promoted."""
PROMOTED_ENCOUNTERS = 3
"""Statements of a fact, from which it is promoted; of no verbatim memory, such as a message."""
OPEN_TO_OTHERS = 0o077
PROMOTED = "promoted"
"""The key of the ids of promoted facts among the values of the state; a deleted one is taken out."""
TAKEN = "taken"
"""The key of the ids of memories that the last run took away, each with whether it had a line."""


@dataclass(frozen=True, slots=True)
class Defragmented:
    """The numbers of a run, done or planned."""

    trigger: str = "defrag_cycle"
    applied: bool = False
    facts_promoted: int = 0
    """Facts that get a line in the memory file."""
    facts_faded: int = 0
    facts_merged: int = 0
    contents_pruned: int = 0
    """Contents of unused entries."""
    orphans_collected: int = 0
    """Contents to which no session refers."""
    bytes_freed: int = 0


class _Plan(NamedTuple):
    promoted: Sequence[str]
    keep: frozenset[str]
    compaction: Compaction
    going: Sequence[Removal]


def defrag(  # noqa: PLR0913 - one parameter an input
    state: StateStore,
    store: ContentStore,
    facts: Facts,
    policy: Policy,
    now: float,
    *,
    apply: bool = False,
    idle_hours: float = IDLE_HOURS,
) -> Defragmented:
    """Plan a run over a state, and with `apply` make it.

    `now` is in seconds since 1970. Running sessions are not disturbed.

    Raises:
        StoreError: something cannot be read or written; what was done stays, the next run does the rest.
    """
    layout, db = state.layout, facts.tables.database
    try:
        with _held(layout if apply else None):
            plan = _plan(state, store, facts, policy, now, idle_hours)
            going = plan.going
            if apply:
                lined = members(layout, facts) if layout else ()
                with db.transaction():
                    done = upkeep.compact(facts.tables, agent=EVERY_AGENT, keep=plan.keep)
                    taken = {fact: fact in lined for fact in (*done.removed, *done.merged)}
                    db.set_meta(TAKEN, json.dumps(taken))
                if layout:
                    sync_files(layout, facts, plan.promoted)
                    promoted = memories.by_id(db, [*_promoted(db), *plan.promoted])
                    db.set_meta(PROMOTED, json.dumps([*promoted]))
                going = gc.collect(db, store, going, now, put_before=now - JUST_PUT_SECONDS)
    except OSError as failure:
        problem = failure.strerror or failure
        raise StoreError(f"{failure.filename or db.path}: {problem}") from failure
    orphans = sum(not payload.sessions for payload in going)
    return Defragmented(
        applied=apply,
        facts_promoted=len(plan.promoted),
        facts_faded=len(plan.compaction.removed),
        facts_merged=len(plan.compaction.merged),
        contents_pruned=len(going) - orphans,
        orphans_collected=orphans,
        bytes_freed=sum(payload.packed_bytes for payload in going),
    )


def undo(state: StateStore, facts: Facts) -> list[Memory]:
    """Bring back the memories that the last run took away, with their lines, and return them.

    Those that were deleted or brought back since stay as they are. What a run promoted stays, and payloads
    do not come back.

    Raises:
        StoreError: something cannot be read or written.
    """
    layout, db = state.layout, facts.tables.database
    try:
        with _held(layout):
            with db.transaction():
                taken = json.loads(db.meta(TAKEN) or "{}")
                known = memories.by_id(db, taken)
                gone = [fact for fact, (_, memory) in known.items() if memory.removed]
                back = upkeep.restore(facts.tables, gone)
                db.set_meta(TAKEN, "")
            if layout:
                sync_files(layout, facts, [memory.id for memory in back if taken[memory.id]])
    except OSError as failure:
        raise StoreError(f"{failure.filename}: {failure.strerror}") from failure
    return back


def _held(layout: StateDir | None) -> contextlib.AbstractContextManager[None]:
    return files.held(layout.defrag_lock) if layout else contextlib.nullcontext()


# Planning


def _plan(  # noqa: PLR0913, PLR0917 - one parameter an input
    state: StateStore,
    store: ContentStore,
    facts: Facts,
    policy: Policy,
    now: float,
    idle_hours: float,
) -> _Plan:
    # The least recently active first: `gc.unused` counts the sessions after each.
    past = [session for session in ledger.stored_sessions(facts.tables.database) if session.name]
    past.sort(key=lambda session: (session.active_at, session.name))
    names = {session.name for session in past}
    current = facts.memories(agent=EVERY_AGENT)
    lined = members(state.layout, facts) if state.layout else set()
    keep = frozenset(  # what the user said and the memory file has does not fade
        fact.id for fact in current if fact.id in lined and fact.origin.role == "user"
    )
    compaction = upkeep.compact(facts.tables, agent=EVERY_AGENT, keep=keep, dry_run=True)
    gone = {*compaction.removed, *compaction.merged}
    staying = [fact for fact in current if fact.id not in gone]
    known = {(fact.origin.session, fact.origin.entry_id) for fact in staying}
    held = gc.holdings(facts.tables.database, store)
    # A line that was struck out does not return: promoted facts had one, those of sessions may have.
    lined |= _promoted(facts.tables.database)
    lined |= {fact.id for fact in staying if fact.type != "event" and fact.origin.session in names}
    promoted = [
        fact.id
        for fact in reversed(staying)
        if state.layout
        and policy.consolidation.memory_file
        and fact.id not in lined
        and len(fact.content) <= MAX_LINE_CHARACTERS
        and (
            fact.accesses >= PROMOTED_ACCESSES
            or (fact.kind == "fact" and fact.encounters >= PROMOTED_ENCOUNTERS)
        )
    ]
    unused = gc.unused(past, policy, now - idle_hours * HOUR_SECONDS, known)
    going = gc.plan(held, gc.GcRules(), now, unused)
    return _Plan(promoted, keep, compaction, going)


def _promoted(db: Database) -> set[str]:
    """Return the ids of the facts that earlier runs have promoted; some may be deleted."""
    return {*json.loads(db.meta(PROMOTED) or "[]")}


# Forgetting a session ------------------------------------------------------------------------------


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
            sync_files(layout, facts, without=found.facts)
            remove_from_logs(layout, session)
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


# The doctor ----------------------------------------------------------------------------------------


def examine(state: StateStore) -> list[Finding]:
    """Return everything that is wrong with a state, faults first."""
    found, layout = verify(state), state.layout
    is_whole = not any(finding.mend for finding in found)
    for folder in (layout.root, layout.memory, layout.contents) if layout else ():
        for half in folder.glob(".*.tmp"):
            text = f"{half} is left of a write that was killed"
            found.append(Finding(text, remedy="remove it", mend=half.unlink))
    with contextlib.suppress(StoreError):  # a damaged file is found by `verify`, and mended first
        if is_whole and state.has_facts():
            with contextlib.closing(Facts(state)) as facts:
                found += [Finding(f"facts: {problem}", is_fault=True) for problem in facts.check()]
    for path in [*map(layout.memory_file, layout.agents()), *layout.daily_logs()] if layout else ():
        try:
            text_of(path)
        except OSError as failure:
            found.append(Finding(f"{path}: {failure.strerror}", is_fault=True))
    if layout and os.name == "posix":  # a state directory is only its owner's
        for path in (layout.root, *sorted(layout.root.rglob("*"))):
            mode = path.lstat().st_mode
            if (stat.S_ISREG(mode) or stat.S_ISDIR(mode)) and mode & OPEN_TO_OTHERS:
                private = stat.S_IMODE(mode) & ~OPEN_TO_OTHERS
                text = f"{path} can be read or written by other accounts"
                mended = functools.partial(path.chmod, private)
                found.append(Finding(text, remedy=f"set its mode to {private:o}", mend=mended))
    return sorted(found, key=lambda finding: not finding.is_fault)


def mend(findings: Iterable[Finding]) -> list[Finding]:
    """Mend what can be mended; return the other findings."""
    left = []
    for finding in findings:
        try:
            if finding.mend is None:
                left.append(finding)
            else:
                finding.mend()
        except (OSError, HippocampusError) as failure:
            left.append(finding._replace(text=f"{finding.text}; not mended: {failure}", mend=None))
    return left
