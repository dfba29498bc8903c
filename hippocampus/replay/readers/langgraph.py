"""LangGraph threads and other dumps of LangChain messages, read as chat messages."""

from __future__ import annotations

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import JsonRecord, as_list, as_text, text_of

NAME = "langgraph"
ROLES = {"human": "user", "system": "system", "developer": "system", "chat": "user"}
MODEL_FIELDS = ("model_name", "model", "model_id")


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a thread, or a LangChain message."""
    return bool(_thread(record)) or _kind(record) in {"human", "ai"}


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return a conversation per thread, or a single conversation of all records."""
    threads = [_thread(record) for record in records]
    lists = [thread for thread in threads if thread] or [records]
    return [
        RawConversation("chat", [message for step in thread for message in _step(step)])
        for thread in lists
    ]


def _thread(record: JsonRecord) -> list[JsonRecord]:
    for owner in (record.record("values"), record):
        messages = owner.records("messages")
        if any(_kind(message) in {"human", "ai"} for message in messages):
            return messages
    return []


def _kind(message: JsonRecord) -> str:
    if message.get("type") == "constructor":
        name = as_text((as_list(message.get("id")) or [""])[-1])
        return name.removesuffix("Chunk").removesuffix("Message").lower()
    return message.text("type").removesuffix("MessageChunk").lower()


def _step(record: JsonRecord) -> list[RawMessage]:
    kind = _kind(record)
    message = record.record("kwargs") or record.record("data") or record
    if kind == "ai":
        calls = chat_calls(message.records("tool_calls"), "args")
        metadata, counts = message.record("response_metadata"), message.record("usage_metadata")
        model = next(filter(None, map(metadata.text, MODEL_FIELDS)), "")
        sent, output = counts.counts("input_tokens", "output_tokens")
        read, written = counts.record("input_token_details").counts("cache_read", "cache_creation")
        usage = Usage.of_total(sent, read, written, output)
        return [RawMessage.answer(text_of(message.get("content")), calls, usage, model)]
    if kind == "tool":
        return [RawMessage.result(message.text("tool_call_id"), message.get("content"))]
    if kind in ROLES:
        return [RawMessage.user(message.get("content"), ROLES[kind])]
    return []
