"""Claude Code sessions and its stream output: JSON lines, read as Anthropic messages.

Only what went to the model is read: attachments, hooks, progress, snapshots and meta lines are no
messages.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.replay.readers.documents import Document
from hippocampus.replay.readers.draft import Draft, Message, Step, has_answer
from hippocampus.replay.readers.fields import (
    Record,
    as_count,
    as_list,
    as_record,
    as_records,
    as_text,
    kind_of,
)
from hippocampus.replay.recording import Usage

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
"""What the program itself said, such as that a request failed, is under this model's name."""


def recognises(document: Document) -> bool:
    """Say whether there are lines of this program's types with its own fields."""
    return any(
        kind_of(record) in LINES and any(field in record for field in OWN_FIELDS)
        for record in document.records
        if "payload" not in record
    )


def read(document: Document) -> list[Draft]:
    """Return each context of the session, and each of its sidechains, as a conversation."""
    return [
        Draft("anthropic", steps, part)
        for part, lines in _chains(document.records).items()
        for steps in _contexts(lines)
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


def _contexts(lines: list[Record]) -> Iterator[list[Step]]:
    """Yield each context: a compaction starts one, and so does a prompt that replaces another."""
    steps: list[Step] = []
    end_of: dict[str, int] = {}
    answer_at: dict[str, int] = {}
    prompted: set[str] = set()
    for line in lines:
        parent = as_text(line.get("parentUuid"))
        if line.get("subtype") == "compact_boundary" or line.get("isCompactSummary"):
            yield steps
            steps, end_of, answer_at = [], {}, {}
        elif _is_prompt(line):
            if parent in prompted and parent in end_of:
                if has_answer(steps[end_of[parent] :]):
                    yield steps
                steps = steps[: end_of[parent]]
                answer_at = {key: at for key, at in answer_at.items() if at < len(steps)}
            prompted.add(parent)
        _add(steps, answer_at, line)
        end_of[as_text(line.get("uuid"))] = len(steps)
    yield steps


def _is_prompt(line: Record) -> bool:
    """Say whether a person's own words are in this line, and not the results of tools."""
    blocks = as_records(as_record(line.get("message")).get("content"))
    is_said = line.get("type") == "user" and not line.get("isMeta") and line.get("parentUuid")
    return bool(is_said) and not any(kind_of(block) == "tool_result" for block in blocks)


def _add(steps: list[Step], answer_at: dict[str, int], line: Record) -> None:
    message = as_record(line.get("message"))
    content = message.get("content")
    if line.get("isMeta") or line.get("isApiErrorMessage") or not isinstance(content, str | list):
        return
    if line.get("type") == "user":
        steps.append(Step({"role": "user", "content": content}))
    elif line.get("type") == "assistant" and message.get("model") != NO_MODEL:
        blocks = as_list(content) or [{"type": "text", "text": as_text(content)}]
        step = _answer(message, blocks)
        message_id = as_text(message.get("id"))
        if message_id in answer_at:
            step.message["content"][:0] = steps[answer_at[message_id]].message["content"]
            steps[answer_at[message_id]] = step
        else:
            answer_at[message_id or f"line {len(steps)}"] = len(steps)
            steps.append(step)


def _answer(message: Record, blocks: list[Message]) -> Step:
    usage = as_record(message.get("usage"))
    keys = (
        "input_tokens",
        "cache_read_input_tokens",
        "cache_creation_input_tokens",
        "output_tokens",
    )
    counts = Usage(*(as_count(usage.get(key)) for key in keys))
    answer = {"role": "assistant", "content": list(blocks)}
    return Step(answer, counts, as_text(message.get("model")))
