"""OpenHands trajectories: a JSON list of events, read as chat messages.

State changes, and events that are only displayed, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    chat_call,
    chat_calls,
    has_answer,
    reported_usage,
)
from hippocampus.replay.readers.values import JsonRecord, as_count, as_list

NAME = "openhands"
SOURCES = {"agent", "user", "environment"}
NOT_SENT = {"agent_state_changed", "null", "recall"}
"""Observations that are not results of tools."""
NOT_CALLS = {"message", "system", "recall", "change_agent_state", "condensation", "null"}
"""Actions that are not calls of tools."""
NOT_ARGUMENTS = ("thought", "final_thought")
KNOWLEDGE = ("repo_instructions", "additional_agent_instructions", "conversation_instructions")


class _Sent(NamedTuple):
    event: int
    """The id of the event that has the message."""
    message: RawMessage


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is an event with a source, and an action or an observation."""
    kind = record.get("action", record.get("observation"))
    return record.text("source") in SOURCES and isinstance(kind, str)


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a condensation, whose summary replaces events, starts one."""
    events = list(filter(is_own, records))
    systems = (event.record("args") for event in events if event.get("action") == "system")
    system = next(systems, JsonRecord())
    prompt, tools = system.text("content"), system.records("tools")
    contexts: list[list[_Sent]] = [[]]
    first_new = 0
    responses: set[str] = set()
    for event in events:
        if event.get("action") == "condensation":
            following = _condense(contexts[-1], event.record("args"))
            if has_answer([sent.message for sent in contexts[-1][first_new:]]):
                contexts.append(following)
            contexts[-1], first_new = following, len(following)
            continue
        number = event.count("id")
        contexts[-1] += [_Sent(number, message) for message in _messages(event, responses)]
    return [
        RawConversation(
            "chat", [sent.message for sent in context], system_prompt=prompt, tools=tools
        )
        for context in contexts
    ]


def _condense(context: Sequence[_Sent], arguments: JsonRecord) -> list[_Sent]:
    start, end = (arguments.count(f"forgotten_events_{at}_id") for at in ("start", "end"))
    ids = {as_count(number) for number in as_list(arguments.get("forgotten_event_ids"))}
    first = min(ids, default=start)
    kept = [
        sent._replace(message=sent.message._replace(usage=None))
        for sent in context
        if sent.event not in ids and not start <= sent.event <= end
    ]
    summary = arguments.text("summary")
    if not summary:
        return kept
    before = [sent for sent in kept if sent.event < first]
    # The summary has the id of the first forgotten event, so that the next summary replaces it.
    return [*before, _Sent(first, RawMessage.user(summary)), *kept[len(before) :]]


def _messages(event: JsonRecord, responses: set[str]) -> Iterator[RawMessage]:
    """Yield the messages of an event; the calls of a response are one message."""
    action, observation = event.text("action"), event.text("observation")
    arguments = event.record("args")
    if action == "message":
        role = "user" if event["source"] == "user" else "assistant"
        yield RawMessage({"role": role, "content": arguments.text("content")})
    elif action == "finish":
        yield _answer(event, action)
    elif action and action not in NOT_CALLS:
        response = _response(event).text("id")
        if not response or response not in responses:
            yield _answer(event, action)
        responses.add(response)
    elif observation == "recall":
        extras = event.record("extras")
        texts = [extras.text(key) for key in KNOWLEDGE]
        texts += [knowledge.text("content") for knowledge in extras.records("microagent_knowledge")]
        if text := "\n".join(filter(None, texts)):
            yield RawMessage.user(text)
    elif observation and observation not in NOT_SENT:
        # The model sees a tool's output between the notes on its command.
        metadata = event.record("extras").record("metadata")
        texts = [metadata.text("prefix"), event.text("content"), metadata.text("suffix")]
        yield RawMessage.result(_call_id(event, "cause"), "".join(texts))


def _response(event: JsonRecord) -> JsonRecord:
    return event.record("tool_call_metadata").record("model_response")


def _call_id(event: JsonRecord, key: str) -> str:
    recorded = event.record("tool_call_metadata").text("tool_call_id")
    return recorded or f"event_{event.count(key)}"


def _answer(event: JsonRecord, action: str) -> RawMessage:
    """Return the model's response; if it is not recorded, build it from the action."""
    response, arguments = _response(event), event.record("args")
    choices = response.records("choices")
    message = choices[0].record("message") if choices else JsonRecord()
    text, calls = message.text("content"), chat_calls(message.records("tool_calls"))
    if action == "finish":
        thoughts = (arguments.text(key).strip() for key in NOT_ARGUMENTS)
        text, calls = "\n".join(filter(None, thoughts)), []
    elif not calls:
        given = {key: value for key, value in arguments.items() if key not in NOT_ARGUMENTS}
        text, calls = arguments.text("thought"), [chat_call(_call_id(event, "id"), action, given)]
    model = response.text("model").rpartition("/")[2]
    return RawMessage.answer(text, calls, reported_usage(response.record("usage")), model)
