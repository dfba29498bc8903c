"""Gives an id to each recorded tool call that has none, and to the result that answers it.

Calls and results with an id are returned as they are.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.pairing import ANSWERED_ITEMS
from hippocampus.replay.readers.raw import RawMessage
from hippocampus.replay.readers.values import as_records, as_text, kind_of


class _Ids:
    """Hands out new ids; results without an id answer the newest calls without one, in order."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self._waiting: deque[str] = deque()

    def start_answer(self) -> None:
        self._waiting.clear()

    def of_call(self, record: Item, field: str) -> Item:
        if as_text(record.get(field)):
            return record
        self._waiting.append(f"unnamed_call_{next(self._numbers)}")
        return {**record, field: self._waiting[-1]}

    def of_result(self, record: Item, field: str) -> Item:
        if as_text(record.get(field)) or not self._waiting:
            return record
        return {**record, field: self._waiting.popleft()}


def with_call_ids(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Return the messages of any provider's format with an id on every tool call."""
    ids = _Ids()
    named: list[RawMessage] = []
    was_call_item = False
    for message in messages:
        item = message.item
        is_call_item = kind_of(item) in ANSWERED_ITEMS
        if item.get("role") == "assistant" or (is_call_item and not was_call_item):
            ids.start_answer()
        was_call_item = is_call_item
        named.append(message._replace(item=_with_ids(item, ids)))
    return named


def _with_ids(item: Item, ids: _Ids) -> Item:
    if kind_of(item) in ANSWERED_ITEMS:
        return ids.of_call(item, "call_id")
    if kind_of(item) in ANSWERED_ITEMS.values():
        return ids.of_result(item, "call_id")
    if item.get("role") == "tool":
        return ids.of_result(item, "tool_call_id")
    if calls := as_records(item.get("tool_calls")):
        return _replaced(item, "tool_calls", [ids.of_call(call, "id") for call in calls])
    if blocks := as_records(item.get("content")):
        return _replaced(item, "content", [_block_with_id(block, ids) for block in blocks])
    return item


def _block_with_id(block: Item, ids: _Ids) -> Item:
    if kind_of(block) == "tool_use":
        return ids.of_call(block, "id")
    return ids.of_result(block, "tool_use_id") if kind_of(block) == "tool_result" else block


def _replaced(item: Item, field: str, records: list[Item]) -> Item:
    return item if records == item[field] else {**item, field: records}
