"""Traces as OTLP JSON: the model calls of agents, joined into conversations.

A span has the whole list that was sent, and the answer, in one of three conventions: OpenInference,
OpenTelemetry's GenAI messages, and its older numbered attributes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import (
    JsonRecord,
    as_list,
    as_record,
    as_records,
    as_string_or_json,
    kind_of,
    role_of,
    text_of,
)

NAME = "otel"
ANSWER_ROLES = {"assistant", "model", "ai"}
RESULT_ROLES = {"tool", "function"}
SYSTEM_ROLES = {"system", "developer"}
INPUTS = ("llm.input_messages", "gen_ai.input.messages", "gen_ai.prompt")
OUTPUTS = ("llm.output_messages", "gen_ai.output.messages", "gen_ai.completion")
MODELS = ("llm.model_name", "gen_ai.response.model", "gen_ai.request.model")
TOKENS = ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
READ = (
    "llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
)
WRITTEN = (
    "llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
)
OUTPUT = (
    "llm.token_count.completion",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
)
TIME_DIGITS = 19
"""Nanoseconds since 1970 have 19 digits for the next 240 years."""
AGENT_SPANS = {"invoke_agent", "create_agent", "execute_tool", "embeddings"}


@dataclass(frozen=True, slots=True)
class _Call:
    sent: list[Item]
    answer: Item
    usage: Usage
    model: str
    tools: Sequence[Item]


def is_own(record: JsonRecord) -> bool:
    """Return whether a record has spans."""
    return any(True for _ in _spans([record]))


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield the chains of calls as conversations: the list of the last call, with its answer."""
    calls = [call for span in sorted(_spans(records), key=_start) if (call := _call(span))]
    for chain in _chains(calls):
        # An earlier call of the chain has the usage of the answer that its list ends before.
        answering = {sum(item["role"] == "assistant" for item in call.sent): call for call in chain}
        messages: list[RawMessage] = []
        number = 0
        for item in [*chain[-1].sent, chain[-1].answer]:
            is_answer = item["role"] == "assistant"
            call = answering.get(number) if is_answer else None
            number += is_answer
            messages.append(RawMessage(item, call.usage, call.model) if call else RawMessage(item))
        yield RawConversation("chat", messages, tools=chain[-1].tools)


def _spans(records: Sequence[JsonRecord]) -> Iterator[JsonRecord]:
    for record in records:
        for resource in as_records(record.get("resourceSpans", record.get("resource_spans"))):
            for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
                for scope in resource.records(key):
                    yield from scope.records("spans")


def _start(span: JsonRecord) -> str:
    """Return the time of a span as text that sorts by it; one without a time comes first."""
    return str(span.get("startTimeUnixNano", span.get("start_time_unix_nano"))).zfill(TIME_DIGITS)


def _call(span: JsonRecord) -> _Call | None:
    """Return the model call of a span; spans of agents, which repeat their calls, are left out."""
    attributes = _attributes(span)
    for event in span.records("events"):
        attributes = JsonRecord(_attributes(event) | attributes)
    kind = attributes.text("openinference.span.kind") or "LLM"
    if kind != "LLM" or attributes.text("gen_ai.operation.name") in AGENT_SPANS:
        return None
    system = as_records(_parse(attributes.get("gen_ai.system_instructions")))
    instructions = text_of([_text(part) for part in system])
    sent = [{"role": "system", "content": instructions}] if instructions else []
    sent += _messages(attributes, INPUTS)
    answers = _messages(attributes, OUTPUTS)
    if not sent or not answers:
        return None
    answer = {**answers[0], "role": "assistant"}  # the first of several choices
    model = next((name for key in MODELS if (name := attributes.text(key))), "")
    counts = (
        next((attributes.count(key) for key in keys if key in attributes), 0)
        for keys in (TOKENS, READ, WRITTEN, OUTPUT)
    )
    tools = as_records(_parse(attributes.get("gen_ai.tool.definitions")))
    if not tools:
        numbered = (tool.record("tool") for tool in _numbered(attributes, "llm.tools"))
        schemas = (as_record(_parse(tool.get("json_schema"))) for tool in numbered)
        tools = list(filter(None, schemas))
    return _Call(sent, answer, Usage.of_total(*counts), model, tools)


def _attributes(owner: JsonRecord) -> JsonRecord:
    attributes = owner.get("attributes")
    return JsonRecord(attributes if isinstance(attributes, dict) else _pairs(attributes))


def _pairs(listed: object) -> dict[str, Any]:
    return {pair.text("key"): _value(pair.get("value")) for pair in as_records(listed)}


def _value(wrapped: Any) -> Any:
    kind, value = next(iter(as_record(wrapped).items()), ("", None))
    if kind.startswith("array"):
        return [_value(item) for item in as_list(as_record(value).get("values"))]
    return _pairs(as_record(value).get("values")) if kind.startswith("kvlist") else value


def _chains(calls: Sequence[_Call]) -> list[list[_Call]]:
    """Append a call to the chain that its list extends; a call that was traced twice counts once."""
    chains: list[list[_Call]] = []
    ending: dict[int, list[_Call]] = {}
    for call in calls:
        # The hashes of the list's prefixes, the shortest first.
        hashes = itertools.accumulate(
            call.sent, lambda so_far, m: hash((so_far, repr(m))), initial=0
        )
        prefixes = [*hashes][1:]
        last = ending.get(prefixes[-1])
        if last and last[-1].answer == call.answer:
            continue
        extended = next((prefix for prefix in reversed(prefixes[:-1]) if prefix in ending), None)
        if extended is None:
            chains.append([])
        chain = chains[-1] if extended is None else ending.pop(extended)
        chain.append(call)
        ending[prefixes[-1]] = chain
    return chains


def _messages(attributes: JsonRecord, names: tuple[str, ...]) -> list[Item]:
    for name in names:
        found = as_records(_parse(attributes.get(name))) or _numbered(attributes, name)
        if found:
            return [item for message in found for item in _chat(message)]
    return []


def _parse(value: Any) -> Any:
    return json_text.read(value, None) if isinstance(value, str) else value


def _numbered(attributes: JsonRecord, name: str) -> list[JsonRecord]:
    """Return the list in attributes such as `name.0.message.role`."""
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


def _chat(message: JsonRecord) -> Iterator[Item]:
    """Yield a message as chat messages: its tool results become messages of their own."""
    message = message.record("message") or message  # OpenInference wraps messages and contents
    role = role_of(message)
    contents = message.records("contents")
    parts = [content.record("message_content") or content for content in contents]
    parts = parts or message.records("parts") or as_records(_parse(message.get("content")))
    results = [part for part in parts if kind_of(part) == "tool_call_response"]
    for part in results:
        response = part.get("response", part.get("result", part.get("content", "")))
        yield RawMessage.result(part.text("id"), as_string_or_json(response)).item
    text = text_of([_text(part) for part in parts]) or text_of(message.get("content"))
    recorded = message.records("tool_calls")
    recorded += [part for part in parts if kind_of(part) == "tool_call"]
    calls = chat_calls(call.record("tool_call") or call for call in recorded)
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
