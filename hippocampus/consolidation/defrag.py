"""Archival consolidation: what is used again and again is promoted, what nobody uses goes.

Section 9.3 of the protocol, for the trigger `defrag_cycle`. A run is planned, written down so that it
can be taken back, and then made; `reviewing` reads what it is planned from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

from hippocampus.consolidation import daily_log, defrag_journal, usage_stats
from hippocampus.consolidation.defrag_journal import Undo
from hippocampus.consolidation.memory_edits import Edits
from hippocampus.consolidation.memory_file import MemoryFile, Synced
from hippocampus.consolidation.memory_file import members as lined
from hippocampus.consolidation.memory_lines import mark_of, shown
from hippocampus.consolidation.usage_stats import Pruning
from hippocampus.errors import StoreError
from hippocampus.facts import secrets
from hippocampus.facts.models import EVERY_AGENT, Compaction, Item, Memory, Origin
from hippocampus.facts.store import Facts
from hippocampus.facts.supersession import compacted, next_row, written_since
from hippocampus.policy import Policy
from hippocampus.storage import files, gc
from hippocampus.storage.gc import Removal
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

TRIGGER = "defrag_cycle"
IDLE_HOURS = 1.0
"""A session that was active since then may be running: its contents are left alone."""
JUST_PUT_SECONDS = 60.0
"""A turn puts a content before its ledger refers to it; it takes no longer than this."""
CALL_CHARACTERS = 120
LONGEST_LINE = 400
"""A memory of more characters is no line of the memory file."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """From when on something counts as used again and again."""

    accesses: int = 5
    """Recalls of a fact that were confirmed to be useful."""
    encounters: int = 3
    """How often a fact was said; what is kept word by word, such as a message, says little by that."""
    logged_sessions: int = 3
    """Sessions whose daily log has the fact."""
    using_sessions: int = 2
    """Sessions that used the same content after it had left their view."""


@dataclass(frozen=True, slots=True)
class Defragmented:
    """What a run did, or would do, in numbers."""

    trigger: str = TRIGGER
    applied: bool = False
    sessions: int = 0
    daily_logs: int = 0
    edits_read_back: int = 0
    """Lines of the memory file that a person wrote, worded anew or struck out."""
    facts_promoted: int = 0
    """Facts that get a line in the memory file."""
    entries_promoted: int = 0
    """Contents used in several sessions that become a fact."""
    facts_faded: int = 0
    facts_merged: int = 0
    facts_left: int = 0
    contents_pruned: int = 0
    """Contents of entries that nobody uses any more."""
    orphans_collected: int = 0
    """Contents to which no session refers."""
    bytes_freed: int = 0
    """As stored; they wait for an undo until the next run."""


NOTHING = Compaction((), (), 0, dry_run=True)


class _Scope(NamedTuple):
    """The stores that a run reads and changes."""

    state: StateDir
    facts: Facts | None
    file: MemoryFile


@dataclass(frozen=True, slots=True)
class _Plan:
    promoted: tuple[str, ...]
    new: tuple[Item, ...]
    keep: frozenset[str]
    faded: tuple[str, ...]
    merged: tuple[str, ...]
    left: int
    pruned: tuple[Removal, ...]
    orphans: tuple[Removal, ...]
    edits: Edits
    sessions: int


def defrag(  # noqa: PLR0913 - each is one thing to say
    state: StateDir,
    facts: Facts | None,
    policy: Policy,
    now: float,
    *,
    apply: bool = False,
    idle_hours: float = IDLE_HOURS,
    promotion: Promotion | None = None,
) -> Defragmented:
    """Review a state directory, and with `apply` do what follows; `undo` takes the last run back.

    `facts` is its fact store, nothing where it has none; `now` is in seconds since 1970. A running
    session is not disturbed, and may go on meanwhile.

    Raises:
        StoreError: something cannot be read or written; what was done stays undoable.

    """
    block = policy.consolidation
    pruning = Pruning(
        policy.forget_below, policy.exponent, block.forget_after_sessions, now - idle_hours * 3_600
    )
    scope = _Scope(state, facts, _file(state, facts, wanted=block.memory_file))
    if not apply:
        return _told(_plan(scope, pruning, promotion or Promotion(), now), state)
    try:
        with files.held(state.defrag_lock):
            plan = _plan(scope, pruning, promotion or Promotion(), now)
            gone = _apply(scope, plan, now)
    except OSError as failure:
        raise StoreError(f"state directory {state.root}: {failure}") from failure
    told = replace(plan, pruned=_among(plan.pruned, gone), orphans=_among(plan.orphans, gone))
    return replace(_told(told, state), applied=True)


def undo(state: StateDir, facts: Facts | None) -> str | None:
    """Take the last run back, and return when it was made; nothing where there is none.

    Raises:
        StoreError: something cannot be read or written; then it can be tried again.

    """
    try:
        with files.held(state.defrag_lock):
            found = defrag_journal.last(state)
            if found is not None:
                defrag_journal.take_back(state, found, facts, _file(state, facts))
    except OSError as failure:
        raise StoreError(f"state directory {state.root}: {failure}") from failure
    return found.when if found is not None else None


def _file(state: StateDir, facts: Facts | None, *, wanted: bool = True) -> MemoryFile:
    agent = facts.agent if facts is not None else DEFAULT_AGENT
    return MemoryFile.as_kept(state, agent, wanted=wanted)


# What follows


def _plan(scope: _Scope, pruning: Pruning, promotion: Promotion, now: float) -> _Plan:
    state, facts, file = scope
    past = usage_stats.sessions(state)
    current = facts.memories(agent=EVERY_AGENT) if facts is not None else []
    members = lined(state)
    keep = frozenset(each.id for each in current if each.id in members and _is_users(each))
    compaction = compacted(facts, keep, dry_run=True) if facts is not None else NOTHING
    going = {*compaction.removed, *compaction.merged}
    staying = [each for each in current if each.id not in going]
    told = {(each.origin.session, each.origin.entry_id) for each in staying}
    again = usage_stats.used_in_several(past, promotion.using_sessions, told) if facts else []
    told |= {(session, kept.entry.id) for session, kept in again}
    held = gc.holdings(state)
    logged = daily_log.sessions_by_mark(state)
    own = [each for each in staying if facts is not None and each.agent == facts.agent]
    return _Plan(
        tuple(
            each.id
            for each in reversed(own)
            if each.id not in members and _is_used_again(each, logged, promotion)
        ),
        tuple(item for one in again if not secrets.found((item := _item(*one)).content)),
        keep,
        compaction.removed,
        compaction.merged,
        len(staying),
        tuple(usage_stats.removals(held, usage_stats.prunable(past, pruning, told))),
        tuple(gc.plan(held, gc.Rules(), now)),
        file.edits() if facts is not None else Edits(),
        len(past),
    )


def _is_users(memory: Memory) -> bool:
    """Say whether the user said it: what then stands in the memory file fades by no clock."""
    return memory.origin.role == "user"


def _is_used_again(memory: Memory, logged: Mapping[str, set[str]], promotion: Promotion) -> bool:
    return len(memory.content) <= LONGEST_LINE and (
        memory.accesses >= promotion.accesses
        or (memory.kind == "fact" and memory.encounters >= promotion.encounters)
        or len(logged.get(mark_of(memory.id), ())) >= promotion.logged_sessions
    )


def _item(session: str, kept: usage_stats.Kept) -> Item:
    """Return what a content that is used again and again is remembered as: that it is there.

    None of its words: what a tool returned is data.
    """
    call = f"{kept.tool} {shown(kept.arguments)[:CALL_CHARACTERS]}".strip()
    words = f"{call}: {kept.kind}, {kept.tokens:,} tokens, used in several sessions"
    origin = Origin(session, kept.entry.source.turn, kept.entry.id, "tool")
    return Item(words, "fact", origin=origin)


def _told(plan: _Plan, state: StateDir) -> Defragmented:
    going, edits = [*plan.pruned, *plan.orphans], plan.edits
    return Defragmented(
        sessions=plan.sessions,
        daily_logs=len(state.daily_logs()),
        edits_read_back=len(edits.new) + len(edits.changed) + len(edits.struck),
        facts_promoted=len(plan.promoted),
        entries_promoted=len(plan.new),
        facts_faded=len(plan.faded),
        facts_merged=len(plan.merged),
        facts_left=plan.left,
        contents_pruned=len(plan.pruned),
        orphans_collected=len(plan.orphans),
        bytes_freed=sum(each.packed_bytes for each in going),
    )


# What is done


def _apply(scope: _Scope, plan: _Plan, now: float) -> set[str]:
    """Do what was planned, each step written down before it; return the contents that went."""
    state, facts, file = scope
    going = [*plan.pruned, *plan.orphans]
    undo = Undo(
        datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        removed=[*plan.faded, *plan.merged],
        retired=[*plan.edits.struck, *(fact_id for fact_id, _ in plan.edits.changed)],
        promoted=list(plan.promoted),
        lined=file.members(),
        contents=[each.key for each in going],
        before=defrag_journal.texts_of(file),
    )
    defrag_journal.begin(state, undo)
    if facts is not None:
        _consolidate(state, facts, file, plan, undo)
    safe = defrag_journal.set_aside(state, going)
    gone = gc.collect(state, safe, now, put_before=now - JUST_PUT_SECONDS)
    undo.contents = [each.key for each in gone]
    undo.after = defrag_journal.texts_of(file)
    defrag_journal.note(state, undo)
    return set(undo.contents)


def _consolidate(state: StateDir, facts: Facts, file: MemoryFile, plan: _Plan, undo: Undo) -> None:
    if plan.edits:
        _noted(state, undo, file.sync(facts))
    first = next_row(facts)
    outcomes = facts.store_many(plan.new)
    stored = [each.memory.id for each in outcomes if each.memory is not None]
    undo.added += written_since(facts, stored, first)
    undo.promoted += stored
    defrag_journal.note(state, undo)
    done = compacted(facts, plan.keep | set(stored), dry_run=False)
    undo.removed = list(dict.fromkeys([*undo.removed, *done.removed, *done.merged]))
    defrag_journal.note(state, undo)
    if undo.promoted or undo.removed:
        _noted(state, undo, file.sync(facts, undo.promoted))


def _noted(state: StateDir, undo: Undo, done: Synced) -> None:
    undo.added += done.added
    undo.retired += done.retired
    defrag_journal.note(state, undo)


def _among(removals: Sequence[Removal], gone: set[str]) -> tuple[Removal, ...]:
    return tuple(each for each in removals if each.key in gone)


def figures(done: Defragmented) -> dict[str, object]:
    """Return a run's numbers by name, as `--json` prints them."""
    return asdict(done)
