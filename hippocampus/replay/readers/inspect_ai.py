"""Evaluation logs of inspect_ai, `.json` or `.eval`: samples without scores, read as chat messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, as_text

NAME = "inspect-ai"
ATTACHMENT = "attachment://"
TOKENS = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write", "output_tokens")


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a log with samples, or a sample."""
    return bool(_samples(record))


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield a conversation per sample and epoch."""
    for record in records:
        usual_model = record.record("eval").text("model")
        for sample in _samples(record):
            usage: dict[str, Usage] = {}  # by the id of the message that answered the call
            for event in sample.records("events"):
                output = event.record("output")
                for choice in output.records("choices")[:1]:
                    counts = output.record("usage").counts(*TOKENS)
                    usage[choice.record("message").text("id")] = Usage(*counts)
            attachments = sample.record("attachments")
            messages = [
                _message(message, attachments)._replace(usage=usage.get(message.text("id")))
                for message in sample.records("messages")
            ]
            model = (sample.record("output").text("model") or usual_model).rpartition("/")[2]
            name = f"{sample.get('id')}-{sample.get('epoch')}"
            yield RawConversation("chat", messages, name, model=model)


def _samples(record: JsonRecord) -> list[JsonRecord]:
    is_log = "eval" in record or "samples" in record
    found = record.records("samples") if is_log else [record]
    return [sample for sample in found if "messages" in sample and "epoch" in sample]


def _message(record: JsonRecord, attachments: JsonRecord) -> RawMessage:
    content = _content(record.get("content"), attachments)
    role = record.text("role")
    if role == "assistant":
        calls = [
            chat_call(
                call.text("id"), call.text("function"), _content(call.get("arguments"), attachments)
            )
            for call in record.records("tool_calls")
        ]
        return RawMessage.answer(content, calls)
    if role == "tool":
        error = record.record("error").text("message")
        return RawMessage.result(record.text("tool_call_id"), content or error)
    return RawMessage.user(content, role)


def _content(value: Any, attachments: JsonRecord) -> Any:
    """Return a value with attachments inserted, and images converted to chat blocks."""
    if isinstance(value, str) and value.startswith(ATTACHMENT):
        return attachments.get(value.removeprefix(ATTACHMENT), value)
    if isinstance(value, list):
        return [_content(item, attachments) for item in value]
    if isinstance(value, dict):
        if value.get("type") == "image":
            return {"type": "image_url", "image_url": {"url": as_text(value.get("image"))}}
        return {key: _content(item, attachments) for key, item in value.items()}
    return value
