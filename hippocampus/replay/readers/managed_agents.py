"""Event logs of Anthropic's managed agents: JSON lines, read as Anthropic messages.

A line is an event as the API returns it, or has the event as `raw` next to a summary. Thinking is
recorded without its text; the texts of an outcome's grader are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    reported_usage,
    tool_result,
    tool_use,
)
from hippocampus.replay.readers.values import JsonRecord, as_records, as_text, kind_of, text_of

NAME = "managed-agents"
CALLS = {"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"}
RESULTS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
"""The field with the call's id, by type of result."""
REQUEST_END = "span.model_request_end"
OWN_TYPES = {"agent.message", "agent.thinking", REQUEST_END, *CALLS, *RESULTS}


def is_own(record: JsonRecord) -> bool:
    """Return whether an event has a type that only these agents have."""
    return kind_of(_event(record)) in OWN_TYPES


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return a conversation per thread; sub-agents have their own threads."""
    threads: dict[str, list[JsonRecord]] = {}
    for event in map(_event, records):
        if kind_of(event).startswith(("agent.", "user.", "span.")):
            threads.setdefault(event.text("session_thread_id"), []).append(event)
    return [
        RawConversation("anthropic", list(_messages(events)), thread and f"thread-{thread}")
        for thread, events in threads.items()
    ]


def _event(record: JsonRecord) -> JsonRecord:
    return record.record("raw") or record


def _messages(events: Sequence[JsonRecord]) -> Iterator[RawMessage]:
    """Yield messages; the agent's text and calls up to the end of a request are one answer."""
    blocks: list[Item] = []
    for event in events:
        kind = kind_of(event)
        if kind == "agent.message":
            blocks += _blocks(event.get("content"))
        elif kind in CALLS:
            blocks.append(tool_use(event.text("id"), event.text("name"), event.record("input")))
        elif blocks and (kind == REQUEST_END or kind in RESULTS or kind.startswith("user.")):
            yield RawMessage.answer(blocks, (), reported_usage(event.record("model_usage")))
            blocks = []
        if kind in RESULTS:
            content, is_error = _blocks(event.get("content")), event.get("is_error")
            result = tool_result(event.text(RESULTS[kind]), content, is_error=is_error)
            yield RawMessage.user([result])
        elif kind == "user.message":
            yield RawMessage.user(_blocks(event.get("content")))
        elif kind == "user.define_outcome":
            rubric = event.record("rubric")
            texts = [event.get("description"), rubric.get("content"), rubric.get("text")]
            task = "\n\n".join(filter(None, map(as_text, texts)))
            yield RawMessage.user(task)
    if blocks:
        yield RawMessage.answer(blocks, ())


def _blocks(content: object) -> list[Item]:
    """Return content as blocks, with search results and documents as text."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: list[Item] = []
    for block in as_records(content):
        if kind_of(block) not in {"document", "search_result"}:
            blocks.append(block)
            continue
        text = block.record("source").text("data") or text_of(block.get("content"))
        about = (block.get("title"), block.get("source"), text)
        blocks.append({"type": "text", "text": "\n".join(filter(None, map(as_text, about)))})
    return blocks
