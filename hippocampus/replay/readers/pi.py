"""Sessions of the pi coding agent: JSON lines, read as Anthropic messages.

A context becomes a conversation; labels, settings and the display of a session are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    has_answer,
    tool_result,
    tool_use,
    without_usage,
)
from hippocampus.replay.readers.values import JsonRecord, as_records, kind_of, text_of

NAME = "pi"
EVICTED = "[Compacted history content evicted to durable cold storage]"
"""The text by which some versions replace large contents after a compaction."""
ADDED_TEXTS = {"custom_message": "content", "branch_summary": "summary"}
"""Types of other lines that the model is sent as user messages, with the field of their text."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a line begins a session, or is a message with this agent's fields."""
    if record.get("type") == "session":
        return "cwd" in record and "timestamp" in record
    message = record.record("message")
    return record.get("type") == "message" and (
        message.get("role") == "toolResult" or "stopReason" in message
    )


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a compaction or a branch starts a context."""
    cut = [
        f"entry {record.text('id')}: the recording program moved content out of the file"
        for record in records
        if EVICTED in str(record.record("message").get("content"))
    ]
    contexts = _contexts(records)
    return [
        RawConversation("anthropic", context, cut=() if at else cut)
        for at, context in enumerate(contexts)
    ]


def _contexts(records: list[JsonRecord]) -> Iterator[list[RawMessage]]:
    messages: list[RawMessage] = []
    end_of: dict[str, int] = {}
    last = ""
    for record in records:
        parent = record.text("parentId")
        if parent != last and end_of.get(parent, len(messages)) < len(messages):
            if has_answer(messages[end_of[parent] :]):
                yield messages
                messages = without_usage(messages)
            messages = messages[: end_of[parent]]
        if record.get("type") == "compaction":
            yield messages
            first_kept = end_of.get(record.text("firstKeptEntryId"), len(messages) + 1) - 1
            summary = RawMessage.user(record.text("summary"))
            messages = [summary, *without_usage(messages[max(first_kept, 0) :])]
            end_of = {}
        elif message := record.record("message"):
            at = record.text("timestamp")
            messages += [raw._replace(at=at) for raw in _raw_messages(message)]
        elif kind_of(record) in ADDED_TEXTS:
            content = record.get(ADDED_TEXTS[kind_of(record)])
            messages += _raw_messages(JsonRecord(role="user", content=content))
        if last := record.text("id"):
            end_of[last] = len(messages)
    yield messages


def _raw_messages(message: JsonRecord) -> list[RawMessage]:
    role = message.get("role")
    content = message.get("content")
    if role == "assistant":
        blocks = [_block(block) for block in as_records(content)]
        counts = message.record("usage").counts("input", "cacheRead", "cacheWrite", "output")
        model = message.text("model")
        return [RawMessage.answer(blocks, (), Usage(*counts), model)]
    if role == "toolResult":
        blocks = [_block(block) for block in message.records("content")]
        shown = blocks or text_of(content)
        result = tool_result(message.text("toolCallId"), shown, is_error=message.get("isError"))
        return [RawMessage.user([result])]
    if role == "bashExecution":
        ran = f"$ {message.text('command')}\n{message.text('output')}"
        return [RawMessage.user(ran)]
    text = content if isinstance(content, str) else [_block(block) for block in as_records(content)]
    return [RawMessage.user(text)] if text else []


def _block(block: JsonRecord) -> Item:
    if block.get("type") == "toolCall":
        return tool_use(block.text("id"), block.text("name"), block.record("arguments"))
    if block.get("type") == "image":
        image = {"media_type": block.get("mimeType"), "data": block.get("data")}
        return {"type": "image", "source": {"type": "base64", **image}}
    if block.get("type") == "thinking":
        return {"type": "thinking"}
    return {"type": "text", "text": block.text("text")}
