"""The stream of events that Gemini CLI prints as JSON lines, read as chat messages.

Its saved chats are another format, in another module.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_record,
    as_string_or_json,
    as_text,
    kind_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
)

NAME = "gemini-stream"


def recognises(document: JsonDocument) -> bool:
    """Return whether a tool event or the first line has this program's fields."""
    return any(
        (kind_of(record) in {"tool_use", "tool_result"} and "tool_id" in record)
        or (record.get("type") == "init" and "session_id" in record)
        for record in document.records
    )


def read(document: JsonDocument) -> list[RawConversation]:
    """Return the one conversation."""
    models = [as_text(each.get("model")) for each in document.records if each.get("type") == "init"]
    model = models[0] if models else ""
    return [
        RawConversation(
            "chat", [RawMessage(each, model=model) for each in _messages(document.records)]
        )
    ]


def _messages(records: list[Record]) -> Iterator[Item]:
    """Yield messages; text and calls up to the next result or prompt are one answer."""
    text = ""
    calls: list[Item] = []
    for record in records:
        kind = record.get("type")
        is_prompt = kind == "message" and record.get("role") == "user"
        if (is_prompt or kind == "tool_result") and (text or calls):
            yield chat_answer(text, calls)
            text, calls = "", []
        if is_prompt:
            yield {"role": "user", "content": as_text(record.get("content"))}
        elif kind == "message":
            text += as_text(record.get("content"))
        elif kind == "tool_use":
            calls.append(_call(record))
        elif kind == "tool_result":
            yield chat_result(as_text(record.get("tool_id")), _output(record))
    if text or calls:
        yield chat_answer(text, calls)


def _call(record: Record) -> Item:
    name = as_text(record.get("tool_name"))
    return chat_call(as_text(record.get("tool_id")), name, record.get("parameters") or {})


def _output(record: Record) -> str:
    if "output" in record:
        return as_string_or_json(record["output"])
    return as_text(as_record(record.get("error")).get("message"))
