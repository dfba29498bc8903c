"""Conversations of OpenHands since version 1, a file for each event, read as chat messages.

A conversation's folder has its state, with the tokens of each response, next to its events; an
export has the events alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument, load
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_calls
from hippocampus.replay.readers.values import JsonRecord, as_list, as_record, text_of

NAME = "openhands-sdk"
STATE, EVENTS = "base_state.json", "events"
SYSTEM, MESSAGE, ACTION = "SystemPromptEvent", "MessageEvent", "ActionEvent"
SENT = {SYSTEM, MESSAGE, ACTION, "ObservationEvent", "AgentErrorEvent", "UserRejectObservation"}
"""The events of which the model is sent something."""


def with_events(document: JsonDocument) -> JsonDocument:
    """Return the state of a conversation with the events next to it, named after their folder."""
    folder = Path(document.path).parent
    files = sorted(folder.glob(f"{EVENTS}/event-*.json"))
    events = [record for file in files for record in load(str(file)).records]
    return replace(document, path=str(folder), records=[*document.records, *events])


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is an event that the model is sent."""
    return record.text("kind") in SENT and "timestamp" in record


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return each context as a conversation; a condensation and a way back start one."""
    system = next((each for each in records if each.text("kind") == SYSTEM), JsonRecord())
    texts = (system.record(field).text("text") for field in ("system_prompt", "dynamic_context"))
    prompt = "\n\n".join(filter(None, texts))
    usages = {
        each.text("response_id"): each
        for record in records
        for metrics in record.record("stats").record("usage_to_metrics").values()
        for each in as_record(metrics).records("token_usages")
    }
    contexts = _contexts(records)
    return [RawConversation("chat", list(_messages(each, usages)), "", prompt) for each in contexts]


def _contexts(events: Iterable[JsonRecord]) -> Iterator[list[JsonRecord]]:
    """Yield the events of each context."""
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
            context, end_of = _condensed(context, event), {}
        else:
            context = context[:end]
        if event.text("kind") in SENT:
            context.append(event)
            answered |= "llm_response_id" in event
        end_of[event.text("id")] = len(context)
    yield context


def _condensed(context: list[JsonRecord], event: JsonRecord) -> list[JsonRecord]:
    """Return the context without what a condensation forgets, and with its summary."""
    forgotten = set(map(str, as_list(event.get("forgotten_event_ids"))))
    kept = [each for each in context if each.text("id") not in forgotten]
    if (summary := event.text("summary")) and event.get("summary_offset") is not None:
        message = {"role": "user", "content": summary}
        kept.insert(event.count("summary_offset"), JsonRecord(kind=MESSAGE, llm_message=message))
    return kept


def _messages(events: Iterable[JsonRecord], usages: dict[str, JsonRecord]) -> Iterator[RawMessage]:
    """Yield chat messages; the calls of one response are one, and its usage is taken from `usages`."""
    for (kind, response), group in itertools.groupby(
        events, lambda each: (each.text("kind"), each.text("llm_response_id"))
    ):
        usage = usages.pop(response, JsonRecord())
        model = usage.text("model").rpartition("/")[2]
        if kind == ACTION:
            actions = list(group)
            calls = chat_calls([each.record("tool_call") for each in actions])
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
                # A tool's output has the notes on the command around it.
                observation = event.record("observation")
                notes = observation.record("metadata")
                text = text_of(observation.get("content")) or event.text("error")
                text = text or event.text("rejection_reason")
                whole = notes.text("prefix") + text + notes.text("suffix")
                yield RawMessage.result(event.text("tool_call_id"), whole)


def _counts(usage: JsonRecord) -> Usage | None:
    keys = ("prompt_tokens", "cache_read_tokens", "cache_write_tokens", "completion_tokens")
    return Usage.of_total(*usage.counts(*keys)) if usage else None
