"""The adapter for Gemini's `contents`, in the spelling of the API or of its Python SDK. Pure.

One list item is one content of parts. Calls and results that carry no id are matched by the name of
the tool and their order. A list that was read is written back by `conversation.write`.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from hippocampus.formats.conversation import Item, ItemPath, Message, Part, Role, ToolResult
from hippocampus.formats.images import size_of

NAME = "gemini"
PROVIDER, BLOCKS_KEY = "gcp.gemini", "parts"
ROLES: dict[str | None, Role] = {
    None: "user",
    "user": "user",
    "model": "assistant",
    "function": "tool",
    "tool": "tool",
}
CALLS = ("functionCall", "function_call")
RESULTS = ("functionResponse", "function_response")
MEDIA = ("inlineData", "inline_data")
TEXTS = ("output", "result", "error")
"""The keys of a response that hold its whole text where there is no other key."""
BY_ORDER = "#"
"""Begins the id of a call that has none: `#name#2` is the third of that name in its content."""
TILE_PIXELS, TILE_TOKENS = 768, 258
"""An image is cut into tiles of 768 pixels, 258 tokens each."""


def recognises(item: Item) -> bool:
    """Return whether an item can only be of `contents`: it has `parts`."""
    return accepts(item)


def accepts(item: Item) -> bool:
    """Return whether an item can be of `contents`."""
    parts = item.get("parts")
    return (
        item.get("role") in ROLES
        and isinstance(parts, list)
        and all(isinstance(part, dict) and "part_kind" not in part for part in parts)
    )


def read(items: Sequence[Item]) -> list[Message]:
    """Read contents, one message per content."""
    return [Message(ROLES[item.get("role")], tuple(_parts(item)), (item,)) for item in items]


def tool_definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition, for `config["tools"]`."""
    declared = {"name": name, "description": description, "parameters": parameters}
    return {"functionDeclarations": [declared]}


def tool_results(results: Sequence[ToolResult]) -> list[Item]:
    """Return one content with a part per result, and then their images."""
    parts: list[Item] = []
    for call_id, text, is_error, tool, _ in results:
        own = {} if call_id.startswith(BY_ORDER) else {"id": call_id}
        response = {"error" if is_error else "output": text}
        parts.append({"functionResponse": {**own, "name": tool, "response": response}})
    parts += [image for result in results for image in result.images]
    return [{"role": "user", "parts": parts}]


def words(role: Literal["user", "assistant"], text: str) -> Item:
    """Return a message of one text."""
    return {"role": "model" if role == "assistant" else role, "parts": [{"text": text}]}


def _parts(item: Item) -> Iterator[Part]:
    seen: Counter[str] = Counter()
    for number, part in enumerate(item["parts"]):
        path: ItemPath = (0, "parts", number)
        call_key, call = _of(part, CALLS)
        result_key, result = _of(part, RESULTS)
        _, media = _of(part, MEDIA)
        if call_key:
            name = str(call.get("name", ""))
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            own = _call_id(call, f"call {name}", seen)
            yield Part("call", arguments, (*path, call_key, "args"), tool=name, call_id=own)
        elif result_key:
            yield _result(result, (*path, result_key, "response"), seen)
        elif media:
            is_image = str(media.get("mimeType") or media.get("mime_type")).startswith("image/")
            width, height = size_of(media.get("data")) or (TILE_PIXELS, TILE_PIXELS)
            tiles = math.ceil(width / TILE_PIXELS) * math.ceil(height / TILE_PIXELS)
            yield Part("image", "", path, image_tokens=TILE_TOKENS * tiles * is_image)
        elif isinstance(part.get("text"), str):
            yield Part("opaque" if part.get("thought") else "text", part["text"], (*path, "text"))
        else:  # executable code, file data, ...
            yield Part("opaque", "", path)


def _result(result: Item, path: ItemPath, seen: Counter[str]) -> Part:
    name, response = str(result.get("name", "")), result.get("response")
    kept = response if isinstance(response, dict) else {}
    [only] = kept if len(kept) == 1 else [None]
    text = kept.get(only) if only in TEXTS else None
    return Part(
        "result",
        text if isinstance(text, str) else json.dumps(response or {}, ensure_ascii=False),
        (*path, only) if isinstance(text, str) and only else path,
        tool=name,
        call_id=_call_id(result, f"result {name}", seen),
        is_error="error" in kept,
    )


def _call_id(part: Item, key: str, seen: Counter[str]) -> str:
    """Return the id of a call, else one by the tool's name and its order in the content."""
    seen[key] += 1
    return str(part.get("id") or f"{BY_ORDER}{part.get('name', '')}{BY_ORDER}{seen[key] - 1}")


def _of(part: Item, keys: Sequence[str]) -> tuple[str, Item]:
    """Return what a part has under one of some keys, and the key."""
    return next(((key, part[key]) for key in keys if isinstance(part.get(key), dict)), ("", {}))
