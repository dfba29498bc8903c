"""The adapter for OpenAI Chat Completions. Pure, without the SDK.

One list item is one message; arguments are JSON text, or an object as frameworks have them. A list that was read is written back by `conversation.write`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from hippocampus.formats.conversation import (
    Item,
    Message,
    Part,
    Role,
    ToolResult,
    is_text_block,
    is_typed,
    text_of,
    without_envelope,
)
from hippocampus.formats.images import image_tokens
from hippocampus.formats.tool_calls import says_it_failed

NAME = "openai"
PROVIDER, BLOCKS_KEY = "openai", ""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}


def recognises(item: Item) -> bool:
    """Return whether an item can only be a chat message; many items are valid in every format."""
    if item.get("role") in ("tool", "function") or "tool_calls" in item or "function_call" in item:
        return True
    kinds = {block.get("type") for block in _blocks(item.get("content"))}
    return bool(kinds & {"image_url", "input_audio", "refusal"})


def accepts(item: Item) -> bool:
    """Return whether an item can be a chat message."""
    role = item.get("role")
    has_words = "content" in item or role in ("assistant", "tool", "function")
    return role in ROLES and has_words and is_typed(item.get("content"))


def read(items: Sequence[Item]) -> list[Message]:
    """Read chat messages, one per item."""
    return [Message(ROLES[item["role"]], tuple(_parts(item)), (item,)) for item in items]


def tool_definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def tool_results(results: Sequence[ToolResult]) -> list[Item]:
    """Return a `tool` message per result; the format has no field for errors.

    Images, which such a message cannot hold, follow in one of the user.
    """
    written: list[Item] = [
        {
            "role": "tool",
            "tool_call_id": result.call_id,
            "content": result.text or ("an image follows" if result.images else ""),
        }
        for result in results
    ]
    images = [image for result in results for image in result.images]
    return [*written, {"role": "user", "content": images}] if images else written


def words(role: Literal["user", "assistant"], text: str) -> Item:
    """Return a message of one text."""
    return {"role": role, "content": text}


def _parts(item: Item) -> Iterator[Part]:
    if ROLES[item["role"]] == "tool":
        yield from _result(item)
        return
    content = item.get("content")
    if isinstance(content, str):
        yield Part("text", content, (0, "content"))
    for number, block in enumerate(_blocks(content)):
        yield _block(block, number)
    for number, call in enumerate(item.get("tool_calls") or ()):
        kind = "custom" if "custom" in call else "function"
        field = "input" if kind == "custom" else "arguments"
        function = call.get(kind) or {}
        given = function.get(field) or ""
        yield Part(
            "call",
            given if isinstance(given, str) else json.dumps(given, ensure_ascii=False),
            (0, "tool_calls", number, kind, field),
            tool=str(function.get("name", "")),
            call_id=str(call.get("id", "")),
        )
    if legacy := item.get("function_call"):
        path = (0, "function_call", "arguments")
        yield Part("call", str(legacy.get("arguments", "")), path, tool=str(legacy.get("name")))


def _result(item: Item) -> Iterator[Part]:
    content = item.get("content")
    text = without_envelope(text_of(content))
    yield Part(
        "result",
        text,
        (0, "content"),
        is_error=says_it_failed(text),
        tool=str(item.get("name") or ""),
        call_id=str(item.get("tool_call_id") or ""),
    )
    for number, block in enumerate(_blocks(content)):
        if not is_text_block(block):
            yield _block(block, number)


def _block(block: Item, number: int) -> Part:
    if is_text_block(block):
        return Part("text", block["text"], (0, "content", number, "text"))
    if block.get("type") == "image_url":
        return Part("image", "", (0, "content", number), image_tokens=image_tokens(block))
    return Part("opaque", str(block.get("refusal") or ""), (0, "content", number))


def _blocks(content: object) -> list[Item]:
    """Return the content's blocks; a string or nothing has none."""
    if isinstance(content, list) and all(isinstance(block, dict) for block in content):
        return content
    return []
