"""Chats that Gemini CLI saves, as one JSON object or as a log of changes, read as chat messages.

Thoughts, and displayed notices and errors, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import (
    JsonRecord,
    as_record,
    as_records,
    as_string_or_json,
    kind_of,
    text_of,
)

NAME = "gemini-chat"
TYPES = {"user", "gemini"}


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a chat, or a line of a chat."""
    kinds = map(kind_of, (record, *record.records("messages")))
    return "projectHash" in record or "gemini" in kinds


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations; a rewind or a compression starts a context."""
    contexts: list[dict[str, JsonRecord]] = [{}]
    for record in records:
        context = contexts[-1]
        if kind_of(record) in TYPES:  # it replaces the message with its id
            context[_id(record, len(context))] = record
            continue
        if target := record.text("$rewindTo"):
            ids = list(context)
            end = ids.index(target) if target in ids else 0
            following = {key: context[key] for key in ids[:end]}
        else:
            messages = (record.record("$set") or record).records("messages")
            following = {_id(message, at): message for at, message in enumerate(messages)}
            if not following:  # the line changes no messages
                continue
        left_out = [message for key, message in context.items() if key not in following]
        if any(kind_of(message) == "gemini" for message in left_out):
            # The context before has the bill of the messages that stay.
            known = following.keys() & context.keys()
            following |= {key: JsonRecord(following[key], tokens=None) for key in known}
            contexts.append(following)
        contexts[-1] = following
    return [RawConversation("chat", list(_raw_messages([*each.values()]))) for each in contexts]


def _id(message: JsonRecord, place: int) -> str:
    return message.text("id") or f"message {place}"


def _raw_messages(messages: list[JsonRecord]) -> Iterator[RawMessage]:
    """Yield chat messages; a result that is both next to its call and in a message is read once."""
    answered: set[str] = set()
    for place, message in enumerate(messages):
        content = message.get("content")
        parts = as_records(content)
        text = text_of(content if isinstance(content, str | list) else [content])
        if message.get("type") == "user":
            responses = [part for part in parts if "functionResponse" in part]
            for part in responses:
                call_id = part.record("functionResponse").text("id")
                if call_id not in answered:
                    answered.add(call_id)
                    yield RawMessage.result(call_id, _result(part))
            if text or not responses:
                yield RawMessage.user(text)
        elif message.get("type") == "gemini":
            # Chats of the program have `toolCalls` with results; lists of the API have parts.
            asked = [part.record("functionCall") for part in parts if "functionCall" in part]
            calls = message.records("toolCalls") or asked
            ids = [call.text("id") or f"call_{place}_{at}" for at, call in enumerate(calls)]
            named = [
                chat_call(call_id, call.text("name"), call.get("args"))
                for call_id, call in zip(ids, calls, strict=True)
            ]
            tokens = message.record("tokens")
            output = tokens.count("output") + tokens.count("thoughts")
            usage = Usage.of_total(tokens.count("input"), tokens.count("cached"), 0, output)
            yield RawMessage.answer(text, named, usage, message.text("model"))
            for call_id, call in zip(ids, calls, strict=True):
                if results := call.records("result"):
                    answered.add(call_id)
                    yield RawMessage.result(call_id, "\n".join(map(_result, results)))


def _result(part: JsonRecord) -> str:
    """Return a tool's result as text."""
    response = part.record("functionResponse").get("response")
    if response is None:
        return part.text("text")
    values = list(as_record(response).values())
    return as_string_or_json(values[0] if len(values) == 1 else response)
