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
    with_commands,
)
from hippocampus.replay.readers.values import JsonRecord, role_of, text_of

NAME = "mini-swe-agent"
ROLES = {"system", "user", "assistant", "tool"}
COMMAND = re.compile(r"\s*```(?:bash|mswea_bash_command)[ \t]*\n(.*?)\n```", re.DOTALL)


def is_own(record: JsonRecord) -> bool:
    """Return whether a record is a trajectory."""
    is_named = record.text("trajectory_format").startswith(NAME)
    return is_named or ("mini_version" in record.record("info") and "messages" in record)


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield a conversation per trajectory."""
    for record in filter(is_own, records):
        # A message of the role `exit` is not sent, and a text with a cache mark is a list of blocks.
        sent = [
            JsonRecord(message, content=text_of(message.get("content")))
            for message in record.records("messages")
            if role_of(message) in ROLES
        ]
        messages, info = list(with_commands(sent, _answer)), record.record("info")
        submission = info.text("submission")
        model = info.record("config").record("model").text("model_name")
        name = record.text("instance_id")
        yield RawConversation("chat", messages, name, submission=submission, model=model)


def _answer(message: JsonRecord, call_id: str) -> tuple[RawMessage, str]:
    """Return the message with its bill, and the id of a call that the next user message answers."""
    text, calls, waiting = message.text("content"), chat_calls(message.records("tool_calls")), ""
    commands = list(COMMAND.finditer(text))
    if not calls and len(commands) == 1:
        [command] = commands
        text = (text[: command.start()] + text[command.end() :]).strip()
        calls, waiting = [chat_call(call_id, "bash", {"command": command[1].strip()})], call_id
    response = message.record("extra").record("response")
    at = ""
    if seconds := response.count("created"):
        with contextlib.suppress(ValueError, OverflowError, OSError):  # it is out of range
            at = datetime.fromtimestamp(seconds, UTC).isoformat()
    answer = RawMessage.answer(text, calls, reported_usage(response.record("usage")))
    return answer._replace(model=response.text("model"), at=at), waiting
