"""Cache marks in a provider's items: those of a host, and copies of items with one more. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from hippocampus.formats.conversation import Item, ItemPath

ANTHROPIC, OPENAI = "cache_control", "prompt_cache_breakpoint"
"""The key of a mark in a block of content."""
NEW_MARKS: dict[str, dict[str, Any]] = {
    ANTHROPIC: {"type": "ephemeral"},
    OPENAI: {"mode": "explicit"},
}
MARKABLE = {
    ANTHROPIC: ("text", "image", "tool_use", "tool_result"),
    OPENAI: ("text", "input_text", "input_image", "input_file", "image_url", "file"),
}
"""Types of blocks that get one; thinking takes none, and of unknown types nothing is known."""


class HostMark(NamedTuple):
    """A mark that a list carries."""

    item: int
    value: Any


def marks_in(items: Sequence[Item], key: str) -> list[HostMark]:
    """Return the marks of a list in their order."""
    return [
        HostMark(at, block[key])
        for at, item in enumerate(items)
        for block in _blocks_of(item)
        if block.get(key)
    ]


def _blocks_of(item: Any) -> Iterator[dict[str, Any]]:
    """Yield the content blocks of an item, and those inside of its tool results."""
    for field in ("content", "output") if isinstance(item, dict) else ():
        inner = item.get(field)
        for block in inner if isinstance(inner, list) else ():
            if isinstance(block, dict):
                yield block
                yield from _blocks_of(block)


def with_mark(item: Item, path: ItemPath, key: str, value: Any) -> Item | None:
    """Return a copy of an item with a mark at the block of a path; None where the block takes none.

    A text outside of a block takes none: as a block it would be another item.
    """
    field = path[0] if path else ""
    if field not in ("content", "output"):
        return None
    blocks = item.get(field)
    if not isinstance(blocks, list) or not blocks:
        return None
    number = path[1] if len(path) > 1 and isinstance(path[1], int) else len(blocks) - 1
    block = blocks[number]
    if not isinstance(block, dict) or block.get(key) or block.get("type") not in MARKABLE[key]:
        return None
    if block["type"] == "text" and not block.get("text"):
        return None
    return {**item, field: [*blocks[:number], {**block, key: value}, *blocks[number + 1 :]]}
