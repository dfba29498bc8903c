"""Sessions that opencode exports: `{info, messages: [{info, parts}]}`, read as chat messages.

What `opencode export` writes for its own display (diffs, snapshots, previews) is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_count,
    as_record,
    as_records,
    as_text,
    kind_of,
    role_of,
    text_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    chat_answer,
    chat_call,
    chat_result,
    without_usage,
)

NAME = "opencode"
REPLACED_PARTS = {
    "compaction": "What did we do so far?",
    "subtask": "The following tool was executed by the user",
}
"""The text that opencode sends to the model in place of these parts of a user message."""


def recognises(document: JsonDocument) -> bool:
    """Return whether a record has messages of `info` and `parts`."""
    return any(_messages(record) for record in document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context of each session as a conversation; a compaction starts one."""
    return [
        RawConversation("chat", context, _name(as_record(record.get("info"))))
        for record in document.records
        for context in _contexts(_messages(record))
    ]


def _messages(record: Record) -> list[Record]:
    messages = as_records(record.get("messages"))
    return [each for each in messages if "parts" in each and role_of(as_record(each.get("info")))]


def _name(session: Record) -> str:
    return f"agent-{as_text(session.get('id'))}" if session.get("parentID") else ""


def _contexts(messages: Sequence[Record]) -> Iterator[list[RawMessage]]:
    """Yield each context: the next one starts with the request for a summary and the summary."""
    context: list[RawMessage] = []
    request: list[RawMessage] = []
    for message in messages:
        info, parts = as_record(message.get("info")), as_records(message.get("parts"))
        if role_of(info) == "user":
            raw = [RawMessage({"role": "user", "content": _user_content(parts)})]
            request = raw if any(kind_of(part) == "compaction" for part in parts) else []
        else:
            raw = list(_answers(info, parts))
        context += raw
        if info.get("summary") is True and request:
            yield context
            context = [*request, *without_usage(raw)]
    yield context


def _user_content(parts: Sequence[Record]) -> str | list[Item]:
    texts = [
        REPLACED_PARTS.get(kind_of(part)) or as_text(part.get("text"))
        for part in parts
        if kind_of(part) in {"text", *REPLACED_PARTS} and not part.get("ignored")
    ]
    text = "\n".join(filter(None, texts))
    images = [_image(part) for part in parts if as_text(part.get("mime")).startswith("image/")]
    return [{"type": "text", "text": text}, *images] if images else text


def _image(part: Record) -> Item:
    return {"type": "image_url", "image_url": {"url": as_text(part.get("url"))}}


def _answers(info: Record, parts: Sequence[Record]) -> Iterator[RawMessage]:
    """Yield the answer of each step with its results; a message holds one step or several."""
    steps: list[list[Record]] = [[]]
    for part in parts:
        if kind_of(part) == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    for step in steps:
        counts = [as_record(part.get("tokens")) for part in step if kind_of(part) == "step-finish"]
        if len(steps) == 1:
            counts.append(as_record(info.get("tokens")))
        tools = [part for part in step if kind_of(part) == "tool"]
        calls = [
            chat_call(_call_id(part), as_text(part.get("tool")), _state(part).get("input") or {})
            for part in tools
        ]
        text = text_of([part for part in step if kind_of(part) == "text"])
        usage = _usage(next(filter(None, counts), {}))
        yield RawMessage(chat_answer(text, calls), usage, as_text(info.get("modelID")))
        for part in tools:
            if (result := _result(part)) is not None:
                yield RawMessage(chat_result(_call_id(part), result))


def _state(part: Record) -> Record:
    return as_record(part.get("state"))


def _call_id(part: Record) -> str:
    return as_text(part.get("callID")) or as_text(part.get("id"))


def _result(part: Record) -> str | list[Item] | None:
    """Return what the tool returned; None of a call that never ended."""
    state = _state(part)
    if state.get("status") == "error":
        return as_text(state.get("error"))
    if state.get("status") != "completed":
        return None
    text = as_text(state.get("output"))
    attached = as_records(state.get("attachments"))
    images = [_image(each) for each in attached if as_text(each.get("mime")).startswith("image/")]
    return [{"type": "text", "text": text}, *images] if images else text


def _usage(tokens: Record) -> Usage:
    """Read opencode's figures, whose input excludes the cache; some versions part off reasoning."""
    cache = as_record(tokens.get("cache"))
    fresh, read, written = map(
        as_count, (tokens.get("input"), cache.get("read"), cache.get("write"))
    )
    rest = as_count(tokens.get("total")) - fresh - read - written
    return Usage(fresh, read, written, max(as_count(tokens.get("output")), rest))
