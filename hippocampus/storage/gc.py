"""Garbage collection: which stored payloads are removed, when, and by which rule.

Planning is pure: holdings, rules and the time in, removals out. Only `collect` removes, and leaves a
tombstone for each payload. A payload stays while a session that refers to it is not idle for too long,
and while one of them has pinned it; one without references goes after a grace. The archive and the
search index of a session, and the recalls in its conversation with the proxy, which hold its words
too, go by its age alone.
"""

from __future__ import annotations

import contextlib
import fnmatch
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries.entry import Entry
from hippocampus.errors import StoreError
from hippocampus.storage import proxy, tombstones
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import StoredSession, stored_sessions
from hippocampus.storage.sqlite import is_open, written_at_ns
from hippocampus.storage.state_dir import StateDir

DAY_SECONDS = 86_400.0
ORPHAN_GRACE_SECONDS = DAY_SECONDS
"""A payload is stored before its ledger refers to it: the time that this may take."""


@dataclass(frozen=True, slots=True)
class GcRules:
    """How long payloads stay; without any rule only those without references go."""

    max_age_days: float | None = None
    """Payloads of sessions that were idle for longer go; 0 is every session."""
    max_bytes: int | None = None
    """Over this, as stored, the payloads that were idle longest go; 0 leaves only pinned ones."""
    session_days: Mapping[str, float] = field(default_factory=dict)
    """By glob on a session's name, its own age in days; the first that fits counts."""
    orphan_grace_seconds: float = ORPHAN_GRACE_SECONDS
    """How long a payload may be without references; 0 not at all."""

    def rule_by_age(self, session: str, active_at: float, now: float) -> str | None:
        """Return the rule by which what a session left goes by its age, or None where it stays."""
        globs = (glob for glob in self.session_days if fnmatch.fnmatchcase(session, glob))
        glob = next(globs, None)
        days = self.max_age_days if glob is None else self.session_days[glob]
        if days is None or now - active_at < days * DAY_SECONDS:
            return None
        return f"sessions idle for over {days:g} days"


class Reference(NamedTuple):
    """An entry of a session, and its payload."""

    session: str
    entry_id: str
    content: str
    pinned: bool
    active_at: float
    """When the session was last active, in seconds since 1970; infinite while a process has it open."""


class Holding(NamedTuple):
    """A stored payload with all entries that refer to it."""

    key: str
    packed_bytes: int
    put_at: float
    references: tuple[Reference, ...]
    parts: tuple[str, ...] = ()
    """The keys of the payloads without which it cannot be read."""

    @property
    def active_at(self) -> float:
        """Return when it was last put, or a session that refers to it was last active."""
        return max((each.active_at for each in self.references), default=self.put_at)


class Removal(NamedTuple):
    """A payload that goes, and the rule by which it does."""

    key: str
    packed_bytes: int
    rule: str
    sessions: tuple[str, ...]


class SessionFile(NamedTuple):
    """A file with the words of a session: its archive or its search index."""

    path: Path
    size_bytes: int
    session: str
    ledger: Path
    active_at: float
    """When the session was last active, in seconds since 1970."""


def plan(holdings: Sequence[Holding], rules: GcRules, now: float) -> list[Removal]:
    """Return the payloads to remove, in order; pinned ones are never removed."""
    free = [each for each in holdings if not any(ref.pinned for ref in each.references)]
    going = [
        _removal(each, rule) for each in free if (rule := _rule_of(each, rules, now)) is not None
    ]
    gone = {each.key for each in going}
    return [*going, *_over_size(holdings, free, gone, rules)]


def _removal(holding: Holding, rule: str) -> Removal:
    sessions = sorted({each.session for each in holding.references})
    return Removal(holding.key, holding.packed_bytes, rule, tuple(sessions))


def _rule_of(holding: Holding, rules: GcRules, now: float) -> str | None:
    """Return the rule by which a payload goes: it must hold for each session that refers to it."""
    if not holding.references:
        grace = rules.orphan_grace_seconds
        return "no session refers to it" if now - holding.put_at >= grace else None
    found = [rules.rule_by_age(each.session, each.active_at, now) for each in holding.references]
    return found[0] if None not in found else None


def plan_files(held: Iterable[SessionFile], rules: GcRules, now: float) -> dict[SessionFile, str]:
    """Return the files of sessions that go by age, with the rule; pins protect payloads, and no files."""
    return {
        each: rule
        for each in held
        if (rule := rules.rule_by_age(each.session, each.active_at, now)) is not None
    }


