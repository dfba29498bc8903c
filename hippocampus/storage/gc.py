"""Garbage collection: which stored payloads are removed, when, and by which rule.

Planning is pure: holdings, rules and the time in, removals out. Only `collect` removes payloads, and
leaves tombstones. A payload stays while a session that refers to it is not idle for too long, or has
pinned it; one without references is removed after a grace. The raw conversation of a session, and the
recalls in its conversation with the proxy, which have its words too, are removed only by its age.

Where a store or a state cannot be read, a `StoreError`, nothing may be removed.
"""

from __future__ import annotations

import contextlib
import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.entry import Stage
from hippocampus.errors import StoreError
from hippocampus.policy import Policy
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.database import Database
from hippocampus.storage.ledger import StoredSession, is_pinned

DAY_SECONDS = 86_400.0
ORPHAN_GRACE_SECONDS = DAY_SECONDS
"""A payload is stored before its ledger refers to it: the time that this may take."""
WORDS_KEY = "conversation"

BURY = """
    INSERT INTO tombstone (content, removed, rule) VALUES (?, ?, ?)
    ON CONFLICT (content) DO UPDATE SET removed = excluded.removed, rule = excluded.rule
"""
WORDS = """
    SELECT name, sum(size), max(at), max(number) FROM (
        SELECT name, length(lines) AS size, active_at AS at, session.number
            FROM conversation JOIN session ON session.number = conversation.session
        UNION ALL SELECT proxy.session, 0, max(sent, coalesce(active_at, sent)), number
            FROM proxy_conversation AS proxy LEFT JOIN session ON name = proxy.session
    ) AS word GROUP BY name ORDER BY name
"""
UNARCHIVE = """
    DELETE FROM conversation
    WHERE session = (SELECT number FROM session WHERE name = ? AND active_at <= ?)
"""
UNKNOW = "DELETE FROM proxy_conversation WHERE session = ? AND sent <= ?"
REFERENCES = """
    SELECT name, id, content, is_pinned, active_at, session.number
    FROM entry JOIN session ON session.number = entry.session ORDER BY entry.number
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
    """A stored payload, with the fields of `StoredPayload`, and all entries that refer to it."""

    key: str
    packed_bytes: int
    put_at: float
    parts: tuple[str, ...]
    references: tuple[Reference, ...]

    @property
    def active_at(self) -> float:
        """Return when it was last put, or a session that refers to it was last active."""
        return max((reference.active_at for reference in self.references), default=self.put_at)


class Removal(NamedTuple):
    """A payload to remove, or the words of a session besides its entries, and the rule for it."""

    key: str
    """That of the payload; `WORDS_KEY` is the words."""
    packed_bytes: int
    rule: str
    sessions: tuple[str, ...]


def plan(
    holdings: Sequence[Holding],
    rules: GcRules,
    now: float,
    unused: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> list[Removal]:
    """Return the payloads to remove, in order; pinned ones are never removed.

    `unused` has the rules of further entries with payloads to remove, by session and id.
    """
    free = {
        holding.key: holding
        for holding in holdings
        if not any(reference.pinned for reference in holding.references)
    }
    gone = {
        key: rule
        for key, holding in free.items()
        if (rule := _rule_of(holding, rules, now, unused)) is not None
    }
    most = math.inf if rules.max_bytes is None else rules.max_bytes
    left = sum(holding.packed_bytes for holding in holdings if holding.key not in gone)
    # The idle ones go first, and of a session what no list of a digest has: a list is small, and goes
    # before the payloads without which it cannot be read.
    shared = {part for holding in holdings for part in holding.parts}

    def rank(held: Holding) -> tuple[float, bool, int]:
        return held.active_at, bool(held.parts) or held.key in shared, -len(held.parts)

    for holding in sorted(free.values(), key=rank):
        if left > most and holding.key not in gone and holding.references:
            left -= holding.packed_bytes
            gone[holding.key] = f"contents over {most} bytes together"
    return [
        Removal(
            key,
            free[key].packed_bytes,
            rule,
            tuple(sorted({reference.session for reference in free[key].references})),
        )
        for key, rule in gone.items()
    ]


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


def plan_words(db: Database, rules: GcRules, now: float) -> list[Removal]:
    """Return the sessions with words to remove by age; pins protect payloads, and no words."""
    words = db.rows(WORDS)
    is_open = db.open_sessions(number for *_, number in words if number)
    return [
        Removal(WORDS_KEY, size, rule, (name,))
        for name, size, active_at, number in words
        if number not in is_open and (rule := rules.rule_by_age(name, active_at, now)) is not None
    ]


def collect_words(db: Database, rules: GcRules, started: float) -> list[Removal]:
    """Remove the words of sessions by age, but of those active since `started`; return the removals.

    A later request of a conversation of the proxy begins a new session then.
    """
    with db.transaction():
        gone = plan_words(db, rules, started)
        for removal in gone:
            db.run(UNARCHIVE, (*removal.sessions, started))
            db.run(UNKNOW, (*removal.sessions, started))
    db.shrink()
    return gone


def holdings(db: Database, store: ContentStore) -> list[Holding]:
    """Return every stored payload with all entries that refer to it, or to one that repeats it."""
    stored = list(store.stored())
    by_key = references(db)
    for held in stored:
        for part in held.parts:
            by_key.setdefault(part, []).extend(by_key.get(held.key, ()))
    return [Holding(*held, tuple(by_key.get(held.key, ()))) for held in stored]


def references(db: Database) -> dict[str, list[Reference]]:
    """Return by the key of a payload the entries that refer to it."""
    found: dict[str, list[Reference]] = {}
    rows = db.rows(REFERENCES)
    is_open = db.open_sessions({number for *_, number in rows})
    for name, entry_id, content, pinned, active_at, number in rows:
        at = math.inf if number in is_open else active_at
        reference = Reference(name, entry_id, content, bool(pinned), at)
        found.setdefault(content, []).append(reference)
    return found
