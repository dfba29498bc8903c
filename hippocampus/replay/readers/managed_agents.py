"""Event logs of Anthropic's managed agents: JSON lines, read as Anthropic messages.

A line is an event as the API returns it, alone or as `raw` next to a summary of it. Thinking is
recorded without its text; what a grader of the outcome wrote is not read.
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
    text_of,
)
from hippocampus.replay.readers.raw_conversation import RawConversation, RawMessage

NAME = "managed-agents"
CALLS = {"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"}
RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""The field of each kind of result that names its call."""
REQUEST_END = "span.model_request_end"
OWN_TYPES = {"agent.message", "agent.thinking", REQUEST_END, *CALLS, *RESULTS}
TOKENS = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)


def recognises(document: JsonDocument) -> bool:
    """Return whether some event has a type that only these agents have."""
    return any(kind_of(_event(record)) in OWN_TYPES for record in document.records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return the conversation of each thread; sub-agents have threads of their own."""
    threads: dict[str, list[Record]] = {}
    for event in map(_event, document.records):
        if kind_of(event).startswith(("agent.", "user.", "span.")):
            threads.setdefault(as_text(event.get("session_thread_id")), []).append(event)
    return [
        RawConversation("anthropic", list(_messages(events)), thread and f"thread-{thread}")
        for thread, events in threads.items()
    ]


def _event(record: Record) -> Record:
    return as_record(record.get("raw")) or record


def _messages(events: Sequence[Record]) -> Iterator[RawMessage]:
    """Yield messages; the agent's text and calls up to the end of a request are one answer."""
    blocks: list[Item] = []
    for event in events:
        kind = kind_of(event)
        if kind == "agent.message":
            blocks += _blocks(event.get("content"))
        elif kind in CALLS:
            call = {"type": "tool_use", "id": as_text(event.get("id"))}
            name, arguments = as_text(event.get("name")), as_record(event.get("input"))
            blocks.append({**call, "name": name, "input": arguments})
        elif blocks and (kind == REQUEST_END or kind in RESULTS or kind.startswith("user.")):
            counts = as_record(event.get("model_usage"))
            usage = Usage(*(as_count(counts.get(key)) for key in TOKENS))
            yield RawMessage({"role": "assistant", "content": blocks}, usage)
            blocks = []
        if kind in RESULTS:
            yield RawMessage({"role": "user", "content": [_result(event, RESULTS[kind])]})
        elif kind == "user.message":
            yield RawMessage({"role": "user", "content": _blocks(event.get("content"))})
        elif kind == "user.define_outcome":
            rubric = as_record(event.get("rubric"))
            texts = [event.get("description"), rubric.get("content"), rubric.get("text")]
            task = "\n\n".join(filter(None, map(as_text, texts)))
            yield RawMessage({"role": "user", "content": task})
    if blocks:
        yield RawMessage({"role": "assistant", "content": blocks})


def _result(event: Record, id_field: str) -> Item:
    result = {
        "type": "tool_result",
        "tool_use_id": as_text(event.get(id_field)),
        "content": _blocks(event.get("content")),
    }
    return {**result, "is_error": True} if event.get("is_error") else result


def _blocks(content: object) -> list[Item]:
    """Return content as blocks, with search results and documents as text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [_block(block) for block in as_records(content)]


def _block(block: Item) -> Item:
    if kind_of(block) == "document":
        text = as_text(as_record(block.get("source")).get("data"))
    elif kind_of(block) == "search_result":
        text = text_of(block.get("content"))
    else:
        return block
    about = (block.get("title"), block.get("source"), text)
    return {"type": "text", "text": "\n".join(filter(None, map(as_text, about)))}
