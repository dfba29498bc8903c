"""Conversations of OpenHands since version 1, one file per event, read as chat messages.

A conversation's folder has its state, with the tokens of responses, next to its events; an export has
only the events.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.json_files import JsonDocument, load
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import JsonRecord, as_list, as_record, text_of

NAME = "openhands-sdk"
STATE, EVENTS = "base_state.json", "events"
SYSTEM, MESSAGE, ACTION = "SystemPromptEvent", "MessageEvent", "ActionEvent"
SENT = {SYSTEM, MESSAGE, ACTION, "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}
"""The events that the model is sent."""


def with_events(document: JsonDocument) -> JsonDocument:
    """Return a conversation's state and the events next to it, with the folder as its path."""
    folder = Path(document.path).parent
    files = sorted(folder.glob(f"{EVENTS}/event-*.json"))
    events = [record for file in files for record in load(str(file)).records]
    return replace(document, path=str(folder), records=[*document.records, *events])


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is an event that the model is sent."""
    return record.text("kind") in SENT and "timestamp" in record


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a condensation or a rewind starts a context."""
    system = next((record for record in records if record.text("kind") == SYSTEM), JsonRecord())
    texts = (system.record(field).text("text") for field in ("system_prompt", "dynamic_context"))
    prompt = "\n\n".join(filter(None, texts))
    usages = {
        usage.text("response_id"): usage
        for record in records
        for metrics in record.record("stats").record("usage_to_metrics").values()
        for usage in as_record(metrics).records("token_usages")
    }
    contexts = (list(_messages(context, usages)) for context in _contexts(records))
    return [RawConversation("chat", messages, system_prompt=prompt) for messages in contexts]


def _contexts(events: Iterable[JsonRecord]) -> Iterator[list[JsonRecord]]:
    context: list[JsonRecord] = []
    end_of: dict[str, int] = {}
    answered = False
    for event in events:
        end = end_of.get(event.text("parent_id"), len(context))
        is_condensation = event.text("kind") == "Condensation"
        if (is_condensation or end < len(context)) and answered:
            yield context
            answered = False
        if is_condensation:
            forgotten = set(map(str, as_list(event.get("forgotten_event_ids"))))
            context = [kept for kept in context if kept.text("id") not in forgotten]
            if (summary := event.text("summary")) and event.get("summary_offset") is not None:
                message = {"role": "user", "content": summary}
                summarised = JsonRecord(kind=MESSAGE, llm_message=message)
                context.insert(event.count("summary_offset"), summarised)
            end_of = {}
        else:
            context = context[:end]
        if event.text("kind") in SENT:
            context.append(event)
            answered |= "llm_response_id" in event
        end_of[event.text("id")] = len(context)
    yield context


def _messages(events: Iterable[JsonRecord], usages: dict[str, JsonRecord]) -> Iterator[RawMessage]:
    """Yield chat messages; a response's calls are one message, and its usage is popped from `usages`."""
    for (kind, response), group in itertools.groupby(
        events, lambda event: (event.text("kind"), event.text("llm_response_id"))
    ):
        usage = usages.pop(response, JsonRecord())
        model = usage.text("model").rpartition("/")[2]
        if kind == ACTION:
            actions = list(group)
            calls = chat_calls([action.record("tool_call") for action in actions])
            yield RawMessage.answer(
                text_of(actions[0].get("thought")), calls, _counts(usage), model
            )
            continue
        for event in group:
            if kind == MESSAGE:
                message = event.record("llm_message")
                texts = [text_of(message.get("content")), text_of(event.get("extended_content"))]
                role = "assistant" if message.text("role") == "assistant" else "user"
                item = {"role": role, "content": "\n".join(filter(None, texts))}
                yield RawMessage(item, _counts(usage), model)
            elif kind != SYSTEM:
                # The model sees a tool's output between the notes on its command.
                observation = event.record("observation")
                notes = observation.record("metadata")
                text = text_of(observation.get("content")) or event.text("error")
                text = text or event.text("rejection_reason")
                whole = notes.text("prefix") + text + notes.text("suffix")
                yield RawMessage.result(event.text("tool_call_id"), whole)


def _counts(usage: JsonRecord) -> Usage | None:
    keys = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens")
    return Usage.of_total(*usage.counts(*keys)) if usage else None
