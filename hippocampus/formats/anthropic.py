"""The adapter for Anthropic Messages. Pure, without the SDK.

One list item is one message; tool results and the user's text may share one. A list that was read
is written back by `conversation.write`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from hippocampus.formats import json_text
from hippocampus.formats.conversation import (
    Item,
    ItemPath,
    Message,
    Part,
    Role,
    ToolResult,
    is_typed,
    text_of,
    without_envelope,
)
from hippocampus.formats.images import image_tokens

NAME = "anthropic"
PROVIDER, BLOCKS_KEY = "anthropic", "content"
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
    """Return whether an item can only be an Anthropic message."""
    content = item.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(isinstance(block, dict) and block.get("type") in OWN_BLOCKS for block in blocks)


def accepts(item: Item) -> bool:
    """Return whether an item can be an Anthropic message."""
    return item.get("role") in ROLES and is_typed(item.get("content"))


def read(items: Sequence[Item]) -> list[Message]:
    """Read Anthropic messages, one per item."""
    return [Message(ROLES[item["role"]], tuple(_parts(item)), (item,)) for item in items]


def tool_definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition."""
    return {"name": name, "description": description, "input_schema": parameters}


def tool_results(results: Sequence[ToolResult]) -> list[Item]:
    """Return one user message with a block per result."""
    blocks: list[Item] = []
    for result in results:
        content = result.content({"type": "text", "text": result.text})
        block: Item = {"type": "tool_result", "tool_use_id": result.call_id, "content": content}
        blocks.append({**block, "is_error": True} if result.is_error else block)
    return [{"role": "user", "content": blocks}]


def words(role: Literal["user", "assistant"], text: str) -> Item:
    """Return a message of one text."""
    return {"role": role, "content": text}


def _parts(item: Item) -> Iterator[Part]:
    content = item.get("content")
    if isinstance(content, str):
        yield Part("text", content, (0, "content"))
        return
    for number, block in enumerate(content or ()):
        path: ItemPath = (0, "content", number)
        match block.get("type"):
            case "text":
                yield Part("text", str(block.get("text", "")), (*path, "text"))
            case "tool_use":
                yield Part(
                    "call",
                    json_text.written(block.get("input") or {}),
                    (*path, "input"),
                    tool=str(block.get("name", "")),
                    call_id=str(block.get("id", "")),
                )
            case "tool_result":
                yield from _result(block, path)
            case "image":
                yield Part("image", "", path, image_tokens=image_tokens(block))
            case "thinking":
                yield Part("opaque", str(block.get("thinking", "")), path)
            case "document" | "redacted_thinking":
                yield Part("opaque", text_of(block.get("content")), path)
            case kind:  # never changed, with the id of the server tool's call if it has one
                is_call = str(kind).endswith("tool_use")
                call_id = str(block.get("id" if is_call else "tool_use_id") or "")
                answers, text = "tool_use_id" in block, json_text.written(block)
                yield Part("opaque", text, path, call_id=call_id, answers=answers)


def _result(block: Item, path: ItemPath) -> Iterator[Part]:
    content = block.get("content")
    yield Part(
        "result",
        without_envelope(text_of(content)),
        (*path, "content"),
        call_id=str(block.get("tool_use_id", "")),
        is_error=bool(block.get("is_error")),
    )
    for number, inner in enumerate(content if isinstance(content, list) else ()):
        if inner.get("type") == "image":
            yield Part("image", "", (*path, "content", number), image_tokens=image_tokens(inner))
