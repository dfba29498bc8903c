"""Leaves out what a provider does not take back: reasoning, and answers without text and calls.

Nothing else of a message is touched.
"""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import RawMessage
from hippocampus.replay.readers.values import as_record, as_text, kind_of

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
    if isinstance(content, list):
        return not any(_has_content(as_record(block)) for block in content)
    return not as_text(content).strip()


def _has_content(block: Item) -> bool:
    return kind_of(block) not in TEXT_BLOCKS or bool(as_text(block.get("text")).strip())
