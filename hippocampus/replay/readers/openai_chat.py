"""OpenAI Chat Completions messages: a JSON list of them, or one a line.

The messages pass through as they are, but for the outdated `function_call`, which becomes a tool
call.
"""

from __future__ import annotations

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import as_record, as_text, role_of
from hippocampus.replay.readers.raw_conversation import RawConversation, RawMessage, chat_call

NAME = "openai-chat"
ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def recognises(document: JsonDocument) -> bool:
    """Return whether most records are messages; plain ones are the same in every format."""
    return sum(map(_is_message, document.records)) * 2 > len(document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return the one conversation."""
    messages = [RawMessage(_current(each)) for each in document.records if _is_message(each)]
    return [RawConversation("chat", messages)]


def _is_message(record: Item) -> bool:
    payload = ("content", "tool_calls", "function_call")
    return role_of(record) in ROLES and any(key in record for key in payload)


def _current(record: Item) -> Item:
    """Return the message with tool calls in place of functions, which have no ids."""
    if function := as_record(record.get("function_call")):
        call = chat_call("", as_text(function.get("name")), function.get("arguments", ""))
        rest = {key: value for key, value in record.items() if key != "function_call"}
        return {**rest, "tool_calls": [call]}
    return {**record, "role": "tool"} if record["role"] == "function" else record
