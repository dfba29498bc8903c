"""How scriptling remembers: a very similar text of the same type takes the place of the earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hippocampus.facts.models import Action, Outcome
from hippocampus.facts.similar import differ, similarities
from hippocampus.facts.upkeep import update
from hippocampus.facts.write import close_to

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

SAME = 0.85


def remembered(
    facts: Facts, content: str, type_name: str = "note", importance: float | None = None
) -> Outcome:
    """Keep a text, in the place of a very similar one of its type where there is one.

    Similar is 0.85 and more, unless a number, a name or a denial differs.
    """
    there = close_to(facts.tables, content, facts.agent, "")
    alike = similarities(content, there)
    for row in sorted(alike, key=lambda row: -alike[row]):
        old = there[row]
        if alike[row] >= SAME and old.type == type_name and not differ(old.content, content):
            memory = update(facts.tables, old.id, content)
            reason = "a very similar one was updated"
            return Outcome(Action.STRENGTHENED, reason, memory, others=(memory.id,))
    return facts.store(content, type=type_name, intensity=importance)
