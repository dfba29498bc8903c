"""Sessions of opencode, exported as `{info, messages: [{info, parts}]}`, read as chat messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage
from hippocampus.replay.readers.raw import RawConversation, RawMessage, chat_call, without_usage
from hippocampus.replay.readers.values import JsonRecord, kind_of, role_of, text_of

NAME = "opencode"
REPLACED_PARTS = {
    "compaction": "What did we do so far?",
    "subtask": "The following tool was executed by the user",
}
"""By type of a user message's part, the text that opencode sends to the model in its place."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a record has messages of `info` and `parts`."""
    return bool(_messages(record))


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield the contexts of sessions as conversations.

    A compaction starts a context, with the request for a summary, and the summary.
    """
    for record in records:
        session = record.record("info")
        name = f"agent-{session.text('id')}" if session.get("parentID") else ""
        context, request = list[RawMessage](), list[RawMessage]()
        for message in _messages(record):
            info, parts = message.record("info"), message.records("parts")
            if role_of(info) == "user":
                texts = [
                    REPLACED_PARTS.get(kind_of(part)) or part.text("text")
                    for part in parts
                    if kind_of(part) in {"text", *REPLACED_PARTS} and not part.get("ignored")
                ]
                raw = [RawMessage.user(_with_images("\n".join(filter(None, texts)), parts))]
                request = raw if any(kind_of(part) == "compaction" for part in parts) else []
            else:
                raw = list(_answers(info, parts))
            context += raw
            if info.get("summary") is True and request:
                yield RawConversation("chat", context, name)
                context = [*request, *without_usage(raw)]
        yield RawConversation("chat", context, name)


def _messages(record: JsonRecord) -> list[JsonRecord]:
    found = record.records("messages")
    return [message for message in found if "parts" in message and role_of(message.record("info"))]


def _with_images(text: str, parts: Sequence[JsonRecord]) -> str | list[Item]:
    """Return a text as content, with the images among the parts."""
    images = [
        {"type": "image_url", "image_url": {"url": part.text("url")}}
        for part in parts
        if part.text("mime").startswith("image/")
    ]
    return [{"type": "text", "text": text}, *images] if images else text


def _answers(info: JsonRecord, parts: Sequence[JsonRecord]) -> Iterator[RawMessage]:
    """Yield the answers of a message's steps, followed by their results."""
    steps: list[list[JsonRecord]] = [[]]
    for part in parts:
        if kind_of(part) == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    for step in steps:
        counts = [part.record("tokens") for part in step if kind_of(part) == "step-finish"]
        if len(steps) == 1:
            counts.append(info.record("tokens"))
        tools = [part for part in step if kind_of(part) == "tool"]
        calls = [
            chat_call(_call_id(part), part.text("tool"), part.record("state").get("input"))
            for part in tools
        ]
        text = text_of([part for part in step if kind_of(part) == "text"])
        # The input excludes the cache; some versions count reasoning separately.
        used = next(filter(None, counts), JsonRecord())
        fresh, (read, written) = used.count("input"), used.record("cache").counts("read", "write")
        rest = used.count("total") - fresh - read - written
        usage = Usage(fresh, read, written, max(used.count("output"), rest))
        yield RawMessage.answer(text, calls, usage, info.text("modelID"))
        for part in tools:
            state = part.record("state")
            if state.get("status") == "error":
                yield RawMessage.result(_call_id(part), state.text("error"))
            elif state.get("status") == "completed":  # other calls never ended
                output = _with_images(state.text("output"), state.records("attachments"))
                yield RawMessage.result(_call_id(part), output)


def _call_id(part: JsonRecord) -> str:
    return part.text("callID") or part.text("id")
