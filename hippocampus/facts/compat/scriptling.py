"""scriptling's `remember`, which updates a very similar memory of its type, and its compaction by a model."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hippocampus.facts import judge
from hippocampus.facts.compat.bands import candidates, differ, features, jaccard, similarities
from hippocampus.facts.models import Action, Item, Memory, Outcome
from hippocampus.facts.tables import FactTables

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

SAME = 0.85
MOST_ASKED = 50


def remembered(
    facts: Facts, content: str, type_name: str = "note", importance: float | None = None
) -> Outcome:
    """Keep a text, in the place of a very similar one of its type where there is one.

    Similar is 0.85 and more, unless a number, a name or a denial differs.
    """
    there = candidates(facts.tables, content, facts.agent, "")
    alike = similarities(content, there)
    for row in sorted(alike, key=lambda row: -alike[row]):
        old = there[row]
        if alike[row] >= SAME and old.type == type_name and not differ(old.content, content):
            memory = facts.update(old.id, content)
            reason = "a very similar one was updated"
            return Outcome(Action.STRENGTHENED, reason, memory, others=(memory.id,))
    return facts.store_many([Item(content, type=type_name, intensity=importance)])[0]


def merged_by_model(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
    """Return which rows a model calls the same as an earlier one, of pairs between scriptling's bands."""
    assert tables.complete is not None
    policy = tables.policy
    said = {row: features(memory.content) for row, memory in kept.items()}
    unsure: list[tuple[int, int]] = []
    losers: dict[int, int] = {}
    for one, other in itertools.combinations(kept, 2):
        if _place(kept[one]) != _place(kept[other]):
            continue
        value = jaccard(said[one], said[other])
        if value < policy.new_minhash or differ(kept[one].content, kept[other].content):
            continue
        if value >= policy.duplicate_minhash:
            losers[other] = one
        else:
            unsure.append((one, other))
    asked = [pair for pair in unsure if pair[1] not in losers][:MOST_ASKED]
    if not asked:
        return losers
    known: dict[str, Any] = {f"k{n}": kept[one].content for n, (one, _) in enumerate(asked, 1)}
    answers = judge.decided(tables.complete, [kept[other].content for _, other in asked], known)
    for place, decision in answers.items():
        if decision.action == "same" and f"k{place + 1}" in decision.known:
            losers[asked[place][1]] = asked[place][0]
    return losers


def _place(memory: Memory) -> tuple[str, str, str]:
    return memory.agent, memory.scope, memory.type
