"""OpenHands trajectories: a JSON list of events, read as chat messages.

State changes and events that the agent only shows to its user are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

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
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
    has_answer,
    without_usage,
)

NAME = "openhands"
SOURCES = {"agent", "user", "environment"}
NOT_SENT = {"agent_state_changed", "null", "recall"}
"""Observations that are no result of a tool."""
NOT_CALLS = {"message", "system", "recall", "change_agent_state", "condensation", "null"}
"""Actions that are no call of a tool."""
NOT_ARGUMENTS = {"thought", "final_thought"}
KNOWLEDGE = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")


def recognises(document: JsonDocument) -> bool:
    """Return whether most records are events with a source and an action or an observation."""
    return sum(map(_is_event, document.records)) * 2 > len(document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context as a conversation; a condensation starts one."""
    events = [record for record in document.records if _is_event(record)]
    system = next((_arguments(each) for each in events if each.get("action") == "system"), {})
    prompt, tools = as_text(system.get("content")), as_records(system.get("tools"))
    contexts = _contexts(events)
    return [RawConversation("chat", each, "", prompt, tools) for each in contexts]


def _is_event(record: Record) -> bool:
    kind = record.get("action", record.get("observation"))
    return as_text(record.get("source")) in SOURCES and isinstance(kind, str)


def _arguments(event: Record) -> Record:
    return as_record(event.get("args"))


class _Sent(NamedTuple):
    event: int
    message: RawMessage


def _contexts(events: Sequence[Record]) -> Iterator[list[RawMessage]]:
    """Yield each context; in the next one a summary replaces what a condensation forgets."""
    context: list[_Sent] = []
    first_new = 0
    responses: set[str] = set()
    for event in events:
        if event.get("action") == "condensation":
            if has_answer([each.message for each in context[first_new:]]):
                yield [each.message for each in context]
            context = _condensed(context, _arguments(event))
            first_new = len(context)
            continue
        context += [_Sent(as_count(event.get("id")), each) for each in _messages(event, responses)]
    yield [each.message for each in context]


def _condensed(context: Sequence[_Sent], arguments: Record) -> list[_Sent]:
    start, end = (as_count(arguments.get(f"forgotten_events_{at}_id")) for at in ("start", "end"))
    ids = {as_count(each) for each in as_list(arguments.get("forgotten_event_ids"))}
    first = min(ids, default=start)
    remaining = [
        each for each in context if each.event not in ids and not start <= each.event <= end
    ]
    messages = without_usage([each.message for each in remaining])
    kept = [_Sent(each.event, message) for each, message in zip(remaining, messages, strict=True)]
    summary = as_text(arguments.get("summary"))
    if not summary:
        return kept
    item = {"role": "user", "content": summary}
    before = [each for each in kept if each.event < first]
    # The summary has the id of the first forgotten event, so that the next one replaces it.
    return [*before, _Sent(first, RawMessage(item)), *kept[len(before) :]]


def _messages(event: Record, responses: set[str]) -> Iterator[RawMessage]:
    """Yield what an event adds to the messages; calls of one response are one message."""
    action, observation = as_text(event.get("action")), as_text(event.get("observation"))
    arguments = _arguments(event)
    if action == "message":
        role = "user" if event["source"] == "user" else "assistant"
        yield RawMessage({"role": role, "content": as_text(arguments.get("content"))})
    elif action == "finish":
        texts = (as_text(arguments.get(key)) for key in ("thought", "final_thought"))
        text = "\n".join(filter(None, map(str.strip, texts)))
        yield _with_usage({"role": "assistant", "content": text}, event)
    elif action and action not in NOT_CALLS:
        response = as_text(_response(event).get("id"))
        if not response or response not in responses:
            yield _with_usage(_answer(event, action), event)
        responses.add(response)
    elif observation == "recall" and (text := _knowledge(as_record(event.get("extras")))):
        yield RawMessage({"role": "user", "content": text})
    elif observation and observation not in NOT_SENT:
        yield RawMessage(chat_result(_call_id(event, "cause"), _output(event)))


def _response(event: Record) -> Record:
    return as_record(as_record(event.get("tool_call_metadata")).get("model_response"))


def _call_id(event: Record, key: str) -> str:
    recorded = as_text(as_record(event.get("tool_call_metadata")).get("tool_call_id"))
    return recorded or f"event_{as_count(event.get(key))}"


def _answer(event: Record, action: str) -> Item:
    """Return the model's response; where it is not recorded, what the action has of it."""
    choices = as_records(_response(event).get("choices"))
    message = as_record(choices[0].get("message")) if choices else {}
    functions = [
        (as_text(each.get("id")), as_record(each.get("function")))
        for each in as_records(message.get("tool_calls"))
    ]
    calls = [
        chat_call(call_id, as_text(function.get("name")), function.get("arguments") or {})
        for call_id, function in functions
    ]
    if calls:
        return chat_answer(as_text(message.get("content")), calls)
    arguments = {key: value for key, value in _arguments(event).items() if key not in NOT_ARGUMENTS}
    call = chat_call(_call_id(event, "id"), action, arguments)
    return chat_answer(as_text(_arguments(event).get("thought")), [call])


def _with_usage(item: Item, event: Record) -> RawMessage:
    response = _response(event)
    counts = as_record(response.get("usage"))
    cached = as_count(as_record(counts.get("prompt_tokens_details")).get("cached_tokens"))
    fresh = max(0, as_count(counts.get("prompt_tokens")) - cached)
    usage = Usage(fresh, cached, 0, as_count(counts.get("completion_tokens")))
    return RawMessage(item, usage, as_text(response.get("model")).rpartition("/")[2])


def _output(event: Record) -> str:
    """Return a tool's output with the notes on the command around it."""
    metadata = as_record(as_record(event.get("extras")).get("metadata"))
    before, after = as_text(metadata.get("prefix")), as_text(metadata.get("suffix"))
    return before + as_text(event.get("content")) + after


def _knowledge(extras: Record) -> str:
    texts = [as_text(extras.get(key)) for key in KNOWLEDGE]
    texts += [
        as_text(each.get("content")) for each in as_records(extras.get("microagent_knowledge"))
    ]
    return "\n".join(filter(None, texts))
