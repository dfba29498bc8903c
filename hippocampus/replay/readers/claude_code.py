"""Claude Code sessions and its stream output: JSON lines, read as Anthropic messages.

Only what went to the model is read: hooks, progress, snapshots and titles are no messages. Of
attachments only queued prompts and the contents of files are read, not the standing reminders.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage, usage_of
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import (
    Record,
    as_list,
    as_record,
    as_records,
    as_text,
    kind_of,
)
from hippocampus.replay.readers.raw_conversation import (
    RawConversation,
    RawMessage,
    has_answer,
    without_usage,
)

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
    "system",
    "user",
}
OWN_FIELDS = ("sessionId", "session_id", "leafUuid", "isSnapshotUpdate")
NO_MODEL = "<synthetic>"
"""The model's name in lines that the program itself wrote, such as that a request failed."""


def recognises(document: JsonDocument) -> bool:
    """Return whether there are lines of this program's types with its own fields."""
    return any(
        kind_of(record) in LINES and any(field in record for field in OWN_FIELDS)
        for record in document.records
        if "payload" not in record
    )


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context of the session, and each of its sidechains, as a conversation."""
    return [
        RawConversation("anthropic", messages, part)
        for part, lines in _chains(document.records).items()
        for messages in _contexts(lines)
    ]


def _chains(records: list[Record]) -> dict[str, list[Record]]:
    """Split the lines into the session's own and each sidechain's, which is named by its agent.

    Older sessions give a sidechain no name: there its first line is its root.
    """
    chains: dict[str, list[Record]] = {}
    root_of: dict[str, str] = {}
    for record in records:
        chain = as_text(record.get("parent_tool_use_id"))
        if record.get("isSidechain"):
            uuid = as_text(record.get("uuid"))
            root = root_of.get(as_text(record.get("parentUuid")), uuid[:8])
            root_of[uuid] = root
            chain = f"agent-{as_text(record.get('agentId')) or root}"
        chains.setdefault(chain, []).append(record)
    return chains


def _contexts(lines: list[Record]) -> Iterator[list[RawMessage]]:
    """Yield each context: a compaction starts one, and so does a prompt that replaces another."""
    messages: list[RawMessage] = []
    end_of: dict[str, int] = {}
    answer_at: dict[str, int] = {}
    prompted: set[str] = set()
    for line in lines:
        parent = as_text(line.get("parentUuid"))
        if line.get("subtype") == "compact_boundary" or line.get("isCompactSummary"):
            yield messages
            messages, end_of, answer_at = [], {}, {}
        elif _is_prompt(line):
            if parent in prompted and parent in end_of:
                if has_answer(messages[end_of[parent] :]):
                    yield messages
                messages = without_usage(messages[: end_of[parent]])
                answer_at = {key: at for key, at in answer_at.items() if at < len(messages)}
            prompted.add(parent)
        _add(messages, answer_at, line)
        end_of[as_text(line.get("uuid"))] = len(messages)
    yield messages


def _is_prompt(line: Record) -> bool:
    """Return whether this line is a prompt that the user wrote."""
    blocks = as_records(as_record(line.get("message")).get("content"))
    is_users = line.get("type") == "user" and not line.get("isMeta") and line.get("parentUuid")
    return bool(is_users) and not any(kind_of(block) == "tool_result" for block in blocks)


def _add(messages: list[RawMessage], answer_at: dict[str, int], line: Record) -> None:
    message = as_record(line.get("message"))
    content = message.get("content")
    if line.get("type") == "attachment":
        if attached := _attached(as_record(line.get("attachment"))):
            messages.append(RawMessage({"role": "user", "content": attached}))
        return
    if line.get("isApiErrorMessage") or not isinstance(content, str | list):
        return
    if line.get("type") == "user":
        messages.append(RawMessage({"role": "user", "content": content}))
    elif line.get("type") == "assistant" and message.get("model") != NO_MODEL:
        blocks = as_list(content) or [{"type": "text", "text": as_text(content)}]
        answer = _answer(message, blocks)._replace(at=as_text(line.get("timestamp")))
        message_id = as_text(message.get("id"))
        if message_id in answer_at:
            answer.item["content"][:0] = messages[answer_at[message_id]].item["content"]
            messages[answer_at[message_id]] = answer
        else:
            answer_at[message_id or f"line {len(messages)}"] = len(messages)
            messages.append(answer)


def _attached(attachment: Record) -> str | list[Item]:
    """Return what an attachment gives the model to read; nothing of a reminder or a listing."""
    name = as_text(attachment.get("filename"))
    if kind_of(attachment) == "queued_command":
        prompt = attachment.get("prompt")
        return prompt if isinstance(prompt, str) else as_records(prompt)
    if kind_of(attachment) == "edited_text_file":
        return f"{name}\n{as_text(attachment.get('snippet'))}"
    if kind_of(attachment) == "file":
        file = as_record(as_record(attachment.get("content")).get("file"))
        text = as_text(file.get("content"))
        return f"{name}\n{text}" if text else ""
    return ""


def _answer(message: Record, blocks: list[Item]) -> RawMessage:
    usage = as_record(message.get("usage"))
    counts = usage_of(usage) if usage else Usage()
    answer = {"role": "assistant", "content": list(blocks)}
    return RawMessage(answer, counts, as_text(message.get("model")))
