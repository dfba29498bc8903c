"""What we add to a host's list, in the format of that list: tool definitions, results, text. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.reader import FORMATS, Adapter, adapter_of

REASONING = ("thinking", "redacted_thinking")
"""Anthropic: the types of blocks that have to open an answer."""
MODEL_ROLES = {"assistant", "model"}
RESULT_ROLES = {None, "user", "tool", "function"}
"""The roles of messages that can have tool results."""
RESULTS = {"toolResult", "functionResponse", "function_response"}
"""Bedrock, Gemini: the keys of blocks that are results."""


def tool_definition(
    format_name: str, name: str, description: str, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a tool's definition for `tools=...`, in the format of that name.

    `parameters` is the JSON Schema of the arguments.

    Raises:
        ValueError: there is no format of that name.
    """
    for adapter in FORMATS:
        if format_name == adapter.NAME:
            return adapter.tool_definition(name, description, parameters)
    known = ", ".join(repr(adapter.NAME) for adapter in FORMATS)
    raise ValueError(f"no tool format {format_name!r}; there are {known}")


def tool_results(items: Sequence[Item], results: Sequence[ToolResult]) -> list[Item]:
    """Return the items to append to a list so that every call has its result.

    Raises:
        MessagesError: the list is in no known format.
    """
    return adapter_of(items)[0].tool_results(results) if results else []


def appended(items: Sequence[Item], added: Sequence[Item]) -> list[Item]:
    """Return a list with tool results at its end, joined to the results there where the format demands it.

    For OpenAI this is `items + added`. Other APIs take all results of one answer in one user
    message, before anything else in it.

    Raises:
        MessagesError: `added` is in no known format.
    """
    key = adapter_of(added)[0].BLOCKS_KEY
    last = items[-1] if items else {}
    ending = last.get(key)
    if last.get("role") not in RESULT_ROLES or not isinstance(ending, list) or len(added) != 1:
        return [*items, *added]
    blocks = [*ending, *added[0][key]]
    blocks.sort(key=lambda block: block.get("type") != "tool_result" and not RESULTS & block.keys())
    return [*items[:-1], {**last, key: blocks}]


def alternating(items: list[Item], adapter: Adapter, added: Collection[int]) -> list[Item]:
    """Return a list in which an added message of the model is joined to a neighbour of the model.

    `added` are the places of ours. Reasoning still opens the joined message: Anthropic joins two
    itself, and then refuses an answer whose thinking does not come first.
    """
    if not (blocks_at := adapter.BLOCKS_KEY):
        return items
    joined = list(items)
    for at in sorted({*added, *(place + 1 for place in added)}):
        number = at - len(items) + len(joined)
        last, *following = joined[max(0, number - 1) : number + 1]
        if not following or not {following[0].get("role"), last.get("role")} <= MODEL_ROLES:
            continue
        [item] = following
        blocks = _blocks(item.get(blocks_at))
        start = len([*itertools.takewhile(_is_reasoning, blocks)])
        blocks = [*blocks[:start], *_blocks(last.get(blocks_at)), *blocks[start:]]
        joined[number - 1 : number + 1] = [{**item, blocks_at: blocks}]
    return joined


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content or []


def _is_reasoning(block: Any) -> bool:
    return block.get("type") in REASONING or "reasoningContent" in block or block.get("thought")
