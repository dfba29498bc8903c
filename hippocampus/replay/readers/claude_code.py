"""Claude Code sessions and its stream output: JSON lines, read as Anthropic messages.

Only messages to the model are read, not hooks, progress, snapshots and titles. Of attachments, only
queued prompts and the contents of files are read, not recurring reminders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    has_answer,
    reported_usage,
    without_usage,
)
from hippocampus.replay.readers.values import JsonRecord, as_list, as_records, as_text, kind_of

NAME = "claude-code"
LINES = {
    "ai-title",
    "assistant",
    "attachment",
    "custom-title",
    "file-history-snapshot",
    "last-prompt",
    "progress",
    "queue-operation",
    "summary",
    "user",
}
OWN_FIELDS = {"sessionId", "session_id", "leafUuid", "isSnapshotUpdate"}
NAME_CHARACTERS = 8
"""The length of the name that a sidechain has from its first line."""
NO_MODEL = "<synthetic>"
"""The model's name in lines by the program itself, such as a failed request."""


def is_own(record: JsonRecord) -> bool:
    """Return whether a line has one of this program's types, and its fields."""
    is_other = "payload" in record or "parts" in record.record("message")
    return not is_other and kind_of(record) in LINES and not OWN_FIELDS.isdisjoint(record)


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts of the session and of its sidechains as conversations.

    A sidechain has the name of its agent; in older sessions, which do not name it, that of its first line.
    """
    chains: dict[str, list[JsonRecord]] = {}
    root_of: dict[str, str] = {}
    for record in records:
        chain = record.text("parent_tool_use_id")
        if record.get("isSidechain"):
            uuid = record.text("uuid")
            root = root_of.get(record.text("parentUuid"), uuid[:NAME_CHARACTERS])
            root_of[uuid] = root
            chain = f"agent-{record.text('agentId') or root}"
        chains.setdefault(chain, []).append(record)
    return [
        RawConversation("anthropic", messages, chain)
        for chain, lines in chains.items()
        for messages in _contexts(lines)
    ]


def _contexts(lines: list[JsonRecord]) -> Iterator[list[RawMessage]]:
    """Yield the contexts: a compaction starts one, and so does a prompt that replaces another."""
    messages: list[RawMessage] = []
    end_of: dict[str, int] = {}
    answer_at: dict[str, int] = {}
    prompted: set[str] = set()
    for line in lines:
        parent, blocks = line.text("parentUuid"), line.record("message").records("content")
        has_results = any(kind_of(block) == "tool_result" for block in blocks)
        if line.get("subtype") == "compact_boundary" or line.get("isCompactSummary"):
            yield messages
            messages, end_of, answer_at = [], {}, {}
        elif line.get("type") == "user" and parent and not (line.get("isMeta") or has_results):
            if parent in prompted and parent in end_of:
                if has_answer(messages[end_of[parent] :]):
                    yield messages
                    messages = without_usage(messages)
                messages = messages[: end_of[parent]]
                answer_at = {key: at for key, at in answer_at.items() if at < len(messages)}
            prompted.add(parent)
        _add(messages, answer_at, line)
        end_of[line.text("uuid")] = len(messages)
    yield messages


def _add(messages: list[RawMessage], answer_at: dict[str, int], line: JsonRecord) -> None:
    message = line.record("message")
    content = message.get("content")
    if line.get("type") == "attachment":
        if attached := _attached(line.record("attachment")):
            messages.append(RawMessage.user(attached))
        return
    if line.get("isApiErrorMessage") or not isinstance(content, str | list):
        return
    if line.get("type") == "user":
        messages.append(RawMessage.user(content))
    elif line.get("type") == "assistant" and message.get("model") != NO_MODEL:
        blocks = as_list(content) or [{"type": "text", "text": as_text(content)}]
        usage = reported_usage(message.record("usage"))
        answer = RawMessage.answer(list(blocks), (), usage, message.text("model"))
        answer = answer._replace(at=line.text("timestamp"))
        message_id = message.text("id")
        if message_id in answer_at:
            answer.item["content"][:0] = messages[answer_at[message_id]].item["content"]
            messages[answer_at[message_id]] = answer
        else:
            answer_at[message_id or f"line {len(messages)}"] = len(messages)
            messages.append(answer)


def _attached(attachment: JsonRecord) -> str | Sequence[Item]:
    """Return the content of an attachment for the model; empty for reminders and listings."""
    name = attachment.text("filename")
    if kind_of(attachment) == "queued_command":
        prompt = attachment.get("prompt")
        return prompt if isinstance(prompt, str) else as_records(prompt)
    if kind_of(attachment) == "edited_text_file":
        return f"{name}\n{attachment.text('snippet')}"
    if kind_of(attachment) == "file":
        file = attachment.record("content").record("file")
        text = file.text("content")
        return f"{name}\n{text}" if text else ""
    return ""
