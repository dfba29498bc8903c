"""The adapter for Amazon Bedrock Converse. Pure, without the SDK.

One list item is one message; its blocks have no `type` but one key that names what they are. A list
that was read is written back by `conversation.write`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from hippocampus.formats.conversation import (
    Item,
    ItemPath,
    Message,
    Part,
    Role,
    ToolResult,
    is_image_block,
    is_text_block,
    text_of,
)
from hippocampus.formats.images import pixel_tokens, size_of

NAME = "bedrock"
PROVIDER, BLOCKS_KEY = "aws.bedrock", "content"
ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
BLOCKS = {
    "audio", "cachePoint", "citationsContent", "document", "guardContent", "image", "reasoningContent",
    "searchResult", "text", "toolResult", "toolUse", "video",
}  # fmt: skip
"""The keys of blocks."""


def recognises(item: Item) -> bool:
    """Return whether an item can only be a Converse message: its blocks have one of its keys, and no type."""
    return accepts(item) and any(block.keys() & BLOCKS for block in item["content"])


def accepts(item: Item) -> bool:
    """Return whether an item can be a Converse message."""
    content = item.get("content")
    return (
        item.get("role") in ROLES
        and isinstance(content, list)
        and all(isinstance(block, dict) and "type" not in block for block in content)
    )


def read(items: Sequence[Item]) -> list[Message]:
    """Read Converse messages, one per item."""
    return [Message(ROLES[item["role"]], tuple(_parts(item)), (item,)) for item in items]


def tool_definition(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool's definition, for `toolConfig["tools"]`."""
    schema = {"json": parameters}
    return {"toolSpec": {"name": name, "description": description, "inputSchema": schema}}


def tool_results(results: Sequence[ToolResult]) -> list[Item]:
    """Return one user message with a block per result."""
    blocks: list[Item] = []
    for result in results:
        texts = [] if result.images and not result.text else [{"text": result.text}]
        own = {"toolUseId": result.call_id, "content": [*texts, *result.images]}
        status = "error" if result.is_error else "success"
        blocks.append({"toolResult": {**own, "status": status}})
    return [{"role": "user", "content": blocks}]


def words(role: Literal["user", "assistant"], text: str) -> Item:
    """Return a message of one text."""
    return {"role": role, "content": [{"text": text}]}


def _parts(item: Item) -> Iterator[Part]:
    for number, block in enumerate(item["content"]):
        path: ItemPath = (0, "content", number)
        match block:
            case {"text": str(text)}:
                yield Part("text", text, (*path, "text"))
            case {"toolUse": dict(use)}:
                yield Part(
                    "call",
                    json.dumps(use.get("input") or {}, ensure_ascii=False),
                    (*path, "toolUse", "input"),
                    tool=str(use.get("name", "")),
                    call_id=str(use.get("toolUseId", "")),
                )
            case {"toolResult": dict(result)}:
                yield from _result(result, (*path, "toolResult", "content"))
            case {"image": dict(image)}:
                yield _image(image, path)
            case _:  # cachePoint, reasoningContent, document, guardContent, ...
                yield Part("opaque", "", path)


def _result(result: Item, path: ItemPath) -> Iterator[Part]:
    """Yield a result, of a text or of blocks, and its images.

    One with a document or a video is opaque but for its one text.
    """
    content = result.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [number for number, block in enumerate(blocks) if is_text_block(block)]
    is_read = all(is_text_block(block) or is_image_block(block) for block in blocks)
    is_one_text = len(texts) == 1 and "text" in blocks[texts[0]]
    is_one_text = is_one_text and (len(blocks) == 1 or not is_read)
    yield Part(
        "result" if is_read or is_one_text else "opaque",
        text_of(blocks),
        (*path, texts[0], "text") if is_one_text else path,
        call_id=str(result.get("toolUseId", "")),
        is_error=result.get("status") == "error",
        answers=True,
    )
    for number, block in enumerate(blocks):
        if isinstance(block, dict) and isinstance(block.get("image"), dict):
            yield _image(block["image"], (*path, number))


def _image(image: Item, path: ItemPath) -> Part:
    source = image.get("source")
    data = source.get("bytes") if isinstance(source, dict) else None
    return Part("image", "", path, image_tokens=pixel_tokens(size_of(data)))
