"""A host's message list: its format, its new messages as it grows, and our additions to it.

The adapters are independent of each other; only this file names them all. No tokens are counted,
and nothing is indexed or stored here.
"""

from __future__ import annotations

import bisect
import contextlib
import itertools
import operator
from array import array
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, Protocol, TypeVar

from hippocampus.errors import MALFORMED, MessagesError
from hippocampus.formats import anthropic, bedrock, gemini, json_text, openai_chat, openai_responses
from hippocampus.formats.conversation import (
    Item,
    KnownMessage,
    Message,
    Part,
    ToolResult,
    UnreadMessage,
)


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


def read_as(
    adapter: Adapter,
    items: Sequence[Any],
    start: int = 0,
    unread: Mapping[int, KnownMessage] = MappingProxyType({}),
) -> tuple[list[Message], str]:
    """Read copies of the items from a number on, and return a sentence on those that the format does not know.

    An unknown item is a message of the system with one opaque part: it stays in every view. Those in
    `unread`, by their numbers, an earlier run has read.

    Raises:
        MessagesError: an item is a framework's, or the format knows none of a list.
    """
    _refuse_frameworks(items, start, unread)
    if adapter is openai_responses:  # it makes one message of several items
        unread = {}
    with contextlib.suppress(*MALFORMED):  # the usual case: all are known, and read at once
        copies = list(enumerate(map(snapshot, items[start:]), start))
        own = [copy for at, copy in copies if at not in unread]
        if all(map(adapter.accepts, own)):
            messages = adapter.read(own)
            if unread:
                rest = iter(messages)
                messages = [
                    UnreadMessage(adapter.read, copy, unread[at]) if at in unread else next(rest)
                    for at, copy in copies
                ]
            return messages, ""
    pairs = [(item, _readable(adapter, item)) for item in items[start:]]
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
            continue
        for item, _ in run:
            text = ""
            with contextlib.suppress(*MALFORMED):  # nested too deep, or not JSON
                text = json_text.written(item)
            messages.append(Message("system", (Part("opaque", text, (0,)),), (item,)))
    return messages, problem


def _readable(adapter: Adapter, item: Any) -> Item | None:
    """Return a copy of an item, or nothing where the format cannot read it."""
    with contextlib.suppress(*MALFORMED):
        copy: Item = snapshot(item)
        if adapter.accepts(copy) and adapter.read([copy]):
            return copy
    return None


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


def read_on(
    before: Reading,
    items: Sequence[Item],
    same: int = 0,
    unread: Mapping[int, KnownMessage] = MappingProxyType({}),
) -> Reading:
    """Read the next version of a list: only the new and the changed messages.

    The first `same` items are known to be equal to those read before, and those in `unread`, by their
    numbers, to be what an earlier run has read.

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
    fresh, problem = read_as(adapter, items, start, unread)
    again = common_prefix(before.messages[kept:], fresh)
    starts = before.starts[:kept]
    ends = itertools.accumulate((len(message.raw) for message in fresh), initial=start)
    starts.extend(itertools.islice(ends, len(fresh)))
    return Reading(
        adapter=adapter,
        decisive=decisive,
        items=grown(before.items, start, (item for message in fresh for item in message.raw)),
        messages=grown(before.messages, kept + again, fresh[again:]),
        starts=starts,
        kept=kept + again,
        problem=problem,
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


# A host's list as dicts. Messages of agent frameworks, which no provider takes, are refused by name


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
    level: list[Any] = items[known:]
    for _ in range(MAX_FAST_LEVELS):  # a message that holds itself has no last level
        if not level:
            return items
        if not {*map(type, level)} <= {dict, str}:
            break
        inner = [inner for value in level if type(value) is dict for inner in value.values()]
        level = [item for found in inner if type(found) is list for item in found]
    _refuse_frameworks(items)
    return [_plain(item) for item in items]


def given_back(view: list[Item], dumped: Sequence[Item], own: Sequence[Any]) -> list[Any]:
    """Return a view with the host's objects in place of the dicts that were dumped from them."""
    if dumped is own:
        return view
    others = {id(copy): item for copy, item in zip(dumped, own, strict=True) if copy is not item}
    return [others.get(id(item), item) for item in view]


MAX_FAST_LEVELS = 16
"""How many levels of a list are searched for an object before it is walked: nearly none has one."""


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


def _refuse_frameworks(items: Sequence[Any], start: int = 0, but: Container[int] = ()) -> None:
    for number, item in enumerate(items[start:], start):
        if number not in but and (adapter := framework_of(item)):
            raise MessagesError(
                f"messages[{number}] is of a framework: use its adapter, "
                f"hippocampus.integrations.{adapter}, or send the provider's list of dicts"
            )


# Lists that are sent as they are: the provider holds or edits the conversation itself


HELD_BY = ("previous_response_id", "conversation", "conversation_id", "previous_interaction_id")
"""Parameters that name a conversation which the provider holds: the list has its new messages only."""
EDITS = ("clear_tool_uses", "compact")
"""How the types of edits begin that replace tool results or turns at the provider."""
COMPACTION = ("compaction", "compaction_summary")
"""The types of items and blocks that replace everything before them."""


def reason_of_request(request: Mapping[str, Any]) -> str:
    """Return why the list of a request is sent as it is, by its other parameters; else nothing.

    >>> reason_of_request({"model": "gpt-5", "previous_response_id": "resp_1"})
    'previous_response_id: the list has new messages only, the provider has the others'
    """
    for name in HELD_BY:
        if request.get(name):
            return f"{name}: the list has new messages only, the provider has the others"
    managed = request.get("context_management") or ()
    edits = managed.get("edits") if isinstance(managed, Mapping) else managed
    kinds = [str(edit.get("type")) for edit in edits or () if isinstance(edit, Mapping)]
    if request.get("compaction") or any(kind.startswith(EDITS) for kind in kinds):
        return "context_management: the provider edits the list, so switch one of the two off"
    return ""


def reason_of_list(messages: Sequence[Message], fresh: Sequence[Message]) -> str:
    """Return why a list is sent as it is, by its messages; else nothing.

    `fresh` are those that were not checked before.
    """
    first = next((message for message in messages if message.role != "system"), None)
    if first is not None and str(first.raw[0].get("type")).endswith("_call_output"):
        return "the list starts with a tool's output, so it has new messages only"
    for message in fresh:
        for part in () if isinstance(message, UnreadMessage) else message.parts:
            block = message.held(part) if part.kind == "opaque" else None
            if isinstance(block, Mapping) and block.get("type") in COMPACTION:
                return "the provider has compacted the list, and reads only what follows"
    return ""


# What we add to a host's list, in its format


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
