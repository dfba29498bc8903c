"""A text of ours behind a message: a block of its own where the message has blocks, else a message.

Pure. What stands in the message itself stays as it is, and so does its place in the list.
"""

from __future__ import annotations

from typing import Any

from hippocampus.formats import anthropic, openai_responses
from hippocampus.formats.conversation import Item, Message, Part
from hippocampus.formats.reader import Adapter


def with_text(message: Message, text: str, adapter: Adapter) -> Message | None:
    """Return a message of the user or of a tool with a text behind it; behind others none may stand."""
    if message.role not in ("user", "tool"):
        return None
    last = message.raw[-1]
    content = last.get("content")
    in_blocks = isinstance(content, list) and message.role == "user"
    if adapter.NAME == anthropic.NAME or in_blocks:
        kind = "input_text" if adapter.NAME == openai_responses.NAME else "text"
        blocks = [*_blocks(content), {"type": kind, "text": text}]
        return adapter.read([*message.raw[:-1], {**last, "content": blocks}])[0]
    item: Item = {"role": "user", "content": text}
    behind = Part("text", text, (len(message.raw), "content"))
    return Message(message.role, (*message.parts, behind), (*message.raw, item))


def _blocks(content: Any) -> list[Any]:
    if isinstance(content, list):
        return content
    return [{"type": "text", "text": content}] if content else []
