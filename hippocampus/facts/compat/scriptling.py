"""scriptling's `remember`: one memory, which updates a very similar one of its type in place.

Similar is what MinHash says at 0.85 and more, unless a number, a name or a denial differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hippocampus.facts.compat.bands import similar
from hippocampus.facts.models import Action, Item, Outcome

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

SAME = 0.85


def remembered(
    facts: Facts, content: str, type_name: str = "note", importance: float = 0.5
) -> Outcome:
    """Keep a text, in the place of a very similar one of its type where there is one."""
    item = Item(content, type=type_name, intensity=importance)
    row = similar(facts.tables, content, facts.agent, "", type_name, SAME)
    if row is not None:
        memory = facts.update(row.id, content)
        return Outcome(
            Action.STRENGTHENED, "a very similar one was updated", memory, others=(memory.id,)
        )
    return facts.store_many([item])[0]
