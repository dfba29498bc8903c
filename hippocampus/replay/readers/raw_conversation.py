"""What the reader of one format returns: conversations as recorded, not yet checked or completed.

No format is known here and no file is opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hippocampus.formats.conversation import Item
from hippocampus.formats.usage import Usage

MessageFormat = Literal["chat", "responses", "anthropic"]


class RawMessage(NamedTuple):
    """One item of a provider's message list, with what was recorded next to it."""

    item: Item
    usage: Usage | None = None
    """Tokens that the provider reported for the call that this message answers."""
    model: str = ""
    at: str = ""
    """When it was recorded, as ISO 8601 text."""


@dataclass(frozen=True, slots=True)
class RawConversation:
    """One conversation as a reader found it."""

    message_format: MessageFormat
    messages: Sequence[RawMessage]
    name: str = ""
    """Its name inside the file; empty: its number, where the file holds several."""
    system_prompt: str = ""
    """Recorded outside of the messages."""
    tools: Sequence[Item] = ()
    """Tool definitions, as recorded."""
    cut: Sequence[str] = ()
    """One sentence for each record that the recording program shortened."""


def has_answer(messages: Sequence[RawMessage]) -> bool:
    """Return whether an assistant message is among them."""
    return any(message.item.get("role") == "assistant" for message in messages)


def without_usage(messages: Sequence[RawMessage]) -> list[RawMessage]:
    """Return the messages without usage: they are kept from an earlier context that has it."""
    return [message._replace(usage=None) for message in messages]


def chat_call(call_id: str, name: str, arguments: object) -> Item:
    """Return a tool call of a chat message; arguments that are not text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def chat_answer(text: object, calls: Sequence[Item]) -> Item:
    """Return an assistant's chat message."""
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": list(calls)}


def chat_result(call_id: str, content: object) -> Item:
    """Return a tool's chat message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}
