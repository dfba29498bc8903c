"""The adapter for OpenAI Responses. Pure, without the SDK.

One answer of the model is several items in a row (text, reasoning, calls) and becomes one message.
A list that was read is written back by `conversation.write`.
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
    is_text_block,
    is_typed,
    text_of,
    without_envelope,
)
from hippocampus.formats.images import image_tokens, without_images
from hippocampus.formats.tool_calls import says_it_failed

NAME = "responses"
PROVIDER, BLOCKS_KEY = "openai", ""
ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}
CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
ANSWERS = ("_output", "_approval_response")
"""The endings of the types of items that answer one of the model's items."""
CALL_IDS = {"mcp_approval_request": "id", "mcp_approval_response": "approval_request_id"}
"""The key of an item's call id, for the types where it is not `call_id`."""
OUTPUTS = {"function_call_output", "custom_tool_call_output"}


def recognises(item: Item) -> bool:
    """Return whether an item can only be of the Responses format."""
    if "type" in item and ("role" in item or not isinstance(item.get("content"), str)):
        return True
    content = item.get("content")
    blocks = content if isinstance(content, list) else ()
    return any(
        isinstance(block, dict) and str(block.get("type")).startswith(("input_", "output_"))
        for block in blocks
    )


def accepts(item: Item) -> bool:
    """Return whether an item can be of the Responses format."""
    return (item.get("role") in ROLES or "type" in item) and is_typed(item.get("content"))


def read(items: Sequence[Item]) -> list[Message]:
    """Read Responses items; adjacent items of one answer become one message."""
    messages: list[Message] = []
    start = 0
    while start < len(items):
        end = start + 1
        if _role(items[start]) == "assistant":
            while end < len(items) and _role(items[end]) == "assistant":
                end += 1
        group = tuple(items[start:end])
        parts = tuple(part for at, item in enumerate(group) for part in _parts(item, at))
        messages.append(Message(_role(group[0]), parts, group))
        start = end
    return messages


def tool_definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition."""
    return {
        "type": "function", "name": name, "description": description, "parameters": parameters,
    }  # fmt: skip


def tool_results(results: Sequence[ToolResult]) -> list[Item]:
    """Return a `function_call_output` item per result; the format has no field for errors."""
    return [
        {
            "type": "function_call_output",
            "call_id": result.call_id,
            "output": result.content({"type": "input_text", "text": result.text}),
        }
        for result in results
    ]


def words(role: Literal["user", "assistant"], text: str) -> Item:
    """Return a message of one text, typed: without its calls a list is recognised by it."""
    return {"type": "message", "role": role, "content": text}


def _role(item: Item) -> Role:
    if "role" in item:
        return ROLES[item["role"]]
    return "tool" if str(item.get("type")).endswith(ANSWERS) else "assistant"


def _parts(item: Item, at: int) -> Iterator[Part]:
    kind = item.get("type", "message")
    if kind == "message":
        yield from _content(item.get("content"), (at, "content"))
    elif kind in CALLS:
        field = CALLS[kind]
        yield Part(
            "call",
            str(item.get(field) or ""),
            (at, field),
            tool=str(item.get("name", "")),
            call_id=str(item.get("call_id", "")),
        )
    elif kind in OUTPUTS:
        output, path = item.get("output"), (at, "output")
        text, called = without_envelope(text_of(output)), str(item.get("call_id", ""))
        yield Part("result", text, path, call_id=called, is_error=says_it_failed(text))
        blocks = _content(output, path) if isinstance(output, list) else ()
        yield from (part for part in blocks if part.kind == "image")
    elif kind == "reasoning":
        yield Part("opaque", text_of(item.get("content")), (at,))
    else:  # never changed, with the id of the call that it makes or answers
        bare, tokens = without_images(item)
        yield Part(
            "opaque",
            json_text.written(bare),
            (at,),
            call_id=str(item.get(CALL_IDS.get(str(kind), "call_id")) or ""),
            image_tokens=tokens,
            answers=str(kind).endswith(ANSWERS),
        )


def _content(content: object, path: ItemPath) -> Iterator[Part]:
    if isinstance(content, str):
        yield Part("text", content, path)
        return
    for number, block in enumerate(content if isinstance(content, list) else ()):
        if is_text_block(block):
            yield Part("text", block["text"], (*path, number, "text"))
        elif isinstance(block, dict) and block.get("type") == "input_image":
            yield Part("image", "", (*path, number), image_tokens=image_tokens(block))
        else:
            yield Part("opaque", "", (*path, number))
