"""Leaves out recorded items that their provider would reject, and reasoning, which is not sent again."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from hippocampus.errors import MALFORMED
from hippocampus.formats import anthropic, openai_chat, openai_responses
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Adapter
from hippocampus.replay.readers.raw import MessageFormat, RawMessage
from hippocampus.replay.readers.values import as_record, as_text, kind_of

ADAPTERS: dict[MessageFormat, Adapter] = {
    "chat": openai_chat,
    "responses": openai_responses,
    "anthropic": anthropic,
}
REASONING_FIELDS = {"reasoning", "reasoning_content", "reasoning_details", "thinking_blocks"}
REASONING_BLOCKS = {"reasoning", "reasoning_text", "thinking", "redacted_thinking"}
TEXT_BLOCKS = {"text", "output_text"}
CALL_FIELDS = ("tool_calls", "function_call")


def is_valid(message_format: MessageFormat, item: Item) -> bool:
    """Return whether an item can be read in its format."""
    adapter = ADAPTERS[message_format]
    with contextlib.suppress(*MALFORMED):
        return adapter.accepts(item) and bool(adapter.read([item]))
    return False


def without_reasoning(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Return the messages without reasoning, and without assistant messages of no text and no call."""
    kept = (message for message in messages if kind_of(message.item) not in REASONING_BLOCKS)
    return [message for message in map(_clean, kept) if not _is_empty_answer(message.item)]


def _clean(message: RawMessage) -> RawMessage:
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
    return all(kind_of(block) in TEXT_BLOCKS and not block.text("text").strip() for block in blocks)
