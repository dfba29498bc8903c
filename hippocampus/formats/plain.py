"""A host's message list as a plain list of dicts, with the SDK objects in it dumped.

Messages of agent frameworks, which no provider takes, are recognised and refused by name; no
framework is imported. Independent of the format; nothing that the host holds is changed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hippocampus.errors import MessagesError
from hippocampus.formats.conversation import Item

AS_DICTS = "send the provider's list of dicts (for an SDK object, its `model_dump()`)"


def listed(items: Iterable[Any]) -> list[Any]:
    """Return the items of any iterable as a list.

    Raises:
        MessagesError: it is not a list of messages.
    """
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise MessagesError(
            f"messages is of the type {type(items).__name__}, not a list; {AS_DICTS}"
        )
    return list(items)


def plain(items: list[Any], known: int = 0) -> list[Item]:
    """Return a list with every object that has a `model_dump` replaced by its result.

    Fields that are None are left out, since no API accepts them back. An item without such objects
    is returned as the same object, and a list without any as the same list. The first `known` items
    are known to be such.

    Raises:
        MessagesError: one of them is a message of a framework; the text names its adapter.
    """
    if not _has_objects(items[known:]):
        return items
    for number, item in enumerate(items):
        adapter = framework_of(item)
        if adapter:
            raise MessagesError(refusal(number, adapter))
    return [_plain(item) for item in items]


def given_back(view: list[Item], dumped: Sequence[Item], own: Sequence[Any]) -> list[Any]:
    """Return a view with the host's objects in place of the dicts that were dumped from them."""
    if dumped is own:
        return view
    others = {id(copy): item for copy, item in zip(dumped, own, strict=True) if copy is not item}
    return [others.get(id(item), item) for item in view]


def _has_objects(values: Sequence[Any]) -> bool:
    """Return whether a list may hold objects; level by level, fast, since nearly no list does."""
    while values:
        if not {*map(type, values)} <= {dict, str}:
            return True
        inner = [inner for value in values if type(value) is dict for inner in value.values()]
        values = [item for found in inner if type(found) is list for item in found]
    return False


def _plain(value: Any) -> Any:
    """Return a value with the objects in its lists dumped; without any, the same value."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        lists = ((key, inner) for key, inner in value.items() if type(inner) is list)
        dumped = {key: read for key, inner in lists if (read := _plain(inner)) is not inner}
        return {**value, **dumped} if dumped else value
    if isinstance(value, list):
        read = [_plain(item) for item in value]
        return read if any(map(operator.is_not, read, value)) else value
    is_object = hasattr(value, "model_dump") and not isinstance(value, type)
    return value.model_dump(mode="json", exclude_none=True) if is_object else value


MODULES = {
    "agent_framework": "agent_framework",
    "ag2": "ag2",
    "autogen_agentchat": "autogen",
    "autogen_core": "autogen",
    "langchain_core": "langchain",
    "llama_index": "llama_index",
    "pydantic_ai": "pydantic_ai",
    "smolagents": "smolagents",
}
"""By the package of a message's class, the adapter for it."""
LANGCHAIN_TYPES = {"ai", "AIMessageChunk", "chat", "function", "human", "remove", "system", "tool"}
"""The types of LangChain's messages, which have no role."""


def framework_of(item: object) -> str:
    """Return the adapter for a framework's message, an object or dumped; nothing for all others.

    >>> framework_of({"type": "human", "content": "Hello"}), framework_of({"role": "user"})
    ('langchain', '')
    """
    if not isinstance(item, dict):
        return MODULES.get(type(item).__module__.partition(".")[0], "")
    kind = item.get("type")
    if "role" not in item and isinstance(kind, str):
        if kind in LANGCHAIN_TYPES:
            return "langchain"
        return "autogen" if kind.endswith("Message") else ""
    if "blocks" in item and "content" not in item:
        return "llama_index"
    return "pydantic_ai" if "parts" in item and item.get("kind") in ("request", "response") else ""


def refusal(number: int, adapter: str) -> str:
    """Return the sentence for a message that only an adapter can read."""
    return (
        f"messages[{number}] is of a framework: use its adapter, hippocampus.integrations.{adapter}, "
        "or send the provider's list of dicts"
    )
