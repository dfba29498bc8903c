"""LangGraph threads and other dumps of LangChain messages, read as chat messages."""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import JsonRecord, as_list, as_text, text_of

NAME = "langgraph"
ROLES = {"human": "user", "system": "system", "developer": "system", "chat": "user"}
MODEL_FIELDS = ("model_name", "model", "model_id")


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a thread, or a LangChain message."""
    return bool(_thread(record)) or _kind(record) in {"human", "ai"}


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield a conversation per thread, or a single conversation of all records."""
    threads = [thread for record in records if (thread := _thread(record))]
    for thread in threads or [records]:
        messages: list[RawMessage] = []
        for record in thread:
            kind = _kind(record)
            message = record.record("kwargs") or record.record("data") or record
            content = message.get("content")
            if kind == "ai":
                calls = chat_calls(message.records("tool_calls"), "args")
                metadata = message.record("response_metadata")
                model = next(filter(None, map(metadata.text, MODEL_FIELDS)), "")
                counts = message.record("usage_metadata")
                sent, output = counts.counts("input_tokens", "output_tokens")
                details = counts.record("input_token_details")
                cached, written = details.counts("cache_read", "cache_creation")
                usage = Usage.of_total(sent, cached, written, output)
                messages.append(RawMessage.answer(text_of(content), calls, usage, model))
            elif kind == "tool":
                messages.append(RawMessage.result(message.text("tool_call_id"), content))
            elif kind in ROLES:
                messages.append(RawMessage.user(content, ROLES[kind]))
        yield RawConversation("chat", messages)


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