def plan_conversations(state: StateDir, rules: GcRules, now: float) -> dict[str, str]:
    """Return the sessions whose conversation the proxy forgets by age, each with the rule.

    Raises:
        StoreError: the proxy's file cannot be read.

    """
    sent = proxy.sent(state)
    found = {session: rules.rule_by_age(session, at, now) for session, at in sent.items()}
    return {session: rule for session, rule in found.items() if rule is not None}


def _over_size(
    holdings: Sequence[Holding], free: Sequence[Holding], gone: set[str], rules: GcRules
) -> Iterator[Removal]:
    """Yield what goes so that the rest fits, what was idle longest first."""
    if rules.max_bytes is None:
        return
    left = sum(each.packed_bytes for each in holdings if each.key not in gone)
    # A payload goes before those without which it cannot be read.
    for each in sorted(free, key=lambda held: (held.active_at, not held.parts, held.key)):
        if left <= rules.max_bytes:
            return
        if each.key not in gone and each.references:
            left -= each.packed_bytes
            yield _removal(each, f"contents over {rules.max_bytes} bytes together")


def collect(
    state: StateDir,
    store: ContentStore,
    removals: Iterable[Removal],
    started: float,
    *,
    put_before: float | None = None,
) -> list[Removal]:
    """Remove payloads at `started`, in seconds since 1970, and return those that were removed.

    A payload that was put again since `put_before` (by default since `started`) stays. A tombstone
    is written first, so that a crash in between leaves no payload missing without a reason.

    Raises:
        StoreError: the store or the tombstones cannot be read or written.

    """
    when = datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds")
    before = started if put_before is None else put_before
    removed = []
    with tombstones.opened(state) as db:
        for each in removals:
            tombstones.bury(db, each.key, when, each.rule)
            if store.delete(each.key, before):
                removed.append(each)
                continue
            with contextlib.suppress(StoreError):  # a damaged one stays as it is
                if store.get(each.key) is not None:
                    tombstones.unbury(db, each.key)
    return removed


def collect_files(removals: Iterable[SessionFile], started: float) -> list[SessionFile]:
    """Remove files of sessions that were not active since `started`; return those that went.

    Raises:
        StoreError: one cannot be removed.

    """
    gone = []
    for each in removals:
        try:
            if written_at_ns(each.ledger) / 1e9 <= started:
                each.path.unlink(missing_ok=True)
                gone.append(each)
        except OSError as failure:
            raise StoreError(f"{each.path}: {failure}") from failure
    return gone


def holdings(state: StateDir, store: ContentStore) -> list[Holding]:
    """Return every stored payload with all entries that refer to it, or to one that repeats it.

    Raises:
        StoreError: the store or a ledger cannot be read; then nothing may be removed.

    """
    stored = list(store.stored())
    by_key: dict[str, list[Reference]] = {}
    for session in stored_sessions(state):
        for each in references(session):
            by_key.setdefault(each.content, []).append(each)
    for held in stored:
        for part in held.parts:
            by_key.setdefault(part, []).extend(by_key.get(held.key, ()))
    return [
        Holding(
            held.key, held.packed_bytes, held.put_at, tuple(by_key.get(held.key, ())), held.parts
        )
        for held in stored
    ]


def references(session: StoredSession) -> list[Reference]:
    """Return the payloads to which the entries of a session refer."""
    active_at = _active_at(session) if session.records else 0.0
    return [
        Reference(session.name, each.entry.id, each.content, is_pinned(each.entry), active_at)
        for each in session.records
    ]


def _active_at(session: StoredSession) -> float:
    """Return when a session was last active; one that is open is never idle, whatever the clock."""
    return math.inf if is_open(session.ledger) else session.active_at


def session_files(state: StateDir) -> list[SessionFile]:
    """Return the archives and search indexes of the sessions of a state directory.

    Raises:
        StoreError: a ledger or a file cannot be read; then nothing may be removed.

    """
    try:
        return [
            SessionFile(
                path, path.stat().st_size, session.name, session.ledger, _active_at(session)
            )
            for session in stored_sessions(state)
            for path in state.copies_of(session.ledger)
        ]
    except OSError as failure:
        raise StoreError(f"archives in {state.root}: {failure}") from failure


def is_pinned(entry: Entry) -> bool:
    """Return whether an entry keeps its payload: critical, or meant to outlive its session."""
    return entry.modifiers.priority == "critical" or entry.lifecycle.persist
