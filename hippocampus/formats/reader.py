"""The format of a message list, and the new messages of a list that grows.

The adapters are independent of each other; only this file names them all. No tokens are counted,
and nothing is indexed or stored here.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import operator
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeVar

from hippocampus.errors import MALFORMED, MessagesError
from hippocampus.formats import anthropic, bedrock, gemini, json_text, openai_chat, openai_responses
from hippocampus.formats.conversation import Item, Message, Part, ToolResult
from hippocampus.formats.plain import AS_DICTS, framework_of, refusal


class Adapter(Protocol):
    """One provider's format, as a module of functions."""

    NAME: str
    PROVIDER: str
    """The provider as the GenAI conventions of OpenTelemetry name it."""
    BLOCKS_KEY: str
    """Where messages of one role in a row are joined to one, the key of its blocks; empty if they may
    follow each other."""

    def recognises(self, item: Item, /) -> bool:
        """Return whether the item can only be of this format."""

    def accepts(self, item: Item, /) -> bool:
        """Return whether the item can be of this format."""

    def read(self, items: Sequence[Item], /) -> list[Message]:
        """Read whole messages."""

    def tool_definition(
        self, name: str, description: str, parameters: Mapping[str, Any], /
    ) -> dict[str, Any]:
        """Return a tool's definition; `parameters` is the JSON Schema of its arguments."""

    def tool_results(self, results: Sequence[ToolResult], /) -> list[Item]:
        """Return the items that hold the results."""

    def words(self, role: Literal["user", "assistant"], text: str, /) -> Item:
        """Return a message of one text."""


FORMATS: tuple[Adapter, ...] = (openai_responses, openai_chat, anthropic, bedrock, gemini)
ANY_FORMAT: Adapter = openai_chat
T = TypeVar("T")
COMPARED, NEWEST = 250, 64
"""Of a long list with the same objects, this many items are compared with what was read, in turn, and
in each call the newest, whose marks hosts move."""
SAMPLED = 16
"""Every sixteenth item is compared by identity: other objects are of another copy of the list."""


def adapter_of(items: Sequence[Any], start: int = 0) -> tuple[Adapter, int | None]:
    """Return the adapter for a list, and the index of the item that can be of no other format.

    Plain `{"role", "content"}` messages are valid in every format and are read as OpenAI Chat. Items
    before `start` are known to be such.
    """
    for number, item in enumerate(items[start:], start):
        for adapter in FORMATS:
            with contextlib.suppress(*MALFORMED):
                if adapter.recognises(item):
                    return adapter, number
    return ANY_FORMAT, None


def read(items: Sequence[Item]) -> list[Message]:
    """Read a whole list; `write` returns it.

    Raises:
        MessagesError: the list is in no known format.
    """
    return read_as(adapter_of(items)[0], items)[0]


def read_as(adapter: Adapter, items: Sequence[Any], start: int = 0) -> tuple[list[Message], str]:
    """Read copies of the items from a number on, and return a sentence on those that the format does not know.

    An unknown item is a message of the system with one opaque part: it stays in every view.

    Raises:
        MessagesError: an item is a framework's, or the format knows none of a list.
    """
    for number, item in enumerate(items[start:], start):
        if framework := framework_of(item):
            raise MessagesError(refusal(number, framework))
    copies = [_copied(adapter, item) for item in items[start:]]
    with contextlib.suppress(*MALFORMED):  # the usual case: all are known, and read at once
        messages = adapter.read([copy for copy in copies if copy is not None])
        if sum(len(message.raw) for message in messages) == len(copies):
            return messages, ""
    pairs = [
        (item, copy if _is_readable(adapter, copy) else None)
        for item, copy in zip(items[start:], copies, strict=True)
    ]
    unknown = [number for number, (_, copy) in enumerate(pairs, start) if copy is None]
    problem = ""
    if unknown:
        known = ", ".join(form.NAME for form in FORMATS)
        problem = (
            f"messages[{unknown[0]}] is not a message of the format {adapter.NAME!r}; known formats "
            f"are {known}; {AS_DICTS}"
        )
        if len(unknown) == len(items):
            raise MessagesError(problem)
    messages = []
    for is_known, run in itertools.groupby(pairs, lambda pair: pair[1] is not None):
        if is_known:
            messages += adapter.read([copy for _, copy in run if copy is not None])
        else:
            messages += (_unknown(item) for item, _ in run)
    return messages, problem


