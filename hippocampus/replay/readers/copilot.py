"""Copilot CLI sessions (`events.jsonl`), read as chat messages.

Counts of tokens, hooks, progress and what a sub-agent did are not read.
"""

from __future__ import annotations

from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, kind_of

NAME = "copilot"


def is_own(record: JsonRecord) -> bool:
    """Return whether a line begins a session of this program."""
    return record.record("data").text("producer") == "copilot-agent"


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the session as one conversation."""
    messages: list[RawMessage] = []
    system_prompt = ""
    for record in records:
        kind, data = kind_of(record), record.record("data")
        if data.text("parentToolCallId"):
            continue
        if kind == "system.message":
            system_prompt = data.text("content")
        elif kind == "user.message":
            messages.append(
                RawMessage.user(data.text("transformedContent") or data.text("content"))
            )
        elif kind == "assistant.message":
            calls = [
                chat_call(each.text("toolCallId"), each.text("name"), each.get("arguments"))
                for each in data.records("toolRequests")
            ]
            answer = RawMessage.answer(data.text("content"), calls, None, data.text("model"))
            messages.append(answer._replace(at=record.text("timestamp")))
        elif kind == "tool.execution_complete":
            found = data.record("result").text("content") or data.record("error").text("message")
            messages.append(RawMessage.result(data.text("toolCallId"), found))
    return [RawConversation("chat", messages, "session", system_prompt)]
