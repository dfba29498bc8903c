"""Anthropic Messages, read into the neutral form. Pure, without the SDK.

One list item is one message; tool results and the user's words may share one. Writing needs
nothing here: see `conversation.write`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from hippocampus.formats.content import image_tokens, text_of, without_envelope
from hippocampus.formats.conversation import Item, Message, Part, Place, Role

NAME = "anthropic"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
OWN_BLOCKS = {
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "server_tool_use",
    "web_search_tool_result",
}


def recognises(item: Item) -> bool:
    """Say whether an item can only be an Anthropic message."""
    content = item.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") in OWN_BLOCKS for block in blocks)


def accepts(item: Item) -> bool:
    """Say whether an item can be an Anthropic message at all."""
    return item.get("role") in ROLES


def read(items: Sequence[Item]) -> list[Message]:
    """Read Anthropic messages, one for each item."""
    return [Message(ROLES[item["role"]], tuple(_parts(item)), (item,)) for item in items]


def group_start(_items: Sequence[Item], index: int) -> int:
    """Return where the message that holds the item at `index` starts: there."""
    return index


def _parts(item: Item) -> Iterator[Part]:
    content = item.get("content")
    if isinstance(content, str):
        yield Part("text", content, (0, "content"))
        return
    for number, block in enumerate(content or ()):
        yield from _block(block, (0, "content", number))


def _block(block: Item, place: Place) -> Iterator[Part]:
    match block.get("type"):
        case "text":
            yield Part("text", str(block.get("text", "")), (*place, "text"))
        case "tool_use":
            yield _call(block, place)
        case "tool_result":
            yield from _result(block, place)
        case "image":
            yield Part("image", "", place, image_tokens=image_tokens(block))
        case "thinking":
            yield Part("opaque", str(block.get("thinking", "")), place)
        case "document" | "redacted_thinking":
            yield Part("opaque", text_of(block.get("content")), place)
        case _:
            yield _opaque(block, place)


def _opaque(block: Item, place: Place) -> Part:
    """Return a block that stays as it is, with the call of a server's tool that it is or answers."""
    kind = str(block.get("type"))
    call_id = block.get("id") if kind.endswith("tool_use") else block.get("tool_use_id")
    told = json.dumps(block, ensure_ascii=False)
    return Part("opaque", told, place, call_id=str(call_id or ""), answers="tool_use_id" in block)


def _call(block: Item, place: Place) -> Part:
    return Part(
        "call",
        json.dumps(block.get("input") or {}, ensure_ascii=False),
        (*place, "input"),
        tool=str(block.get("name", "")),
        call_id=str(block.get("id", "")),
    )


def _result(block: Item, place: Place) -> Iterator[Part]:
    content = block.get("content")
    yield Part(
        "result",
        without_envelope(text_of(content)),
        (*place, "content"),
        call_id=str(block.get("tool_use_id", "")),
        is_error=bool(block.get("is_error")),
    )
    for number, inner in enumerate(content if isinstance(content, list) else ()):
        if inner.get("type") == "image":
            inside = (*place, "content", number)
            yield Part("image", "", inside, image_tokens=image_tokens(inner))
