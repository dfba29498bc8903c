"""Message lists as hosts hold them, made plain: a list of dicts, whatever objects an SDK puts there.

No format is known here, and nothing that the host holds is changed.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hippocampus.errors import MessagesError
from hippocampus.formats.conversation import Item

AS_DICTS = "send the provider's own list of dicts (of an SDK's object, its `model_dump()`)"


def listed(items: Iterable[Any]) -> list[Any]:
    """Return the items of whatever can be walked.

    Raises:
        MessagesError: it is no list of messages at all.

    """
    if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping):
        raise MessagesError(f"messages is a {type(items).__name__}, no list; {AS_DICTS}")
    return list(items)


def plain(items: Sequence[Any]) -> list[Item]:
    """Return a list with each object that has a `model_dump` as the dict that this returns.

    Its empty fields are left out, which no API takes back. What has no such object in it is the
    very same item.
    """
    return [_plain(item) for item in items] if _has_objects(items) else list(items)


def given_back(view: Iterable[Item], dumped: Iterable[Item], own: Iterable[Any]) -> list[Any]:
    """Return a view with the host's own items where it has what was dumped of them."""
    if not any(map(operator.is_not, dumped, own)):
        return list(view)
    others = {id(told): item for told, item in zip(dumped, own, strict=True) if told is not item}
    return [others.get(id(item), item) for item in view]


def _has_objects(values: Iterable[Any]) -> bool:
    """Say whether a list may hold what is not plain: told fast, since nearly none does."""
    for value in values:
        if type(value) is dict:
            for inner in value.values():
                if type(inner) is list and _has_objects(inner):
                    return True
        elif not isinstance(value, str):
            return True
    return False


def _plain(value: Any) -> Any:
    """Return the very same value where there is no such object in its lists."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        lists = ((key, inner) for key, inner in value.items() if type(inner) is list)
        told = {key: read for key, inner in lists if (read := _plain(inner)) is not inner}
        return {**value, **told} if told else value
    if isinstance(value, list):
        read = [_plain(each) for each in value]
        return read if any(map(operator.is_not, read, value)) else value
    return value.model_dump(mode="json", exclude_none=True) if _is_object(value) else value


def _is_object(value: Any) -> bool:
    return hasattr(value, "model_dump") and not isinstance(value, type)
