"""Makes single items of a message list such as their provider takes: required types, no reasoning.

An item that is so is returned unchanged. Calls are paired elsewhere.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import MessageFormat, RawMessage
from hippocampus.replay.readers.values import (
    as_list,
    as_record,
    as_string_or_json,
    as_text,
    kind_of,
)

MISPLACED = {"user": {"tool_use"}, "assistant": {"tool_result"}}
"""The types of Anthropic blocks that a message of a role may not hold."""
Fields = Mapping[str, Callable[[Any], Any]]
"""By field, a function that returns a valid value itself and converts any other."""


def with_required_types(message_format: MessageFormat, item: Item) -> Item:
    """Return the item; values of other types are converted where they can be, else empty."""
    converted = _converted(ITEM_FIELDS, item)
    if message_format == "responses" and not kind_of(item).endswith(("_call", "_output")):
        converted = _without(converted, "call_id")
    misplaced = {"tool_use", "tool_result"}
    if message_format != "chat":
        misplaced = MISPLACED.get(as_text(item.get("role")), set())
    blocks = as_list(converted.get("content"))
    if misplaced.isdisjoint(map(kind_of, blocks)):
        return converted
    return {**converted, "content": [each for each in blocks if kind_of(each) not in misplaced]}


def _converted(fields: Fields, record: Item) -> Item:
    values = {key: fields[key](record[key]) for key in fields.keys() & record.keys()}
    if all(value is record[key] for key, value in values.items()):
        return record
    return {**record, **values}


def _content(value: Any) -> Any:
    """Return a string, a list of blocks, or None, which messages with tool calls have."""
    if isinstance(value, list):
        blocks = [block for each in value if kind_of(block := _block(each))]
        is_same = len(blocks) == len(value) and all(map(operator.is_, blocks, value))
        return value if is_same else blocks
    return value if value is None else as_string_or_json(value)


def _block(value: Any) -> Item:
    """Return a block; text blocks without a type get one."""
    if isinstance(value, str):
        return {"type": "text", "text": value}
    block = _converted(BLOCK_FIELDS, as_record(value))
    if not kind_of(block).endswith("tool_result"):
        block = _without(block, "tool_use_id")
    return block if kind_of(block) or not block.get("text") else {**block, "type": "text"}


def _without(record: Item, field: str) -> Item:
    if field not in record:
        return record
    return {key: value for key, value in record.items() if key != field}


def _records(fields: Fields) -> Callable[[Any], list[Item]]:
    def _list(value: Any) -> list[Item]:
        items = value if isinstance(value, list) else []
        records = [_converted(fields, item) for item in items if isinstance(item, dict)]
        return value if records == value else records

    return _list


FUNCTION: Fields = {"name": as_text, "arguments": as_string_or_json}
CALL: Fields = {"id": as_text, "function": lambda value: _converted(FUNCTION, as_record(value))}
BLOCK_FIELDS: Fields = {
    "type": as_text,
    "text": as_text,
    "id": as_text,
    "name": as_text,
    "input": as_record,
    "tool_use_id": as_text,
    "content": _content,
    "source": lambda value: value if isinstance(value, dict | str) else {},
    "image_url": lambda value: value if isinstance(value, dict | str) else {},
}
ITEM_FIELDS: Fields = {
    "type": as_text,
    "content": _content,
    "tool_calls": _records(CALL),
    "tool_call_id": as_text,
    "call_id": as_text,
    "name": as_text,
    "arguments": as_string_or_json,
    "input": as_string_or_json,
    "output": _content,
}


REASONING_FIELDS = {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}
REASONING_BLOCKS = {"reasoning", "reasoning_text", "thinking", "redacted_thinking"}
TEXT_BLOCKS = {"text", "output_text"}
CALL_FIELDS = ("tool_calls", "function_call")


def without_reasoning(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Return the messages without reasoning; an assistant message with no text and no call goes."""
    kept = (_cleaned(each) for each in messages if kind_of(each.item) not in REASONING_BLOCKS)
    return [each for each in kept if not _is_empty_answer(each.item)]


def _cleaned(message: RawMessage) -> RawMessage:
    item = message.item
    if item.get("role") != "assistant":
        return message
    if not REASONING_FIELDS.isdisjoint(item):
        item = {key: value for key, value in item.items() if key not in REASONING_FIELDS}
    content = item.get("content")
    if isinstance(content, list):
        kept = [block for block in content if kind_of(as_record(block)) not in REASONING_BLOCKS]
        if len(kept) < len(content):
            item = {**item, "content": kept or (None if item.get("tool_calls") else [])}
    return message._replace(item=item)


def _is_empty_answer(item: Item) -> bool:
    if item.get("role") != "assistant" or any(item.get(key) for key in CALL_FIELDS):
        return False
    content = item.get("content")
    if not isinstance(content, list):
        return not as_text(content).strip()
    blocks = map(as_record, content)
    return all(kind_of(each) in TEXT_BLOCKS and not each.text("text").strip() for each in blocks)
