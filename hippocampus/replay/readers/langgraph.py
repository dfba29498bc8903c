"""LangGraph threads and other dumps of LangChain messages, read as chat messages.

Other values of the graph's state are not read.
"""

from __future__ import annotations

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_count,
    as_list,
    as_record,
    as_records,
    as_text,
    text_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
)

NAME = "langgraph"
ROLES = {"human": "user", "system": "system", "developer": "system", "chat": "user"}
MODEL_FIELDS = ("model_name", "model", "model_id")


def recognises(document: JsonDocument) -> bool:
    """Return whether the records are threads, or LangChain messages themselves."""
    if any(_thread(record) for record in document.records):
        return True
    return any(_kind(record) in {"human", "ai"} for record in document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return a conversation for each thread, or the single one that the records form."""
    threads = [_thread(record) for record in document.records]
    lists = [thread for thread in threads if thread] or [document.records]
    return [
        RawConversation("chat", [step for each in thread for step in _step(each)])
        for thread in lists
    ]


def _thread(record: Record) -> list[Record]:
    for owner in (as_record(record.get("values")), record):
        messages = as_records(owner.get("messages"))
        if any(_kind(message) in {"human", "ai"} for message in messages):
            return messages
    return []


def _kind(message: Record) -> str:
    if message.get("type") == "constructor":
        name = as_text((as_list(message.get("id")) or [""])[-1])
        return name.removesuffix("Chunk").removesuffix("Message").lower()
    return as_text(message.get("type")).removesuffix("MessageChunk").lower()


def _step(record: Record) -> list[RawMessage]:
    kind = _kind(record)
    message = as_record(record.get("kwargs")) or as_record(record.get("data")) or record
    if kind == "ai":
        calls = [_call(call) for call in as_records(message.get("tool_calls"))]
        answer = chat_answer(text_of(message.get("content")), calls)
        return [
            RawMessage(answer, _usage(as_record(message.get("usage_metadata"))), _model(message))
        ]
    if kind == "tool":
        call_id = as_text(message.get("tool_call_id"))
        return [RawMessage(chat_result(call_id, message.get("content")))]
    if kind in ROLES:
        return [RawMessage({"role": ROLES[kind], "content": message.get("content")})]
    return []


def _call(call: Record) -> Item:
    return chat_call(as_text(call.get("id")), as_text(call.get("name")), call.get("args") or {})


def _model(message: Record) -> str:
    metadata = as_record(message.get("response_metadata"))
    return next((name for key in MODEL_FIELDS if (name := as_text(metadata.get(key)))), "")


def _usage(usage: Record) -> Usage:
    """Read token counts whose input includes the cached tokens."""
    details = as_record(usage.get("input_token_details"))
    read, written = as_count(details.get("cache_read")), as_count(details.get("cache_creation"))
    fresh = max(0, as_count(usage.get("input_tokens")) - read - written)
    return Usage(fresh, read, written, as_count(usage.get("output_tokens")))
