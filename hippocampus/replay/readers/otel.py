"""Traces as OTLP JSON: the model calls of agents, joined into the conversations they belong to.

A span has the whole list that was sent and the answer; `otel_messages` reads both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.otel_messages import (
    input_messages,
    output_message,
    tool_definitions,
)
from hippocampus.replay.readers.raw import RawConversation, RawMessage
from hippocampus.replay.readers.values import JsonRecord, as_list, as_record, as_records

NAME = "otel"
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
MAX_TIME_DIGITS = 19
"""Nanoseconds since 1970 have 19 digits for the next 240 years."""
AGENT_SPANS = {"invoke_agent", "create_agent", "execute_tool", "embeddings"}


@dataclass(frozen=True, slots=True)
class _Call:
    sent: list[Item]
    answer: Item
    usage: Usage
    model: str
    tools: Sequence[Item]


def recognises(document: JsonDocument) -> bool:
    """Return whether there are spans."""
    return any(True for _ in _spans(document.records))


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each chain of calls as a conversation, the last call's list with its answer."""
    spans = sorted(_spans(document.records), key=_start)
    calls = [call for span in spans if (call := _call(span))]
    return [
        RawConversation("chat", _raw_messages(chain), tools=chain[-1].tools)
        for chain in _chains(calls)
    ]


def _spans(records: Sequence[JsonRecord]) -> Iterator[JsonRecord]:
    for record in records:
        for resource in as_records(record.get("resourceSpans", record.get("resource_spans"))):
            for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans"):
                for scope in resource.records(key):
                    yield from scope.records("spans")


def _start(span: JsonRecord) -> int:
    time = span.get("startTimeUnixNano", span.get("start_time_unix_nano"))
    digits = str(time)
    return int(digits) if digits.isdecimal() and len(digits) <= MAX_TIME_DIGITS else 0


def _call(span: JsonRecord) -> _Call | None:
    """Return the model call of a span; spans of agents repeat their calls and are left out."""
    attributes = _attributes(span)
    for event in span.records("events"):
        attributes = JsonRecord(_attributes(event) | attributes)
    kind = attributes.text("openinference.span.kind") or "LLM"
    if kind != "LLM" or attributes.text("gen_ai.operation.name") in AGENT_SPANS:
        return None
    sent, answer = input_messages(attributes), output_message(attributes)
    if not sent or not answer:
        return None
    model = next((name for key in MODELS if (name := attributes.text(key))), "")
    return _Call(sent, answer, _usage(attributes), model, tool_definitions(attributes))


def _attributes(owner: JsonRecord) -> JsonRecord:
    attributes = owner.get("attributes")
    return JsonRecord(attributes if isinstance(attributes, dict) else _pairs(attributes))


def _pairs(listed: object) -> dict[str, Any]:
    return {each.text("key"): _value(each.get("value")) for each in as_records(listed)}


def _value(wrapped: Any) -> Any:
    kind, value = next(iter(as_record(wrapped).items()), ("", None))
    if kind.startswith("array"):
        return [_value(item) for item in as_list(as_record(value).get("values"))]
    return _pairs(as_record(value).get("values")) if kind.startswith("kvlist") else value


def _usage(attributes: JsonRecord) -> Usage:
    counts = (
        next((attributes.count(key) for key in keys if key in attributes), 0)
        for keys in (TOKENS, READ, WRITTEN, OUTPUT)
    )
    return Usage.of_total(*counts)


def _chains(calls: Sequence[_Call]) -> list[list[_Call]]:
    """Join each call to the one whose list it extends; a call traced twice counts once."""
    chains: list[list[_Call]] = []
    ending: dict[int, list[_Call]] = {}
    for call in calls:
        prefixes = _prefixes(call.sent)
        last = ending.get(prefixes[-1])
        if last and last[-1].answer == call.answer:
            continue
        extended = next((each for each in reversed(prefixes[:-1]) if each in ending), None)
        if extended is None:
            chains.append([])
        chain = chains[-1] if extended is None else ending.pop(extended)
        chain.append(call)
        ending[prefixes[-1]] = chain
    return chains


def _prefixes(messages: list[Item]) -> list[int]:
    """Return a hash for each prefix of the list, the shortest first."""
    hashes = [0]
    for message in messages:
        hashes.append(hash((hashes[-1], repr(message))))
    return hashes[1:]


def _raw_messages(chain: Sequence[_Call]) -> list[RawMessage]:
    """Return the last call's list and answer; each call's usage is at its own answer."""
    reported = {_answers(call.sent): call for call in chain}
    messages: list[RawMessage] = []
    number = 0
    for message in [*chain[-1].sent, chain[-1].answer]:
        is_answer = message["role"] == "assistant"
        call = reported.get(number) if is_answer else None
        number += is_answer
        messages.append(
            RawMessage(message, call.usage, call.model) if call else RawMessage(message)
        )
    return messages


def _answers(messages: Sequence[Item]) -> int:
    return sum(message["role"] == "assistant" for message in messages)
