"""What `defrag` finds in a state directory: who used what, in how many sessions, and when last.

Ledgers are read and never written, so that no session waits for it. What follows from it is decided
in `defrag`.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.entry import Entry, Stage
from hippocampus.errors import StoreError
from hippocampus.storage import gc
from hippocampus.storage.gc import Holding, Removal
from hippocampus.storage.sqlite import reading
from hippocampus.storage.state_dir import StateDir

BUSY_SECONDS = 10.0


class Kept(NamedTuple):
    """One entry of a session, as its ledger has it."""

    entry: Entry
    content: str
    tool: str
    arguments: str
    stage: str
    kind: str = ""
    tokens: int = 0

    @property
    def was_used(self) -> bool:
        """Say whether it was accessed after it was made."""
        return self.entry.decay.last_access > self.entry.lifecycle.created


class Past(NamedTuple):
    """One session as its ledger tells it."""

    name: str
    active_at: float
    turn: int
    entries: tuple[Kept, ...]


@dataclass(frozen=True, slots=True)
class Pruning:
    """When an entry's content goes."""

    forget_below: float = 0.1
    """A dormant entry under this strength at its session's last turn; 0 forgets none."""
    exponent: float = decay.EXPONENT
    forget_after_sessions: int = 50
    """An entry that so many later sessions have not used; 0 is never."""
    active_since: float = float("inf")
    """Sessions that were active since then are left alone."""


def sessions(state: StateDir) -> list[Past]:
    """Return every session of a state directory, the one that was active longest ago first.

    Raises:
        StoreError: a ledger cannot be read; then nothing may be removed.

    """
    found = []
    for path in state.ledgers():
        try:
            found.append(_past(path))
        except (OSError, sqlite3.Error, ValueError) as failure:
            raise StoreError(f"ledger {path}: {failure}") from failure
    named = (past for past in found if past.name)
    return sorted(named, key=lambda past: (past.active_at, past.name))


def _past(path: Path) -> Past:
    active = gc.active_at(path)
    with reading(path, BUSY_SECONDS) as db:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'entry'").fetchone() is None:
            return Past("", active, 0, ())
        (name,) = db.execute("SELECT name FROM session").fetchone() or ("",)
        (turn,) = db.execute("SELECT max(turn) FROM call").fetchone()
        rows = db.execute(
            "SELECT entry, content, tool, arguments, stage, kind, tokens FROM entry"
        ).fetchall()
    entries = (Kept(Entry.model_validate(json.loads(entry)), *rest) for entry, *rest in rows)
    return Past(name, active, turn or 0, tuple(entries))


def used_in_several(
    past: Iterable[Past], least: int, told: Collection[tuple[str, str]]
) -> list[tuple[str, Kept]]:
    """Return the contents that at least so many sessions have used, each with its newest entry.

    Those of an entry that is `told` already, by session and id, are left out.
    """
    users: defaultdict[str, dict[str, Kept]] = defaultdict(dict)
    known = set()
    for each in past:
        for kept in each.entries:
            if (each.name, kept.entry.id) in told:
                known.add(kept.content)
            if kept.was_used and kept.entry.type == "tool_result":
                users[kept.content][each.name] = kept
    return [
        list(by.items())[-1]
        for content, by in users.items()
        if len(by) >= least and content not in known
    ]


def prunable(
    past: Sequence[Past], rules: Pruning, protected: Iterable[tuple[str, str]] = ()
) -> dict[tuple[str, str], str]:
    """Return the entries whose content may go, by session and id, with the rule that says so.

    `past` is in the order of activity. Pinned and persistent entries stay, and those `protected`.
    """
    kept = set(protected)
    found = {}
    for place, each in enumerate(past):
        if each.active_at >= rules.active_since:
            continue
        later = len(past) - place - 1
        for one in each.entries:
            rule = _rule(one, each, later, rules)
            named = (each.name, one.entry.id)
            if rule and named not in kept and not gc.is_pinned(one.entry.model_dump()):
                found[named] = rule
    return found


def _rule(kept: Kept, past: Past, later: int, rules: Pruning) -> str:
    if rules.forget_after_sessions and later >= rules.forget_after_sessions:
        return f"not used in the last {rules.forget_after_sessions} sessions"
    strength = decay.strength(kept.entry, past.turn, exponent=rules.exponent)
    if kept.stage == Stage.DORMANT and strength < rules.forget_below:
        return f"strength under {rules.forget_below:g}"
    return ""


def removals(holdings: Iterable[Holding], free: Mapping[tuple[str, str], str]) -> list[Removal]:
    """Return the contents to which only such entries refer."""
    found = []
    for each in holdings:
        rules = [free.get((ref.session, ref.entry_id), "") for ref in each.references]
        if rules and all(rules):
            names = tuple(sorted({ref.session for ref in each.references}))
            found.append(Removal(each.key, each.packed_bytes, rules[0], names))
    return found
