"""Garbage collection: which stored payloads are removed, when, and by which rule.

Planning is pure: holdings, rules and the time in, removals out. Only `collect` removes payloads, and
leaves tombstones. A payload stays while a session that refers to it is not idle for too long, or has
pinned it; one without references is removed after a grace. The raw conversation of a session, and the
recalls in its conversation with the proxy, which have its words too, are removed only by its age.
"""

from __future__ import annotations

import contextlib
import fnmatch
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.entry import Stage
from hippocampus.errors import StoreError
from hippocampus.policy import Policy
from hippocampus.storage.consolidated import SESSION
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.database import Database
from hippocampus.storage.ledger import StoredSession, activity, is_pinned

DAY_SECONDS = 86_400.0
ORPHAN_GRACE_SECONDS = DAY_SECONDS
"""A payload is stored before its ledger refers to it: the time that this may take."""

BURY = """
    INSERT INTO tombstone (content, removed, rule) VALUES (?, ?, ?)
    ON CONFLICT (content) DO UPDATE SET removed = excluded.removed, rule = excluded.rule
"""
WORDS = """
    SELECT name, sum(size) FROM (
        SELECT name, length(lines) AS size FROM conversation JOIN session
            ON session.number = conversation.session
        UNION ALL SELECT session, 0 FROM proxy_conversation
    ) AS word GROUP BY name ORDER BY name
"""
UNARCHIVE = f"DELETE FROM conversation WHERE session = {SESSION}"
UNKNOW = "DELETE FROM proxy_conversation WHERE session = ? AND sent <= ?"
REFERENCES = """
    SELECT name, id, content, is_pinned FROM entry JOIN session ON session.number = entry.session
    ORDER BY entry.number
"""


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
        """Return the rule by which the data of an idle session is removed; None where it stays."""
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
        return max((reference.active_at for reference in self.references), default=self.put_at)


class Removal(NamedTuple):
    """A payload to remove, and the rule for it."""

    key: str
    packed_bytes: int
    rule: str
    sessions: tuple[str, ...]


class SessionWords(NamedTuple):
    """The words of a session to remove, besides its entries, and the rule for it."""

    session: str
    size_bytes: int
    """Of the raw conversation, as stored."""
    rule: str