def _copied(adapter: Adapter, item: Any) -> Item | None:
    """Return a copy of an item, or nothing where the format does not accept it."""
    try:
        copy: Item = snapshot(item)
        return copy if adapter.accepts(copy) else None
    except MALFORMED:
        return None


def _is_readable(adapter: Adapter, copy: Item | None) -> bool:
    with contextlib.suppress(*MALFORMED):
        return copy is not None and bool(adapter.read([copy]))
    return False


def _unknown(item: Any) -> Message:
    text = ""
    with contextlib.suppress(*MALFORMED):  # nested too deep, or not JSON
        text = json_text.written(item)
    return Message("system", (Part("opaque", text, (0,)),), (item,))


@dataclass(frozen=True, slots=True)
class Reading:
    """The items of a list that was read, copied, and their messages."""

    adapter: Adapter = ANY_FORMAT
    decisive: int | None = None
    """The index of the item that can be of no other format; None where every format fits."""
    items: Sequence[Item] = ()
    messages: Sequence[Message] = ()
    starts: array[int] = field(default_factory=lambda: array("q"))
    """The indices of the messages' first items."""
    kept: int = 0
    """How many messages, from the first, are the objects of the reading before."""
    problem: str = ""
    """Which of the new items the format does not know; empty where it knows all."""


def read_on(before: Reading, items: Sequence[Item], same: int = 0) -> Reading:
    """Read the next version of a list: only the new and the changed messages.

    The first `same` items are known to be equal to those read before.

    Raises:
        MessagesError: the list is in no known format.
    """
    same += common_prefix(before.items[same:], items[same:])
    if items and same == len(items) == len(before.items):
        return replace(before, kept=len(before.messages))
    adapter, decisive = before.adapter, before.decisive
    if decisive is None or decisive >= same:
        adapter, decisive = adapter_of(items, same)
    kept = start = 0
    if adapter is before.adapter and before.starts:
        # The message before the first changed item is read again: in some formats that item joins it.
        kept = max(0, bisect.bisect_left(before.starts, same) - 1)
        start = before.starts[kept]
    fresh, problem = read_as(adapter, items, start)
    again = common_prefix(before.messages[kept:], fresh)
    starts = before.starts[:kept]
    ends = itertools.accumulate((len(message.raw) for message in fresh), initial=start)
    starts.extend(itertools.islice(ends, len(fresh)))
    return Reading(
        adapter,
        decisive,
        grown(before.items, start, (item for message in fresh for item in message.raw)),
        grown(before.messages, kept + again, fresh[again:]),
        starts,
        kept + again,
        problem,
    )


def grown(old: Sequence[T], kept: int, fresh: Iterable[T]) -> list[T]:
    """Return the first values of a sequence and others after them, copied once."""
    found = list(_first(old, kept))
    found += fresh
    return found


def _first(values: Sequence[T], count: int) -> Sequence[T]:
    """Return the first values of a sequence, which is not copied where it has no others."""
    return values if count == len(values) else values[:count]


def common_prefix(old: Sequence[object], new: Sequence[object]) -> int:
    """Return how many leading values of two lists are equal, without a loop in Python."""
    low, high = 0, min(len(old), len(new))
    if _first(old, high) == _first(new, high):  # the usual case
        return high
    while low + 1 < high:  # the first `high` values are not all equal
        middle = (low + high) // 2
        if old[low:middle] == new[low:middle]:
            low = middle
        else:
            high = middle
    return low


def same_start(old: Sequence[Item], new: Sequence[Any], seen: Sequence[Any], first: int) -> int:
    """Return how many leading items of a list are known to be equal to those that were read.

    `seen` are the objects that were read. Of a long list that has them again, the newest are compared
    with what was read, and others from `first` on: an edit in place is noticed where its turn comes.
    """
    known = min(len(old), len(new), len(seen))
    is_copied = not all(map(operator.is_, seen[:known:SAMPLED], new[:known:SAMPLED]))
    if known <= COMPARED or is_copied or _first(seen, known) != _first(new, known):
        return common_prefix(old, new)
    first %= known
    for part in (slice(known - NEWEST, known), slice(first, min(first + COMPARED, known))):
        if old[part] != new[part]:
            return common_prefix(old, new)
    return known


def snapshot(value: Any) -> Any:
    """Return a copy of a JSON value's containers, so that a later edit by its owner is noticed."""
    if isinstance(value, dict):
        copy = dict(value)
        for key, inner in value.items():
            if type(inner) is not str and isinstance(inner, dict | list):
                copy[key] = snapshot(inner)
        return copy
    if isinstance(value, list):
        return [snapshot(inner) for inner in value]
    return value
