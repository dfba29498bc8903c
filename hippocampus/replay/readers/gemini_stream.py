"""The stream of events that Gemini CLI prints as JSON lines, read as chat messages."""

from __future__ import annotations

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, as_string_or_json, kind_of

NAME = "gemini-stream"


def is_own(record: JsonRecord) -> bool:
    """Return whether a line is a tool event or the first event, with this program's fields."""
    field = "session_id" if kind_of(record) == "init" else "tool_id"
    return kind_of(record) in {"tool_use", "tool_result", "init"} and field in record


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the one conversation; text and calls up to the next result or prompt are one answer."""
    model = next((record.text("model") for record in records if kind_of(record) == "init"), "")
    messages: list[RawMessage] = []
    text = ""
    calls: list[Item] = []
    for record in records:
        kind = record.get("type")
        is_prompt = kind == "message" and record.get("role") == "user"
        if (is_prompt or kind == "tool_result") and (text or calls):
            messages.append(RawMessage.answer(text, calls))
            text, calls = "", []
        if is_prompt:
            messages.append(RawMessage.user(record.text("content")))
        elif kind == "message":
            text += record.text("content")
        elif kind == "tool_use":
            arguments = record.get("parameters")
            calls.append(chat_call(record.text("tool_id"), record.text("tool_name"), arguments))
        elif kind == "tool_result":
            output = record.get("output", record.record("error").text("message"))
            messages.append(RawMessage.result(record.text("tool_id"), as_string_or_json(output)))
    if text or calls:
        messages.append(RawMessage.answer(text, calls))
    return [RawConversation("chat", messages, model=model)]
