"""Usage statistics for `defrag`: which sessions used which contents, and when last.

Ledgers are read and never written, so that no session waits. `defrag` decides what follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from hippocampus.entries import decay
from hippocampus.entries.entry import Record, Stage
from hippocampus.storage import gc
from hippocampus.storage.gc import Holding, Removal
from hippocampus.storage.ledger import StoredSession, stored_sessions
from hippocampus.storage.state_dir import StateDir


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


def sessions(state: StateDir) -> list[StoredSession]:
    """Return every session of a state directory, the least recently active first.

    Raises:
        StoreError: a ledger cannot be read; then nothing may be removed.

    """
    found = [each for each in stored_sessions(state) if each.name]
    return sorted(found, key=lambda past: (past.active_at, past.name))


def used_in_several(
    past: Iterable[StoredSession], least: int, known: Collection[tuple[str, str]]
) -> list[tuple[str, Record]]:
    """Return the contents that at least `least` sessions have used, each with its newest entry.

    Contents of entries in `known`, by session and id, are left out.
    """
    users: defaultdict[str, dict[str, Record]] = defaultdict(dict)
    known_contents = set()
    for session in past:
        for record in session.records:
            entry = record.entry
            if (session.name, entry.id) in known:
                known_contents.add(record.content)
            if entry.decay.last_access > entry.lifecycle.created and entry.type == "tool_result":
                users[record.content][session.name] = record
    return [
        list(by_session.items())[-1]
        for content, by_session in users.items()
        if len(by_session) >= least and content not in known_contents
    ]


def prunable(
    past: Sequence[StoredSession], rules: Pruning, protected: Iterable[tuple[str, str]] = ()
) -> dict[tuple[str, str], str]:
    """Return the entries whose content may be pruned, by session and id, with the rule.

    `past` is in the order of activity. Pinned, persistent and `protected` entries stay.
    """
    kept = set(protected)
    found = {}
    for later, session in enumerate(reversed(past)):
        if session.active_at >= rules.active_since:
            continue
        for record in session.records:
            named = (session.name, record.entry.id)
            if named in kept or gc.is_pinned(record.entry):
                continue
            strength = decay.strength(record.entry, session.turn, rules.exponent)
            if rules.forget_after_sessions and later >= rules.forget_after_sessions:
                found[named] = f"not used in the last {rules.forget_after_sessions} sessions"
            elif record.stage == Stage.DORMANT and strength < rules.forget_below:
                found[named] = f"strength under {rules.forget_below:g}"
    return found


def removals(holdings: Iterable[Holding], free: Mapping[tuple[str, str], str]) -> list[Removal]:
    """Return the contents to which only the `free` entries refer."""
    found = []
    for each in holdings:
        rules = [free.get((ref.session, ref.entry_id), "") for ref in each.references]
        if rules and all(rules):
            names = tuple(sorted({ref.session for ref in each.references}))
            found.append(Removal(each.key, each.packed_bytes, rules[0], names))
    return found
