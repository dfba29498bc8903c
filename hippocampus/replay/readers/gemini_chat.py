"""Chats that Gemini CLI saves, as one JSON object or as a log of changes, read as chat messages.

Thoughts, and notices and errors that the program shows to its user, are not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_count,
    as_record,
    as_records,
    as_string_or_json,
    as_text,
    kind_of,
    text_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
)

NAME = "gemini-chat"
TYPES = {"user", "gemini"}


def recognises(document: JsonDocument) -> bool:
    """Return whether the model's messages are of type `gemini`, in a chat or as lines."""
    return any(
        each.get("type") == "gemini" or "projectHash" in record
        for record in document.records
        for each in (record, *as_records(record.get("messages")))
    )


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context as a conversation: a rewind and a compression start one."""
    return [
        RawConversation("chat", list(_raw_messages(messages)))
        for messages in _contexts(document.records)
    ]


def _contexts(records: list[Record]) -> Iterator[list[Record]]:
    """Apply the changes in order: a message replaces the one with its id, a list replaces all."""
    context: dict[str, Record] = {}
    for record in records:
        if kind_of(record) in TYPES:
            context[_id(record, len(context))] = record
            continue
        following = _replaced(context, record)
        if following is not None:
            left_out = [each for key, each in context.items() if key not in following]
            if any(kind_of(each) == "gemini" for each in left_out):
                yield list(context.values())
                # Messages that stay were billed in the context before.
                known = following.keys() & context.keys()
                following |= {key: {**following[key], "tokens": None} for key in known}
            context = following
    yield list(context.values())


def _replaced(context: dict[str, Record], record: Record) -> dict[str, Record] | None:
    """Return the context after a change; None if it changes no messages."""
    if target := as_text(record.get("$rewindTo")):
        ids = list(context)
        end = ids.index(target) if target in ids else 0
        return {each: context[each] for each in ids[:end]}
    change = as_record(record.get("$set")) or record
    messages = as_records(change.get("messages"))
    return {_id(each, place): each for place, each in enumerate(messages)} if messages else None


def _id(message: Record, place: int) -> str:
    return as_text(message.get("id")) or f"message {place}"


def _raw_messages(messages: list[Record]) -> Iterator[RawMessage]:
    for place, message in enumerate(messages):
        content = message.get("content")
        text = text_of(content if isinstance(content, str | list) else [content])
        if message.get("type") == "user":
            yield RawMessage({"role": "user", "content": text})
        elif message.get("type") == "gemini":
            calls = as_records(message.get("toolCalls"))
            ids = [as_text(each.get("id")) or f"call_{place}_{at}" for at, each in enumerate(calls)]
            named = [_call(call_id, call) for call_id, call in zip(ids, calls, strict=True)]
            usage = _usage(as_record(message.get("tokens")))
            yield RawMessage(chat_answer(text, named), usage, as_text(message.get("model")))
            for call_id, call in zip(ids, calls, strict=True):
                if results := as_records(call.get("result")):
                    yield RawMessage(chat_result(call_id, "\n".join(map(_result, results))))


def _call(call_id: str, call: Record) -> Item:
    return chat_call(call_id, as_text(call.get("name")), call.get("args") or {})


def _result(part: Record) -> str:
    response = as_record(part.get("functionResponse")).get("response")
    if response is None:
        return as_text(part.get("text"))
    values = list(as_record(response).values())
    return as_string_or_json(values[0] if len(values) == 1 else response)


def _usage(tokens: Record) -> Usage:
    """Read token counts whose input includes the cached tokens."""
    cached = as_count(tokens.get("cached"))
    fresh = max(0, as_count(tokens.get("input")) - cached)
    output = as_count(tokens.get("output")) + as_count(tokens.get("thoughts"))
    return Usage(input_tokens=fresh, cache_read_tokens=cached, output_tokens=output)
