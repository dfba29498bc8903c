"""Qwen Code sessions: JSON lines whose messages are Gemini's, read as chat messages.

Telemetry, snapshots, titles and thoughts are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    chat_call,
    function_result,
    has_answer,
    without_usage,
)
from hippocampus.replay.readers.values import JsonRecord, role_of

NAME = "qwen-code"
COUNTS = ("promptTokenCount", "cachedContentTokenCount")


def is_own(record: JsonRecord) -> bool:
    """Return whether a line of a session has a message of parts."""
    return "sessionId" in record and "parts" in record.record("message")


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return each context as a conversation: a rewind and a compression start one."""
    return [RawConversation("chat", messages) for messages in _contexts(records)]


def _contexts(records: list[JsonRecord]) -> Iterator[list[RawMessage]]:
    """Yield each context; a line whose parent is not the last one goes on from there."""
    messages: list[RawMessage] = []
    end_of: dict[str, int] = {}
    for record in records:
        end = end_of.get(record.text("parentUuid"), len(messages))
        compressed = record.record("systemPayload").records("compressedHistory")
        if compressed or has_answer(messages[end:]):
            yield messages
        if compressed:
            messages = [each for content in compressed for each in _messages(content, record)]
        else:
            kept = messages if end == len(messages) else without_usage(messages[:end])
            messages = [*kept, *_messages(record.record("message"), record)]
        end_of[record.text("uuid")] = len(messages)
    yield messages


def _messages(content: JsonRecord, record: JsonRecord) -> Iterator[RawMessage]:
    """Yield the chat messages of one of Gemini's."""
    parts = [part for part in content.records("parts") if not part.get("thought")]
    text = "\n".join(filter(None, (part.text("text") for part in parts)))
    if role_of(content) == "model":
        named = (part.record("functionCall") for part in parts if "functionCall" in part)
        calls = [chat_call(each.text("id"), each.text("name"), each.get("args")) for each in named]
        counts = record.record("usageMetadata")
        total, cached = counts.counts(*COUNTS)
        output = max(0, counts.count("totalTokenCount") - total)
        usage = Usage.of_total(total, cached, 0, output) if counts else None
        yield RawMessage.answer(text, calls, usage, record.text("model"))
        return
    for part in parts:
        if response := part.record("functionResponse"):
            yield RawMessage.result(response.text("id"), function_result(part))
    if text:
        yield RawMessage.user(text)
