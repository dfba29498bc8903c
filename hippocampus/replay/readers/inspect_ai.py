"""Evaluation logs of inspect_ai as JSON, each sample a conversation of chat messages.

Packed `.eval` files and scores are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import Record, as_count, as_record, as_records, as_text
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
)

NAME = "inspect-ai"
ATTACHMENT = "attachment://"


def recognises(document: JsonDocument) -> bool:
    """Return whether a record is a log with samples, or such a sample itself."""
    return any(_samples(record) for record in document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return a conversation for each sample and epoch."""
    return [
        _conversation(sample, _model(record, sample))
        for record in document.records
        for sample in _samples(record)
    ]


def _samples(record: Record) -> list[Record]:
    is_log = "eval" in record or "samples" in record
    candidates = as_records(record.get("samples")) if is_log else [record]
    return [each for each in candidates if "messages" in each and "epoch" in each]


def _model(record: Record, sample: Record) -> str:
    output = as_record(sample.get("output"))
    name = as_text(output.get("model")) or as_text(as_record(record.get("eval")).get("model"))
    return name.rpartition("/")[2]


def _conversation(sample: Record, model: str) -> RawConversation:
    usage = dict(_usage(sample))
    attachments = as_record(sample.get("attachments"))
    messages = [
        RawMessage(message, usage.get(as_text(each.get("id"))), model)
        for each in as_records(sample.get("messages"))
        for message in [_message(each, attachments)]
    ]
    return RawConversation("chat", messages, f"{sample.get('id')}-{sample.get('epoch')}")


def _message(record: Record, attachments: Record) -> Item:
    content = _content(record.get("content"), attachments)
    role = record.get("role")
    if role == "assistant":
        calls = [_call(call, attachments) for call in as_records(record.get("tool_calls"))]
        return chat_answer(content, calls)
    if role == "tool":
        error = as_text(as_record(record.get("error")).get("message"))
        return chat_result(as_text(record.get("tool_call_id")), content or error)
    return {"role": "system" if role == "system" else "user", "content": content}


def _call(call: Record, attachments: Record) -> Item:
    arguments = _content(call.get("arguments"), attachments)
    return chat_call(as_text(call.get("id")), as_text(call.get("function")), arguments)


def _content(value: Any, attachments: Record) -> Any:
    """Insert the texts that the log stores separately, and convert images to chat blocks."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, list):
        return [_content(item, attachments) for item in value]
    if isinstance(value, dict):
        if value.get("type") == "image":
            return {"type": "image_url", "image_url": {"url": as_text(value.get("image"))}}
        return {key: _content(item, attachments) for key, item in value.items()}
    return value


def _usage(sample: Record) -> Iterator[tuple[str, Usage]]:
    """Yield the reported usage with the id of the message that answered the call."""
    keys = (
        "input_tokens",
        "input_tokens_cache_read",
        "input_tokens_cache_write",
        "output_tokens",
    )
    for event in as_records(sample.get("events")):
        output = as_record(event.get("output"))
        counts = as_record(output.get("usage"))
        for choice in as_records(output.get("choices"))[:1]:
            message_id = as_text(as_record(choice.get("message")).get("id"))
            yield message_id, Usage(*(as_count(counts.get(key)) for key in keys))
