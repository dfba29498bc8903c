"""Sessions of the pi coding agent: JSON lines, read as Anthropic messages.

A conversation here is one context; labels, settings and the display of a session are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_count,
    as_record,
    as_records,
    as_text,
    kind_of,
    text_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    has_answer,
    without_usage,
)

NAME = "pi"
EVICTED = "[Compacted history content evicted to durable cold storage]"
"""What some versions write in place of large contents after a compaction."""
ADDED_TEXTS = {"custom_message": "content", "branch_summary": "summary"}
"""Lines besides messages that the model gets as user messages, and the field with their text."""


def recognises(document: JsonDocument) -> bool:
    """Return whether there is a session line, or a message with this agent's own fields."""
    return any(map(_is_typical, document.records))


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context as a conversation: a compaction and a branch start one."""
    cut = [
        f"entry {as_text(record.get('id'))}: the recording program moved content out of the file"
        for record in document.records
        if EVICTED in str(as_record(record.get("message")).get("content"))
    ]
    contexts = _contexts(document.records)
    return [
        RawConversation("anthropic", each, cut=() if at else cut)
        for at, each in enumerate(contexts)
    ]


def _is_typical(record: Record) -> bool:
    if record.get("type") == "session":
        return "cwd" in record and "timestamp" in record
    message = as_record(record.get("message"))
    return record.get("type") == "message" and (
        message.get("role") == "toolResult" or "stopReason" in message
    )


def _contexts(records: list[Record]) -> Iterator[list[RawMessage]]:
    messages: list[RawMessage] = []
    end_of: dict[str, int] = {}
    last = ""
    for record in records:
        parent = as_text(record.get("parentId"))
        if parent != last and end_of.get(parent, len(messages)) < len(messages):
            if has_answer(messages[end_of[parent] :]):
                yield messages
            messages = without_usage(messages[: end_of[parent]])
        if record.get("type") == "compaction":
            yield messages
            first_kept = end_of.get(as_text(record.get("firstKeptEntryId")), len(messages) + 1) - 1
            summary = {"role": "user", "content": as_text(record.get("summary"))}
            messages = [RawMessage(summary), *without_usage(messages[max(first_kept, 0) :])]
            end_of = {}
        elif message := as_record(record.get("message")):
            at = as_text(record.get("timestamp"))
            messages += [each._replace(at=at) for each in _raw_messages(message)]
        elif kind_of(record) in ADDED_TEXTS:
            content = record.get(ADDED_TEXTS[kind_of(record)])
            messages += _raw_messages({"role": "user", "content": content})
        if last := as_text(record.get("id")):
            end_of[last] = len(messages)
    yield messages


def _raw_messages(message: Item) -> list[RawMessage]:
    role = message.get("role")
    content = message.get("content")
    if role == "assistant":
        blocks = [_block(block) for block in as_records(content)]
        usage = _usage(as_record(message.get("usage")))
        model = as_text(message.get("model"))
        return [RawMessage({"role": "assistant", "content": blocks}, usage, model)]
    if role == "toolResult":
        return [RawMessage({"role": "user", "content": [_result(message)]})]
    if role == "bashExecution":
        ran = f"$ {as_text(message.get('command'))}\n{as_text(message.get('output'))}"
        return [RawMessage({"role": "user", "content": ran})]
    text = content if isinstance(content, str) else [_block(each) for each in as_records(content)]
    return [RawMessage({"role": "user", "content": text})] if text else []


def _block(block: Record) -> Item:
    if block.get("type") == "toolCall":
        arguments = as_record(block.get("arguments"))
        call_id, name = as_text(block.get("id")), as_text(block.get("name"))
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    if block.get("type") == "image":
        media_type = block.get("mimeType")
        source = {"type": "base64", "media_type": media_type, "data": block.get("data")}
        return {"type": "image", "source": source}
    if block.get("type") == "thinking":
        return {"type": "thinking"}
    return {"type": "text", "text": as_text(block.get("text"))}


def _result(message: Item) -> Item:
    content = as_records(message.get("content"))
    result = {
        "type": "tool_result",
        "tool_use_id": as_text(message.get("toolCallId")),
        "content": [_block(block) for block in content] or text_of(message.get("content")),
    }
    return {**result, "is_error": True} if message.get("isError") else result


def _usage(usage: Record) -> Usage:
    keys = ("input", "cacheRead", "cacheWrite", "output")
    return Usage(*(as_count(usage.get(key)) for key in keys))
