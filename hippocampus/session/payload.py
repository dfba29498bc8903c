"""A large content of a message list: its record, where it stands, and what becomes of it next. Data."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.entries.decay import accessed
from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Message, Part
from hippocampus.policy import UNTREATED, Treatment

MOST_ASSOCIATIONS = 8


@dataclass(slots=True)
class Held:
    """A content that stands in the list, in full or as its entry."""

    record: Record
    message: int
    """The number of its message in the window."""
    part: int
    due_turn: int
    """The first turn at which it may be shortened."""
    large: bool
    """Whether its size alone makes it an entry; else it has to fade first."""
    treatment: Treatment = UNTREATED
    """What the policy's rules say of it."""
    note: str = ""
    """What the entry has to say beside its content: superseded, stale, unchanged."""
    twin: Held | None = None
    """An earlier result of the same content, which its note names."""
    shorter: Record | None = None
    """What it becomes next, once that is written."""
    row: int = -1
    """Its row in the table of what is due."""
    weighed: tuple[str, int] = ("", 0)
    """The text that stands in the view, and its tokens."""

    def weight(self, weigh: Callable[[str], int]) -> int:
        """Return what it weighs as it stands in the view; counted once for each text."""
        if self.weighed[0] is not self.record.shown:
            self.weighed = (self.record.shown, weigh(self.record.shown))
        return self.weighed[1]

    def touch(self, turn: int, initial: float) -> None:
        """Take an access: full strength from this turn on, or from a later one that is known."""
        last = max(turn, self.record.entry.decay.last_access)
        self.record = replace(self.record, entry=accessed(self.record.entry, last, initial))
        self.shorter = None

    def associate(self, others: Iterable[str]) -> None:
        """Remember entries that were used together with this one."""
        modifiers = self.record.entry.modifiers
        known = dict.fromkeys([*modifiers.associations, *others])
        known.pop(self.record.entry.id, None)
        told = modifiers.model_copy(update={"associations": list(known)[-MOST_ASSOCIATIONS:]})
        entry = self.record.entry.model_copy(update={"modifiers": told})
        self.record = replace(self.record, entry=entry)

    def mark(self, note: str) -> None:
        """Let its entry say something of it, once it is written."""
        self.note = note
        self.shorter = None

    @property
    def is_pinned(self) -> bool:
        """Say whether it stays as it stands, by a rule or by the host's word."""
        return bool(self.treatment.pin) or self.record.entry.modifiers.priority == "critical"

    @property
    def is_superseded(self) -> bool:
        """Say whether something newer stands for it."""
        return bool(self.note) and not self.due_turn

    def supersede(self, note: str) -> None:
        """Let it be due at once, since something newer stands for it."""
        self.mark(note)
        self.due_turn = 0


def original_of(message: Message, part: Part) -> tuple[str, bytes]:
    """Return how the message holds a content, and its exact bytes."""
    value: Any = message.raw
    for key in part.place:
        value = value[key]
    if isinstance(value, str):
        return "text", value.encode("utf-8", "surrogatepass")
    form = "blocks" if isinstance(value, list) else "object"
    return form, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
