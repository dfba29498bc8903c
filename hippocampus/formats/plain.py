"""A host's message list as a plain list of dicts, with the SDK objects in it dumped.

Independent of the format; nothing that the host holds is changed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hippocampus.errors import MessagesError
from hippocampus.formats.conversation import Item
from hippocampus.formats.frameworks import framework_of, refusal

AS_DICTS = "send the provider's list of dicts (for an SDK object, its `model_dump()`)"


def listed(items: Iterable[Any]) -> list[Any]:
    """Return the items of any iterable as a list.

    Raises:
        MessagesError: it is not a list of messages.

    """
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise MessagesError(f"messages is a {type(items).__name__}, not a list; {AS_DICTS}")
    return list(items)


def plain(items: Sequence[Any]) -> list[Item]:
    """Return a list in which each object with a `model_dump` is replaced by what that returns.

    Fields that are None are left out, since no API accepts them back. An item without such objects
    is returned as the same object.

    Raises:
        MessagesError: one of them is a message of a framework; the text names its adapter.

    """
    if not _has_objects(items):
        return list(items)
    for number, item in enumerate(items):
        adapter = framework_of(item)
        if adapter:
            raise MessagesError(refusal(number, adapter))
    return [_plain(item) for item in items]


def given_back(view: Iterable[Item], dumped: Iterable[Item], own: Iterable[Any]) -> list[Any]:
    """Return a view with the host's objects in place of the dicts that were dumped from them."""
    if not any(map(operator.is_not, dumped, own)):
        return list(view)
    others = {id(each): item for each, item in zip(dumped, own, strict=True) if each is not item}
    return [others.get(id(item), item) for item in view]


def _has_objects(values: Sequence[Any]) -> bool:
    """Return whether a list may hold objects; level by level, fast, since nearly no list does."""
    while values:
        if not {*map(type, values)} <= {dict, str}:
            return True
        inner = [each for value in values if type(value) is dict for each in value.values()]
        values = [each for found in inner if type(found) is list for each in found]
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
        read = [_plain(each) for each in value]
        return read if any(map(operator.is_not, read, value)) else value
    is_object = hasattr(value, "model_dump") and not isinstance(value, type)
    return value.model_dump(mode="json", exclude_none=True) if is_object else value
