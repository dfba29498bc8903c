"""The messages of one model call in a trace, from the attributes of its span, as chat messages.

Three conventions are read: OpenInference, OpenTelemetry's GenAI messages, and the numbered
attributes before those. `otel` joins the calls.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import RawMessage, chat_call
from hippocampus.replay.readers.values import (
    JsonRecord,
    as_record,
    as_records,
    as_string_or_json,
    kind_of,
    role_of,
    text_of,
)

ANSWER_ROLES = {"assistant", "model", "ai"}
RESULT_ROLES = {"tool", "function"}
SYSTEM_ROLES = {"system", "developer"}
INPUTS = ("llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt")
OUTPUTS = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion")


def input_messages(attributes: JsonRecord) -> list[Item]:
    """Return what was sent to the model."""
    system = _parsed(attributes.get("gen_ai.system_instructions"))
    instructions = text_of([_text(part) for part in as_records(system)])
    opening = [{"role": "system", "content": instructions}] if instructions else []
    return opening + _messages(attributes, INPUTS)


def output_message(attributes: JsonRecord) -> Item | None:
    """Return what the model answered; of several choices the first."""
    return next((_answer(message) for message in _messages(attributes, OUTPUTS)), None)


def tool_definitions(attributes: JsonRecord) -> Sequence[Item]:
    """Return the definitions of the tools that the model could call."""
    if defined := as_records(_parsed(attributes.get("gen_ai.tool.definitions"))):
        return defined
    numbered = (each.record("tool") for each in _numbered(attributes, "llm.tools"))
    return [schema for each in numbered if (schema := as_record(_parsed(each.get("json_schema"))))]


def _answer(message: Item) -> Item:
    calls = message.get("tool_calls", [])
    return {**message, "role": "assistant", **({"tool_calls": calls} if calls else {})}


def _messages(attributes: JsonRecord, names: tuple[str, ...]) -> list[Item]:
    for name in names:
        found = as_records(_parsed(attributes.get(name))) or _numbered(attributes, name)
        if found:
            return [each for message in found for each in _chat(_unwrapped(message))]
    return []


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return None


def _numbered(attributes: JsonRecord, name: str) -> list[JsonRecord]:
    """Return the list that is spread over attributes such as `name.0.message.role`."""
    tree: Item = {}
    for key, value in attributes.items():
        if not key.startswith(f"{name}."):
            continue
        *path, last = key[len(name) + 1 :].split(".")
        node = tree
        for step in path:
            node = node.setdefault(step, {})
            if not isinstance(node, dict):
                break
        else:
            node[last] = value
    return as_records(_listed(tree))


def _listed(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    if node and all(key.isdecimal() for key in node):
        return [_listed(node[key]) for key in sorted(node, key=lambda key: (len(key), key))]
    return {key: _listed(value) for key, value in node.items()}


def _unwrapped(message: JsonRecord) -> JsonRecord:
    """Remove the envelopes `message` and `message_content` of OpenInference."""
    inner = message.record("message") or message
    contents = inner.records("contents")
    parts = [each.record("message_content") or each for each in contents]
    return JsonRecord(inner, parts=parts) if parts else inner


def _chat(message: JsonRecord) -> Iterator[Item]:
    """Yield a message as chat messages: each tool result in it becomes a message."""
    role = role_of(message)
    parts = message.records("parts") or as_records(_parsed(message.get("content")))
    results = [each for each in parts if kind_of(each) == "tool_call_response"]
    for part in results:
        response = part.get("response", part.get("result", part.get("content", "")))
        yield RawMessage.result(part.text("id"), as_string_or_json(response)).item
    text = text_of([_text(part) for part in parts]) or text_of(message.get("content"))
    recorded = message.records("tool_calls")
    calls = [_call(each) for each in recorded + [p for p in parts if kind_of(p) == "tool_call"]]
    if role in RESULT_ROLES and not results:
        yield RawMessage.result(message.text("tool_call_id"), text).item
    elif role in ANSWER_ROLES or calls:
        yield RawMessage.answer(text, calls).item
    elif text:
        yield {"role": "system" if role in SYSTEM_ROLES else "user", "content": text}


def _text(part: JsonRecord) -> str:
    if kind_of(part) in {"text", ""}:
        return part.text("text") or part.text("content")
    return ""


def _call(recorded: JsonRecord) -> Item:
    call = recorded.record("tool_call") or recorded
    function = call.record("function") or call
    return chat_call(call.text("id"), function.text("name"), function.get("arguments"))
