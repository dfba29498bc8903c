"""Sessions of the pi coding agent: JSON lines, read as Anthropic messages.

A conversation here is one context; how the agent displays a session is of no interest.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.replay.readers.documents import Document
from hippocampus.replay.readers.draft import Draft, Message, Step, has_answer
from hippocampus.replay.readers.fields import (
    Record,
    as_count,
    as_record,
    as_records,
    as_text,
    text_of,
)
from hippocampus.replay.recording import Usage

NAME = "pi"


def recognises(document: Document) -> bool:
    """Say whether there is a session line, or a message in this agent's own words."""
    return any(map(_is_typical, document.records))


def read(document: Document) -> list[Draft]:
    """Return each context as a conversation: a compaction and a branch start one."""
    return [Draft("anthropic", steps) for steps in _contexts(document.records)]


def _is_typical(record: Record) -> bool:
    if record.get("type") == "session":
        return "cwd" in record and "timestamp" in record
    message = as_record(record.get("message"))
    return record.get("type") == "message" and (
        message.get("role") == "toolResult" or "stopReason" in message
    )


def _contexts(records: list[Record]) -> Iterator[list[Step]]:
    steps: list[Step] = []
    end_of: dict[str, int] = {}
    last = ""
    for record in records:
        parent = as_text(record.get("parentId"))
        if parent != last and end_of.get(parent, len(steps)) < len(steps):
            if has_answer(steps[end_of[parent] :]):
                yield steps
            steps = steps[: end_of[parent]]
        if record.get("type") == "compaction":
            yield steps
            first_kept = end_of.get(as_text(record.get("firstKeptEntryId")), len(steps) + 1) - 1
            summary = {"role": "user", "content": as_text(record.get("summary"))}
            steps = [Step(summary), *steps[max(first_kept, 0) :]]
            end_of = {}
        elif message := as_record(record.get("message")):
            steps += _steps(message)
        if last := as_text(record.get("id")):
            end_of[last] = len(steps)
    yield steps


def _steps(message: Message) -> list[Step]:
    role = message.get("role")
    content = message.get("content")
    if role == "assistant":
        blocks = [_block(block) for block in as_records(content)]
        usage = _usage(as_record(message.get("usage")))
        model = as_text(message.get("model"))
        return [Step({"role": "assistant", "content": blocks}, usage, model)]
    if role == "toolResult":
        return [Step({"role": "user", "content": [_result(message)]})]
    if role == "bashExecution":
        ran = f"$ {as_text(message.get('command'))}\n{as_text(message.get('output'))}"
        return [Step({"role": "user", "content": ran})]
    said = content if isinstance(content, str) else [_block(each) for each in as_records(content)]
    return [Step({"role": "user", "content": said})] if said else []


def _block(block: Record) -> Message:
    if block.get("type") == "toolCall":
        arguments = as_record(block.get("arguments"))
        call_id, name = as_text(block.get("id")), as_text(block.get("name"))
        return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    if block.get("type") == "image":
        media_type = block.get("mimeType")
        source = {"type": "base64", "media_type": media_type, "data": block.get("data")}
        return {"type": "image", "source": source}
    if block.get("type") == "thinking":
        return {"type": "thinking"}
    return {"type": "text", "text": as_text(block.get("text"))}


def _result(message: Message) -> Message:
    content = as_records(message.get("content"))
    result = {
        "type": "tool_result",
        "tool_use_id": as_text(message.get("toolCallId")),
        "content": [_block(block) for block in content] or text_of(message.get("content")),
    }
    return {**result, "is_error": True} if message.get("isError") else result


def _usage(usage: Record) -> Usage:
    keys = ("input", "cacheRead", "cacheWrite", "output")
    return Usage(*(as_count(usage.get(key)) for key in keys))