def plan(
    holdings: Sequence[Holding],
    rules: GcRules,
    now: float,
    unused: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> list[Removal]:
    """Return the payloads to remove, in order; pinned ones are never removed.

    `unused` has the rules of further entries with payloads to remove, by session and id.
    """
    free = [holding for holding in holdings if not any(ref.pinned for ref in holding.references)]
    planned = [
        _removal(holding, rule)
        for holding in free
        if (rule := _rule_of(holding, rules, now, unused)) is not None
    ]
    gone = {removal.key for removal in planned}
    return [*planned, *_over_size(holdings, free, gone, rules)]


def _removal(holding: Holding, rule: str) -> Removal:
    sessions = sorted({reference.session for reference in holding.references})
    return Removal(holding.key, holding.packed_bytes, rule, tuple(sessions))


def unused(
    past: Sequence[StoredSession],
    policy: Policy,
    active_since: float,
    protected: Iterable[tuple[str, str]] = (),
) -> dict[tuple[str, str], str]:
    """Return the entries that a policy lets go, by session and id, with the rule.

    `past` is in the order of activity. Pinned, persistent and `protected` entries stay, and so do those
    of a session that was active since a time.
    """
    kept, most = set(protected), policy.consolidation.forget_after_sessions
    found = {}
    for later, session in enumerate(reversed(past)):
        if session.active_at >= active_since:
            continue
        for record in session.records:
            named = (session.name, record.entry.id)
            if named in kept or is_pinned(record.entry):
                continue
            strength = decay.strength(
                record.entry, session.call.turn, policy.exponent, policy.initial_strength
            )
            if most and later >= most:
                found[named] = f"not used in the last {most} sessions"
            elif record.stage == Stage.DORMANT and strength < policy.forget_below:
                found[named] = f"strength under {policy.forget_below:g}"
    return found


def _rule_of(
    holding: Holding, rules: GcRules, now: float, unused: Mapping[tuple[str, str], str]
) -> str | None:
    """Return the rule by which a payload is removed: it must hold for all sessions that refer to it."""
    if not holding.references:
        grace = rules.orphan_grace_seconds
        return "no session refers to it" if now - holding.put_at >= grace else None
    found = [
        unused.get((reference.session, reference.entry_id))
        or rules.rule_by_age(reference.session, reference.active_at, now)
        for reference in holding.references
    ]
    return found[0] if None not in found else None


def _over_size(
    holdings: Sequence[Holding], free: Sequence[Holding], gone: set[str], rules: GcRules
) -> Iterator[Removal]:
    """Yield payloads to remove so that the rest fits, those idle longest first."""
    if rules.max_bytes is None:
        return
    left = sum(holding.packed_bytes for holding in holdings if holding.key not in gone)
    # A payload is removed before those without which it cannot be read.
    for holding in sorted(free, key=lambda held: (held.active_at, not held.parts, held.key)):
        if left <= rules.max_bytes:
            return
        if holding.key not in gone and holding.references:
            left -= holding.packed_bytes
            yield _removal(holding, f"contents over {rules.max_bytes} bytes together")


def collect(
    db: Database,
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
    for removal in removals:
        db.run(BURY, (removal.key, when, removal.rule))
        if store.delete(removal.key, before):
            removed.append(removal)
            continue
        with contextlib.suppress(StoreError):  # a damaged one stays as it is
            if store.get(removal.key) is not None:
                db.run("DELETE FROM tombstone WHERE content = ?", (removal.key,))
    return removed


def plan_words(db: Database, rules: GcRules, now: float) -> list[SessionWords]:
    """Return the sessions with words to remove by age; pins protect payloads, and no words.

    Raises:
        StoreError: the state cannot be read; then nothing may be removed.
    """
    active = _active(db)
    return [
        SessionWords(name, size, rule)
        for name, size in db.rows(WORDS)
        if (rule := rules.rule_by_age(name, active.get(name, 0.0), now)) is not None
    ]


def collect_words(
    db: Database, removals: Iterable[SessionWords], started: float
) -> list[SessionWords]:
    """Remove words of sessions that were not active since `started`; return the removals.

    A later request of a conversation of the proxy begins a new session then.

    Raises:
        StoreError: the state cannot be written.
    """
    with db.transaction():
        active = _active(db)
        gone = [removal for removal in removals if active.get(removal.session, 0.0) <= started]
        for removal in gone:
            db.run(UNARCHIVE, (removal.session,))
            db.run(UNKNOW, (removal.session, started))
    db.shrink()
    return gone


def _active(db: Database) -> dict[str, float]:
    """Return by session when it was last active, or sent a request to a proxy."""
    found = activity(db)
    for name, sent in db.rows("SELECT session, sent FROM proxy_conversation"):
        found[name] = max(sent, found.get(name, 0.0))
    return found


def holdings(db: Database, store: ContentStore) -> list[Holding]:
    """Return every stored payload with all entries that refer to it, or to one that repeats it.

    Raises:
        StoreError: the store or the state cannot be read; then nothing may be removed.
    """
    stored = list(store.stored())
    by_key = references(db)
    for held in stored:
        for part in held.parts:
            by_key.setdefault(part, []).extend(by_key.get(held.key, ()))
    return [
        Holding(
            held.key, held.packed_bytes, held.put_at, tuple(by_key.get(held.key, ())), held.parts
        )
        for held in stored
    ]


def references(db: Database) -> dict[str, list[Reference]]:
    """Return by the key of a payload the entries that refer to it.

    Raises:
        StoreError: the state cannot be read; then nothing may be removed.
    """
    found: dict[str, list[Reference]] = {}
    active = activity(db)
    for name, entry_id, content, pinned in db.rows(REFERENCES):
        at = active.get(name, math.inf)
        reference = Reference(name, entry_id, content, bool(pinned), at)
        found.setdefault(content, []).append(reference)
    return found
