"""Usage statistics for `defrag`: which sessions used which contents, and when last.

Ledgers are read and never written, so that no session waits. `defrag` decides what follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.entry import Entry, Record, Stage
from hippocampus.storage import gc
from hippocampus.storage.gc import Holding, Removal
from hippocampus.storage.ledger import stored_sessions
from hippocampus.storage.state_dir import StateDir


class PastEntry(NamedTuple):
    """One entry of a session, as stored in its ledger."""

    entry: Entry
    content: str
    tool: str
    arguments: str
    stage: str
    kind: str = ""
    tokens: int = 0

    @property
    def was_used(self) -> bool:
        """Return whether it was accessed after it was made."""
        return self.entry.decay.last_access > self.entry.lifecycle.created


class PastSession(NamedTuple):
    """One session, as stored in its ledger."""

    name: str
    active_at: float
    turn: int
    entries: tuple[PastEntry, ...]


@dataclass(frozen=True, slots=True)
class Pruning:
    """When an entry's content is pruned."""

    forget_below: float = 0.1
    """Prune dormant entries under this strength at their session's last turn; 0 prunes none."""
    exponent: float = decay.EXPONENT
    forget_after_sessions: int = 50
    """Prune entries that this number of later sessions have not used; 0 is never."""
    active_since: float = float("inf")
    """Sessions that were active since then are not pruned."""


def sessions(state: StateDir) -> list[PastSession]:
    """Return every session of a state directory, the least recently active first.

    Raises:
        StoreError: a ledger cannot be read; then nothing may be removed.

    """
    found = [
        PastSession(each.name, each.active_at, each.turn, tuple(map(_entry, each.records)))
        for each in stored_sessions(state)
        if each.name
    ]
    return sorted(found, key=lambda past: (past.active_at, past.name))


def _entry(record: Record) -> PastEntry:
    return PastEntry(
        record.entry,
        record.content,
        record.tool,
        record.arguments,
        record.stage,
        record.kind,
        record.tokens,
    )


def used_in_several(
    past: Iterable[PastSession], least: int, known: Collection[tuple[str, str]]
) -> list[tuple[str, PastEntry]]:
    """Return the contents that at least `least` sessions have used, each with its newest entry.

    Contents of entries in `known`, by session and id, are left out.
    """
    users: defaultdict[str, dict[str, PastEntry]] = defaultdict(dict)
    known_contents = set()
    for each in past:
        for kept in each.entries:
            if (each.name, kept.entry.id) in known:
                known_contents.add(kept.content)
            if kept.was_used and kept.entry.type == "tool_result":
                users[kept.content][each.name] = kept
    return [
        list(by.items())[-1]
        for content, by in users.items()
        if len(by) >= least and content not in known_contents
    ]


def prunable(
    past: Sequence[PastSession], rules: Pruning, protected: Iterable[tuple[str, str]] = ()
) -> dict[tuple[str, str], str]:
    """Return the entries whose content may be pruned, by session and id, with the rule.

    `past` is in the order of activity. Pinned, persistent and `protected` entries stay.
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
            if rule and named not in kept and not gc.is_pinned(one.entry):
                found[named] = rule
    return found


def _rule(kept: PastEntry, past: PastSession, later: int, rules: Pruning) -> str:
    if rules.forget_after_sessions and later >= rules.forget_after_sessions:
        return f"not used in the last {rules.forget_after_sessions} sessions"
    strength = decay.strength(kept.entry, past.turn, rules.exponent)
    if kept.stage == Stage.DORMANT and strength < rules.forget_below:
        return f"strength under {rules.forget_below:g}"
    return ""


def removals(holdings: Iterable[Holding], free: Mapping[tuple[str, str], str]) -> list[Removal]:
    """Return the contents to which only the `free` entries refer."""
    found = []
    for each in holdings:
        rules = [free.get((ref.session, ref.entry_id), "") for ref in each.references]
        if rules and all(rules):
            names = tuple(sorted({ref.session for ref in each.references}))
            found.append(Removal(each.key, each.packed_bytes, rules[0], names))
    return found
