"""What the reader of one format returns: conversations as recorded, not yet repaired.

No format is known here and no file is opened.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from hippocampus.replay.recording import Usage

Message = dict[str, Any]
Kind = Literal["chat", "responses", "anthropic"]


class Step(NamedTuple):
    """One message of a provider's list, with what was recorded beside it."""

    message: Message
    usage: Usage | None = None
    """What the provider reported for the call that this message answers."""
    model: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """One conversation as a reader found it."""

    kind: Kind
    steps: Sequence[Step]
    part: str = ""
    """Its name inside the file; empty: its number, where the file holds several."""


def has_answer(steps: Sequence[Step]) -> bool:
    """Say whether the model says something in these steps."""
    return any(step.message.get("role") == "assistant" for step in steps)


def chat_call(call_id: str, name: str, arguments: object) -> Message:
    """Return a tool call of a chat message; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": text}}


def chat_answer(text: object, calls: Sequence[Message]) -> Message:
    """Return an assistant's chat message."""
    if not calls:
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": text or None, "tool_calls": list(calls)}


def chat_result(call_id: str, content: object) -> Message:
    """Return a tool's chat message."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}
