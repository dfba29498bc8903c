"""Message lists in, message lists out: which format a list has, and what is new in it.

The three adapters stand alone; this file is the one place that knows them all. Nothing is weighed,
indexed or stored here.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hippocampus.errors import MessagesError
from hippocampus.formats import anthropic, openai_chat, openai_responses
from hippocampus.formats.conversation import Item, Message, write
from hippocampus.formats.plain import AS_DICTS

__all__ = [
    "FORMATS",
    "Adapter",
    "Reading",
    "RunningReader",
    "adapter_of",
    "read",
    "snapshot",
    "write",
]


class Adapter(Protocol):
    """One provider's format, as a module of functions."""

    NAME: str

    def recognises(self, item: Item, /) -> bool:
        """Say whether the item can only be of this format."""

    def accepts(self, item: Item, /) -> bool:
        """Say whether the item can be of this format at all."""

    def read(self, items: Sequence[Item], /) -> list[Message]:
        """Read whole messages."""

    def group_start(self, items: Sequence[Item], index: int, /) -> int:
        """Return where the message that holds the item at `index` starts."""


FORMATS: tuple[Adapter, ...] = (openai_responses, openai_chat, anthropic)
ANY_FORMAT: Adapter = openai_chat


def adapter_of(items: Sequence[Item]) -> tuple[Adapter, int | None]:
    """Return the adapter for a list, and the number of the item that can be of no other format.

    Plain `{"role", "content"}` messages are the same in all three and read as OpenAI Chat.

    Raises:
        MessagesError: the list is in no known format.

    """
    for number, item in enumerate(items):
        for adapter in FORMATS:
            if isinstance(item, dict) and adapter.recognises(item):
                return _checked(adapter, items), number
    return _checked(ANY_FORMAT, items), None


def read(items: Sequence[Item]) -> list[Message]:
    """Read a whole list; `write` gives it back.

    Raises:
        MessagesError: the list is in no known format.

    """
    return adapter_of(items)[0].read(items)


def _checked(adapter: Adapter, items: Sequence[Item], start: int = 0) -> Adapter:
    for number, item in enumerate(items[start:], start):
        if not isinstance(item, dict) or not adapter.accepts(item):
            known = ", ".join(each.NAME for each in FORMATS)
            raise MessagesError(
                f"messages[{number}] is no message of the format {adapter.NAME!r}; known formats "
                f"are {known}; {AS_DICTS}"
            )
    return adapter


@dataclass(frozen=True, slots=True)
class Reading:
    """A list as read: its messages, and how many of them were already there the last time."""

    messages: list[Message]
    kept: int
    adapter: Adapter


class RunningReader:
    """Reads a growing list again and again, each time only what is new or has changed."""

    def __init__(self) -> None:
        self._items: list[Item] = []
        self._messages: list[Message] = []
        self._starts: list[int] = []
        self._adapter: Adapter = ANY_FORMAT
        self._telling: int | None = None

    def read(self, items: Sequence[Item]) -> Reading:
        """Read `items`; the messages before the first changed item are the ones of last time.

        Raises:
            MessagesError: the list is in no known format.

        """
        same = _common_prefix(self._items, items)
        adapter, telling = self._recognise(items, same)
        kept, start = self._unchanged(items, same) if adapter is self._adapter else (0, 0)
        fresh = adapter.read([snapshot(item) for item in items[start:]])
        known = kept + _common_prefix(self._messages[kept:], fresh)
        self._adapter, self._telling = adapter, telling
        self._messages[kept:] = fresh
        self._starts[kept:] = _starts(start, fresh)
        self._items[start:] = [item for message in fresh for item in message.raw]
        return Reading(list(self._messages), known, adapter)

    def _recognise(self, items: Sequence[Item], same: int) -> tuple[Adapter, int | None]:
        """Return the format; the first `same` items need no second look once one has told it."""
        if self._telling is None or self._telling >= same:
            return adapter_of(items)
        return _checked(self._adapter, items, same), self._telling

    def _unchanged(self, items: Sequence[Item], same: int) -> tuple[int, int]:
        """Return how many messages lie wholly before the first change, and where they end."""
        start = self._adapter.group_start(items, same)
        kept = bisect.bisect_left(self._starts, start)
        end = self._starts[kept] if kept < len(self._starts) else len(self._items)
        if kept and end > start:
            kept -= 1
            start = self._starts[kept]
        return kept, start


def _starts(at: int, messages: Sequence[Message]) -> list[int]:
    return list(itertools.accumulate((len(each.raw) for each in messages), initial=at))[:-1]


def _common_prefix(old: Sequence[object], new: Sequence[object]) -> int:
    if old == new[: len(old)]:  # as it nearly always is, and compared without a step in Python
        return len(old)
    for index, (before, after) in enumerate(zip(old, new, strict=False)):
        if before is not after and before != after:
            return index
    return min(len(old), len(new))


def snapshot(value: Any) -> Any:
    """Copy the containers of a JSON value, so that a later edit by its owner is noticed."""
    if isinstance(value, dict):
        copy = dict(value)
        for key, inner in value.items():
            if type(inner) is not str and isinstance(inner, dict | list):
                copy[key] = snapshot(inner)
        return copy
    if isinstance(value, list):
        return [snapshot(inner) for inner in value]
    return value
