"""Which stored contents go, when and why; what went leaves a tombstone, so that a recall can say it.

Planning is pure: holdings and rules in, removals out, the present handed in. Only `collect` removes.
A content that any session's ledger refers to is kept while that session is, and while one of them
has pinned it; what no ledger refers to goes after a grace. A session's archive and search index,
which hold its words too, go by its age alone.
"""

from __future__ import annotations

import contextlib
import fnmatch
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from hippocampus.entries.entry import Entry
from hippocampus.errors import StoreError
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.migrations import Migration, Schema, migrate
from hippocampus.storage.sqlite import connected, reading, written_at_ns
from hippocampus.storage.state_dir import StateDir

DAY_SECONDS = 86_400.0
ORPHAN_GRACE_SECONDS = DAY_SECONDS
"""A content is put before its ledger says so; for so long nobody has to refer to it."""


TOMBSTONES = Schema(
    "tombstones",
    (
        Migration(
            "tombstones",
            "CREATE TABLE tombstone"
            " (content TEXT PRIMARY KEY, removed TEXT NOT NULL, rule TEXT NOT NULL) STRICT",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Rules:
    """How long contents are kept; without any rule only what no session refers to goes."""

    max_age_days: float | None = None
    """Contents of sessions that were idle for longer go; 0 is every session that is idle."""
    max_bytes: int | None = None
    """Over this, as stored, the contents that were idle longest go; 0 keeps pinned ones alone."""
    session_days: Mapping[str, float] = field(default_factory=dict)
    """By glob on a session's name, its own age in days; the first that fits counts."""
    orphan_grace_seconds: float = ORPHAN_GRACE_SECONDS
    """How long a content may be without a session that refers to it; 0 not at all."""

    def days_of(self, session: str) -> float | None:
        """Return how many days a session may be idle before its contents go."""
        globs = (glob for glob in self.session_days if fnmatch.fnmatchcase(session, glob))
        glob = next(globs, None)
        return self.max_age_days if glob is None else self.session_days[glob]


class Reference(NamedTuple):
    """One entry of one session that stands for a content."""

    session: str
    entry_id: str
    content: str
    pinned: bool
    active_at: float
    """When the session was last active, in seconds since 1970."""


class Holding(NamedTuple):
    """A stored content with all that refer to it."""

    key: str
    packed_bytes: int
    put_at: float
    references: tuple[Reference, ...]

    @property
    def active_at(self) -> float:
        """Return when it was last put, or a session that refers to it was last active."""
        return max((each.active_at for each in self.references), default=self.put_at)


class Removal(NamedTuple):
    """A content that goes, and the rule that says so."""

    key: str
    packed_bytes: int
    rule: str
    sessions: tuple[str, ...]


class SessionFile(NamedTuple):
    """A file beside the contents that holds what a session said or read: archive, search index."""

    path: Path
    size_bytes: int
    session: str
    ledger: Path
    active_at: float
    """When the session was last active, in seconds since 1970."""


class FileRemoval(NamedTuple):
    """A session's file that goes, and the rule that says so."""

    file: SessionFile
    rule: str


class Tombstone(NamedTuple):
    """What is left of a content."""

    when: str
    """An ISO date and time, in UTC."""
    rule: str


def plan(holdings: Sequence[Holding], rules: Rules, now: float) -> list[Removal]:
    """Return what goes, in the order in which it goes; pinned contents never do."""
    free = [each for each in holdings if not any(ref.pinned for ref in each.references)]
    going = [
        _removal(each, rule) for each in free if (rule := _rule_of(each, rules, now)) is not None
    ]
    gone = {each.key for each in going}
    return [*going, *_over_size(holdings, free, gone, rules)]


def _removal(holding: Holding, rule: str) -> Removal:
    sessions = sorted({each.session for each in holding.references})
    return Removal(holding.key, holding.packed_bytes, rule, tuple(sessions))


def _rule_of(holding: Holding, rules: Rules, now: float) -> str | None:
    """Return the rule by which a content goes: each session that refers to it must let it go."""
    if not holding.references:
        grace = rules.orphan_grace_seconds
        return "no session refers to it" if now - holding.put_at >= grace else None
    told = []
    for each in holding.references:
        days = rules.days_of(each.session)
        if days is None or now - each.active_at < days * DAY_SECONDS:
            return None
        told.append(_idle_over(days))
    return told[0]


def _idle_over(days: float) -> str:
    return f"sessions idle for over {days:g} days"


def plan_files(held: Iterable[SessionFile], rules: Rules, now: float) -> list[FileRemoval]:
    """Return the files of sessions that go by age; what is pinned is a content, and stays there."""
    going = []
    for each in held:
        days = rules.days_of(each.session)
        if days is not None and now - each.active_at >= days * DAY_SECONDS:
            going.append(FileRemoval(each, _idle_over(days)))
    return going


def _over_size(
    holdings: Sequence[Holding], free: Sequence[Holding], gone: set[str], rules: Rules
) -> Iterator[Removal]:
    """Yield what goes so that the rest fits, what was idle longest first."""
    if rules.max_bytes is None:
        return
    left = sum(each.packed_bytes for each in holdings if each.key not in gone)
    for each in sorted(free, key=lambda holding: (holding.active_at, holding.key)):
        if left <= rules.max_bytes:
            return
        if each.key not in gone and each.references:
            left -= each.packed_bytes
            yield _removal(each, f"contents over {rules.max_bytes} bytes together")


def collect(
    state: StateDir, removals: Iterable[Removal], started: float, *, put_before: float | None = None
) -> list[Removal]:
    """Remove contents at `started`, in seconds since 1970, and return those that were removed.

    A content that was put again since `put_before` (by default since `started`) stays. A tombstone
    is written first, so that a crash in between leaves no content missing without a reason.

    Raises:
        StoreError: the state directory cannot be read or written.

    """
    store = DiskStore(state.contents)
    when = datetime.fromtimestamp(started, UTC).isoformat(timespec="seconds")
    try:
        with tombstones(state) as db:
            since = started if put_before is None else put_before
            return [each for each in removals if _remove(store, db, each, when, since)]
    finally:
        store.close()


def _remove(
    store: DiskStore, db: sqlite3.Connection, removal: Removal, when: str, started: float
) -> bool:
    db.execute(
        "INSERT OR REPLACE INTO tombstone VALUES (?, ?, ?)", (removal.key, when, removal.rule)
    )
    removed = store.drop_older(removal.key, started)
    if not removed and store.has(removal.key):
        db.execute("DELETE FROM tombstone WHERE content = ?", (removal.key,))
    return removed


def collect_files(removals: Iterable[FileRemoval], started: float) -> list[FileRemoval]:
    """Remove files of sessions that were not active since `started`; return those that went.

    Raises:
        StoreError: one cannot be removed.

    """
    gone = []
    for each in removals:
        try:
            if active_at(each.file.ledger) <= started:
                each.file.path.unlink(missing_ok=True)
                gone.append(each)
        except OSError as failure:
            raise StoreError(f"{each.file.path}: {failure}") from failure
    return gone


@contextlib.contextmanager
def tombstones(state: StateDir) -> Iterator[sqlite3.Connection]:
    """Open the tombstones of a state directory."""
    path = state.tombstones
    try:
        with contextlib.closing(connected(path)) as db:
            migrate(db, str(path), TOMBSTONES)
            yield db
    except (OSError, sqlite3.Error) as failure:
        raise StoreError(f"tombstones {path}: {failure}") from failure


def tombstone(state: StateDir, content: str) -> Tombstone | None:
    """Return what is left of a content that retention removed, or nothing.

    Raises:
        StoreError: the tombstones cannot be read.

    """
    if not state.tombstones.exists():
        return None
    with tombstones(state) as db:
        found = db.execute("SELECT removed, rule FROM tombstone WHERE content = ?", (content,))
        row = found.fetchone()
    return Tombstone(*row) if row else None


def forget_tombstone(state: StateDir, content: str) -> None:
    """Say nothing more of a content, since it is there again.

    Raises:
        StoreError: the tombstones cannot be written.

    """
    with tombstones(state) as db:
        db.execute("DELETE FROM tombstone WHERE content = ?", (content,))


def holdings(state: StateDir) -> list[Holding]:
    """Return every stored content of a state directory with all that refer to it.

    Raises:
        StoreError: the store or a ledger cannot be read; then nothing may be removed.

    """
    by_key: dict[str, list[Reference]] = {}
    store = DiskStore(state.contents)
    try:
        kept = [found for key in store.keys() if (found := store.kept(key)) is not None]  # noqa: SIM118 - a store is no mapping
    finally:
        store.close()
    for each in references(state):
        by_key.setdefault(each.content, []).append(each)
    return [Holding(*each, references=tuple(by_key.get(each.key, ()))) for each in kept]


def session_files(state: StateDir) -> list[SessionFile]:
    """Return the archives and search indexes of the sessions of a state directory.

    Raises:
        StoreError: a ledger or a file cannot be read; then nothing may be removed.

    """
    found = []
    for ledger in state.ledgers():
        try:
            session, active, _ = _rows(ledger)
            found += [
                SessionFile(path, path.stat().st_size, session, ledger, active)
                for path in state.copies_of(ledger)
            ]
        except (OSError, sqlite3.Error) as failure:
            raise StoreError(f"ledger {ledger}: {failure}") from failure
    return found


def references(state: StateDir) -> Iterator[Reference]:
    """Yield what the ledgers of a state directory refer to.

    Raises:
        StoreError: a ledger cannot be read.

    """
    for path in state.ledgers():
        try:
            yield from _references(path)
        except (OSError, sqlite3.Error, ValueError) as failure:
            raise StoreError(f"ledger {path}: {failure}") from failure


def _references(path: Path) -> list[Reference]:
    """Return what one ledger refers to.

    Raises:
        ValueError: an entry is damaged.

    """
    session, active, rows = _rows(path)
    wrong = [entry_id for entry_id, _, entry in rows if _entry(entry) is None]
    if wrong:
        raise ValueError(f"its entry {wrong[0]} is damaged")
    return [
        Reference(session, id_, key, is_pinned(_entry(e) or {}), active) for id_, key, e in rows
    ]


def _rows(path: Path) -> tuple[str, float, list[tuple[str, str, str]]]:
    """Return the session of a ledger, when it was active, and its entries: id, content, itself."""
    active = active_at(path)
    with reading(path) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'entry'").fetchone() is None:
            return "", active, []
        (session,) = db.execute("SELECT name FROM session").fetchone() or ("",)
        return session, active, db.execute("SELECT id, content, entry FROM entry").fetchall()


def _entry(written: str) -> dict[str, Any] | None:
    """Return an entry as its ledger has it, or nothing where it is damaged."""
    try:
        return Entry.model_validate(json.loads(written)).model_dump()
    except ValueError:
        return None


def is_pinned(entry: Mapping[str, Any]) -> bool:
    """Say whether an entry keeps its content: critical, or meant to outlive its session."""
    critical = entry.get("modifiers", {}).get("priority") == "critical"
    return critical or bool(entry.get("lifecycle", {}).get("persist"))


def active_at(path: Path) -> float:
    """Return when a session was last active, in seconds since 1970: when its ledger was written."""
    return written_at_ns(path) / 1e9


def verify(state: StateDir) -> list[str]:
    """Return a sentence for each damaged, missing, stray or orphaned object; empty when all is well.

    What cannot be opened at all is one of them.
    """
    referred, problems = _readable_references(state)
    try:
        tombstone(state, "")
    except StoreError as damage:
        return [*problems, str(damage)]
    try:
        with contextlib.closing(DiskStore(state.contents)) as store:
            return _verify_contents(store, state, referred, orphans=not problems) + problems
    except StoreError as damage:
        return [str(damage), *problems]


def _verify_contents(
    store: DiskStore, state: StateDir, referred: Sequence[Reference], *, orphans: bool
) -> list[str]:
    """Return what is wrong with contents; what nobody refers to only where all ledgers were read."""
    known = store.keys()
    entries: dict[str, list[str]] = {}
    for each in referred:
        entries.setdefault(each.content, []).append(f"{each.entry_id} of session {each.session!r}")
    problems = [
        "; ".join([told, *(f"entry {entry} stands for it" for entry in entries.get(key, ()))])
        for key in known
        if (told := store.damage(key))
    ]
    problems += store.strays()
    for key in sorted(set(entries) - set(known)):
        if tombstone(state, key) is None:
            problems += [f"entry {each}: its content {key[:12]} is lost" for each in entries[key]]
    nobodys = sorted(set(known) - set(entries)) if orphans else []
    return problems + [
        f"content {key[:12]} is an orphan: no session refers to it" for key in nobodys
    ]


def _readable_references(state: StateDir) -> tuple[list[Reference], list[str]]:
    """Return the references that can be read, and a sentence for each thing that cannot."""
    found: list[Reference] = []
    wrong: list[str] = []
    for path in state.ledgers():
        try:
            with reading(path) as db:
                told = [row[0] for row in db.execute("PRAGMA integrity_check")]
            session, active, rows = _rows(path)
        except (OSError, sqlite3.Error) as failure:
            wrong.append(f"ledger {path}: {failure}")
            continue
        wrong += [f"ledger {path}: {each}" for each in told if each != "ok"]
        broken = [id_ for id_, _, entry in rows if _entry(entry) is None]
        wrong += [f"ledger {path}: entry {id_} is damaged" for id_ in broken]
        found += [Reference(session, id_, key, False, active) for id_, key, _ in rows]  # noqa: FBT003 - nothing is pinned by looking
    return found, wrong
