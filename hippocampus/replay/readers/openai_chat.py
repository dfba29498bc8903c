"""OpenAI Chat Completions messages: a JSON list of them, or one a line.

The messages pass through as they are, but for the outdated `function_call`, which becomes a tool
call.
"""

from __future__ import annotations

from hippocampus.replay.readers.documents import Document
from hippocampus.replay.readers.draft import Draft, Message, Step, chat_call
from hippocampus.replay.readers.fields import as_record, as_records, as_text, role_of

NAME = "openai-chat"
ROLES = {"system", "developer", "user", "assistant", "tool", "function"}


def recognises(document: Document) -> bool:
    """Say whether most records are messages; plain ones are the same in every format."""
    return sum(map(_is_message, document.records)) * 2 > len(document.records)


def read(document: Document) -> list[Draft]:
    """Return the one conversation."""
    steps: list[Step] = []
    last_call = ""
    for record in document.records:
        if not _is_message(record):
            continue
        message, last_call = _with_ids(record, len(steps), last_call)
        steps.append(Step(message))
    return [Draft("chat", steps)]


def _is_message(record: Message) -> bool:
    said = ("content", "tool_calls", "function_call")
    return role_of(record) in ROLES and any(key in record for key in said)


def _with_ids(record: Message, place: int, last_call: str) -> tuple[Message, str]:
    """Return the message with an id on each call and result, and the id of the newest call."""
    made_up = f"call_{place}"
    if legacy := as_record(record.get("function_call")):
        call = chat_call(made_up, as_text(legacy.get("name")), legacy.get("arguments", ""))
        rest = {key: value for key, value in record.items() if key != "function_call"}
        return {**rest, "tool_calls": [call]}, made_up
    if record["role"] == "function":
        return {**record, "role": "tool", "tool_call_id": last_call}, last_call
    calls = as_records(record.get("tool_calls"))
    if calls and not all(as_text(call.get("id")) for call in calls):
        calls = [{"id": f"{made_up}_{number}", **call} for number, call in enumerate(calls)]
        return {**record, "tool_calls": calls}, calls[-1]["id"]
    return record, as_text(calls[-1]["id"]) if calls else last_call
