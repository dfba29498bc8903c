"""What we add to a host's list, in the format of that list: tool definitions, results, text.

Pure. Each adapter writes its own items; nothing is stored or decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.reader import FORMATS, Adapter, adapter_of

ALTERNATING = {"bedrock": "content", "gemini": "parts"}
"""The formats in which no message of the model may follow another, and where these have blocks."""
MODEL_ROLES = ("assistant", "model")


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
    known = ", ".join(repr(each.NAME) for each in FORMATS)
    raise ValueError(f"no tool format {format_name!r}; there are {known}")


def tool_results(items: Sequence[Item], results: Sequence[ToolResult]) -> list[Item]:
    """Return the items to append to a list so that each call has its result.

    Raises:
        MessagesError: the list is in no known format.

    """
    return adapter_of(items)[0].tool_results(results) if results else []


def appended(items: Sequence[Item], added: Sequence[Item]) -> list[Item]:
    """Return a list with tool results at its end, joined to the results there where the format demands it.

    For OpenAI this is `items + added`. Anthropic takes all results of one answer in one user
    message, before anything else in it.

    Raises:
        MessagesError: `added` is in no known format.

    """
    return adapter_of(added)[0].appended(items, added)


def alternating(items: Sequence[Item], adapter: Adapter) -> list[Item]:
    """Return a list in which messages of the model in a row are one, where its format wants that.

    Reasoning still opens the joined message.
    """
    blocks_at = ALTERNATING.get(adapter.NAME)
    if blocks_at is None:
        return list(items)
    joined: list[Item] = []
    for item in items:
        last = joined[-1] if joined else {}
        if item.get("role") not in MODEL_ROLES or last.get("role") not in MODEL_ROLES:
            joined.append(item)
            continue
        blocks = item.get(blocks_at) or []
        is_answer = ["reasoningContent" not in each and not each.get("thought") for each in blocks]
        start = [*is_answer, True].index(True)
        blocks = [*blocks[:start], *(last.get(blocks_at) or []), *blocks[start:]]
        joined[-1] = {**item, blocks_at: blocks}
    return joined
