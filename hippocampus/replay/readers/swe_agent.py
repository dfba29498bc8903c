"""SWE-agent trajectories: a JSON object with a `history`, read as chat messages.

An action in a code block becomes a tool call, and the message after it the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hippocampus.formats import json_text
from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    chat_call,
    chat_calls,
    with_commands,
)
from hippocampus.replay.readers.values import JsonRecord, as_record

NAME = "swe-agent"
OWN_COMMANDS = re.compile(
    r"(open|goto|scroll_(?:up|down)|create|edit|insert|submit|search_(?:dir|file)|find_file"
    r"|exit_forfeit|str_replace_editor|decompile|disassemble)\b"
)
"""Commands of the agent's own shell; any other action is a bash command."""

NO_MODELS = {"replay", "human", "instant_empty_submit"}


def is_own(record: JsonRecord) -> bool:
    """Return whether a record has a history of messages and a trajectory."""
    return bool(_history(record))


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield a conversation per trajectory."""
    for record in records:
        if history := _history(record):
            config = record.get("replay_config")
            parsed = json_text.read(config, None) if isinstance(config, str) else config
            name = as_record(parsed).record("agent").record("model").text("name")
            model = "" if name in NO_MODELS else name
            messages = list(with_commands(history, _answer))
            submission = record.record("info").text("submission")
            yield RawConversation("chat", messages, submission=submission, model=model)


def _history(record: JsonRecord) -> list[JsonRecord]:
    is_known = "trajectory" in record or "environment" in record or "replay_config" in record
    history = record.records("history") if is_known else []
    return [message for message in history if "role" in message]


def _answer(message: JsonRecord, call_id: str) -> tuple[RawMessage, str]:
    """Return the message, and the id of a call that the next user message answers."""
    content = message.text("content")
    if recorded := message.records("tool_calls"):
        return RawMessage.answer(content, chat_calls(recorded)), ""
    action = message.text("action").strip()
    if not action:
        return RawMessage.answer(content, []), ""
    command = OWN_COMMANDS.match(action)
    call = chat_call(call_id, command[0] if command else "bash", {"command": action})
    # The code block of the action is in the call, and not in the text too.
    if (start := content.rfind(action)) >= 0:
        before = re.sub(r"(^|\n)[ \t]*```[\w-]*\s*$|<command>\s*$", "", content[:start])
        after = re.sub(r"^\s*(```|</command>)", "", content[start + len(action) :])
        content = (before.rstrip() + after).strip()
    return RawMessage.answer(content, [call]), call_id
