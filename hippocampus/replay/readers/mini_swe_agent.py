"""mini-swe-agent trajectories: a JSON object with `info` and `messages`, read as chat messages.

An answer's single code block becomes a tool call, and the message after it the result; an answer with
no block or several runs nothing, and the program's reply to it is a user message.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime

from hippocampus.replay.readers.raw import (
    RawConversation,
    RawMessage,
    chat_call,
    chat_calls,
    reported_usage,
)
from hippocampus.replay.readers.values import JsonRecord, role_of, text_of

NAME = "mini-swe-agent"
COMMAND = re.compile(r"\s*```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n```", re.DOTALL)


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a trajectory."""
    is_named = record.text("trajectory_format").startswith(NAME)
    return is_named or ("mini_version" in record.record("info") and "messages" in record)


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return a conversation per trajectory."""
    return [
        RawConversation(
            "chat",
            list(_messages(record)),
            record.text("instance_id"),
            submission=record.record("info").text("submission"),
            model=record.record("info").record("config").record("model").text("model_name"),
        )
        for record in records
        if is_own(record)
    ]


def _messages(record: JsonRecord) -> Iterator[RawMessage]:
    waiting = ""
    for number, message in enumerate(record.records("messages")):
        role, content = role_of(message), text_of(message.get("content"))
        call_id, waiting = waiting, ""
        if role == "assistant":
            answer, waiting = _answer(message, content, f"call_{number}")
            response = message.record("extra").record("response")
            at = ""
            if seconds := response.count("created"):
                with contextlib.suppress(ValueError, OverflowError, OSError):  # it is out of range
                    at = datetime.fromtimestamp(seconds, UTC).isoformat()
            usage = reported_usage(response.record("usage"))
            yield answer._replace(usage=usage, model=response.text("model"), at=at)
        elif role == "tool":
            yield RawMessage.result(message.text("tool_call_id"), content)
        elif role == "user" and call_id:
            yield RawMessage.result(call_id, content)
        elif role in {"user", "system"}:
            yield RawMessage.user(content, role)


def _answer(message: JsonRecord, content: str, call_id: str) -> tuple[RawMessage, str]:
    """Return the message, and the id of a call that the next user message answers."""
    if recorded := message.records("tool_calls"):
        return RawMessage.answer(content, chat_calls(recorded)), ""
    commands = list(COMMAND.finditer(content))
    if len(commands) != 1:
        return RawMessage.answer(content, []), ""
    [command] = commands
    call = chat_call(call_id, "bash", {"command": command[1].strip()})
    text = content[: command.start()] + content[command.end() :]
    return RawMessage.answer(text.strip(), [call]), call_id
