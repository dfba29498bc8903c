"""Conversations as recorded, before they are checked and completed: a reader's result. Pure."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hippocampus.formats import anthropic, openai_chat, openai_responses
from hippocampus.formats.conversation import Item
from hippocampus.formats.reader import Adapter
from hippocampus.formats.usage import Usage, usage_of
from hippocampus.replay.readers.values import (
    JsonRecord,
    as_list,
    as_string_or_json,
    as_text,
    kind_of,
    role_of,
)

MessageFormat = Literal["chat", "responses", "anthropic"]
ADAPTERS: dict[MessageFormat, Adapter] = {
    "chat": openai_chat,
    "responses": openai_responses,
    "anthropic": anthropic,
}


class RawMessage(NamedTuple):
    """An item of a provider's message list, with its recorded usage, model and time."""

    item: Item
    usage: Usage | None = None
    """Tokens that the provider reported for the call that this message answers."""
    model: str = ""
    at: str = ""
    """The time of the recording, in ISO 8601."""

    @classmethod
    def user(cls, content: object, role: str = "user") -> RawMessage:
        """Return a message of the user or the system, in any format except Responses."""
        return cls({"role": "system" if role == "system" else "user", "content": content})

    @classmethod
    def answer(
        cls, text: object, calls: Sequence[Item], usage: Usage | None = None, model: str = ""
    ) -> RawMessage:
        """Return an assistant's chat message."""
        item = {"role": "assistant", "content": (text or None) if calls else text}
        return cls({**item, "tool_calls": list(calls)} if calls else item, usage, model)

    @classmethod
    def result(cls, call_id: str, content: object) -> RawMessage:
        """Return a tool's chat message."""
        return cls({"role": "tool", "tool_call_id": call_id, "content": content})


@dataclass(frozen=True, slots=True)
class RawConversation:
    """A conversation as recorded."""

    message_format: MessageFormat
    messages: Sequence[RawMessage]
    name: str = ""
    """The name inside the file; if empty, a file of several conversations numbers them."""
    system_prompt: str = ""
    """The prompt, if it is recorded outside of the messages."""
    tools: Sequence[Item] = ()
    """Tool definitions, as recorded."""
    cut: Sequence[str] = ()
    """One sentence per record that the recording program shortened."""
    submission: str = ""
    """The patch with which the agent ended its task."""
    model: str = ""
    """The model of the messages that name none."""


def is_of_answer(item: Item) -> bool:
    """Return whether a message or Responses item is the model's; an answer may have several items."""
    if "role" in item:
        return role_of(item) == "assistant"
    return not kind_of(item).endswith("_output")


def has_answer(messages: Sequence[RawMessage]) -> bool:
    """Return whether the messages include one of the model."""
    return any(is_of_answer(message.item) for message in messages)


def reported_usage(usage: Any) -> Usage | None:
    """Return the tokens in a provider's usage object or answer; None if it has no counts."""
    with contextlib.suppress(ValueError):
        return usage_of(usage)
    return None


def without_usage(messages: Sequence[RawMessage]) -> list[RawMessage]:
    """Return the messages without usage, which an earlier context has counted."""
    return [message._replace(usage=None) for message in messages]


def tool_use(call_id: str, name: str, arguments: Item) -> Item:
    """Return a tool call as a block of an Anthropic message."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def tool_result(call_id: str, content: object, *, is_error: object = False) -> Item:
    """Return a tool's result as a block of an Anthropic message."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {**block, "is_error": True} if is_error else block


def chat_call(call_id: str, name: str, arguments: object) -> Item:
    """Return a tool call of a chat message; arguments that are not text are encoded as JSON."""
    function = {"name": name, "arguments": as_string_or_json(arguments or {})}
    return {"id": call_id, "type": "function", "function": function}


def chat_calls(recorded: Iterable[JsonRecord], arguments: str = "arguments") -> list[Item]:
    """Return recorded calls as calls of a chat message; their fields may be in a `function`."""
    return [
        chat_call(call.text("id") or call.text("tool_call_id"), of.text("name"), of.get(arguments))
        for call in recorded
        for of in [call.record("function") or call]
    ]


def with_commands(
    messages: Iterable[JsonRecord], answer_of: Callable[[JsonRecord, str], tuple[RawMessage, str]]
) -> Iterator[RawMessage]:
    """Yield the chat messages of an agent that may write its calls into its text.

    `answer_of` takes an answer and the id for such a call, and returns the id if it has the call: then
    the user's next message is the result.
    """
    waiting = ""
    for number, message in enumerate(messages):
        role, content = role_of(message), message.get("content")
        if role == "assistant":
            answer, waiting = answer_of(message, f"call_{number}")
            yield answer
        elif role == "tool":
            ids = as_list(message.get("tool_call_ids")) or [message.get("tool_call_id")]
            yield RawMessage.result(as_text(ids[0]), content)
        elif role == "user" and waiting:
            yield RawMessage.result(waiting, content)
            waiting = ""
        else:
            yield RawMessage.user(content, role)
