"""Makes a recorded conversation valid: each call has an id and one answer, in its provider's order.

Nothing else of a message is touched; pairing a paired conversation changes nothing.
"""

from __future__ import annotations

import itertools
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import MessageFormat, RawMessage, tool_result
from hippocampus.replay.readers.values import as_records, as_text, kind_of, role_of

NO_RESULT = "(no result was recorded)"
ANSWERED_ITEMS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
Key = tuple[str, str]
"""Identifies the call that a result answers: the type of the result and the id of the call."""
Slot = tuple[int, int]
"""A call: the index of its message in the list, its number in that message."""


Paired = tuple[list[RawMessage], int, int]
"""A valid conversation, the calls without a recorded result, and the results without a call."""


class _Pairs:
    """Finds the call of each result: in the newest earlier message that has a call with its key."""

    def __init__(self) -> None:
        self.calls: defaultdict[int, list[Key]] = defaultdict(list)
        self.found: dict[Slot, RawMessage] = {}
        self.orphans = 0
        self._open: dict[Key, list[Slot]] = {}

    def call(self, place: int, key: Key) -> None:
        same_message = [slot for slot in self._open.get(key, []) if slot[0] == place]
        self._open[key] = [*same_message, (place, len(self.calls[place]))]
        self.calls[place].append(key)

    def result(self, key: Key, message: RawMessage) -> Slot | None:
        waiting = self._open.get(key)
        if not waiting:
            self.orphans += 1
            return None
        slot = waiting.pop(0)
        self.found[slot] = message
        return slot

    def of(self, place: int) -> list[tuple[Key, RawMessage | None]]:
        """Return the calls of one message, each with its result."""
        keys = self.calls.get(place, [])
        return [(key, self.found.get((place, number))) for number, key in enumerate(keys)]

    def paired(self, messages: list[RawMessage]) -> Paired:
        return messages, sum(map(len, self.calls.values())) - len(self.found), self.orphans


def _pair_chat(messages: Sequence[RawMessage]) -> Paired:
    pairs = _Pairs()
    for place, message in enumerate(messages):
        for call in as_records(message.item.get("tool_calls")):
            pairs.call(place, ("tool", as_text(call.get("id"))))
        if message.item.get("role") == "tool":
            pairs.result(("tool", as_text(message.item.get("tool_call_id"))), message)
    kept: list[RawMessage] = []
    for place, message in enumerate(messages):
        if message.item.get("role") != "tool":
            kept.append(message)
        for (_, call_id), result in pairs.of(place):
            kept.append(result or RawMessage.result(call_id, NO_RESULT))
    return pairs.paired(kept)


def _pair_anthropic(messages: Sequence[RawMessage]) -> Paired:
    pairs = _Pairs()
    answered_by: dict[int, set[int]] = defaultdict(set)
    for place, message in enumerate(messages):
        for call in _blocks(message, "assistant", "tool_use"):
            pairs.call(place, ("tool_result", as_text(call.get("id"))))
        for block in _blocks(message, "user", "tool_result"):
            slot = pairs.result(
                ("tool_result", as_text(block.get("tool_use_id"))), RawMessage(block)
            )
            if slot:
                answered_by[slot[0]].add(place)
    return pairs.paired(_with_results_next(messages, pairs, answered_by))


def _with_results_next(
    messages: Sequence[RawMessage], pairs: _Pairs, answered_by: dict[int, set[int]]
) -> list[RawMessage]:
    """Put the results of an answer into one user message after it.

    Text in the same message as a result stays with it if that message followed the answer.
    """
    kept: list[RawMessage] = []
    results_at = last_answer = -1
    for place, message in enumerate(messages):
        if not _blocks(message, "user", "tool_result"):
            kept.append(message)
        elif rest := [
            block
            for block in as_records(message.item.get("content"))
            if kind_of(block) != "tool_result"
        ]:
            if place in answered_by[last_answer] and results_at == len(kept) - 1:
                kept[-1].item["content"].extend(rest)
            else:
                kept.append(message._replace(item={**message.item, "content": rest}))
        if answers := pairs.of(place):
            results_at, last_answer = len(kept), place
            first = min(answered_by[place], default=None)
            original = {"role": "user"} if first is None else messages[first].item
            blocks = [
                found.item if found else tool_result(call_id, NO_RESULT)
                for (_, call_id), found in answers
            ]
            kept.append(RawMessage({**original, "content": blocks}))
    return kept


def _blocks(message: RawMessage, role: str, kind: str) -> list[Item]:
    if message.item.get("role") != role:
        return []
    content = as_records(message.item.get("content"))
    return [block for block in content if kind_of(block) == kind]


def _pair_responses(messages: Sequence[RawMessage]) -> Paired:
    pairs = _Pairs()
    answers = [0, *itertools.accumulate(not is_of_answer(message.item) for message in messages)]
    orphans: set[int] = set()
    for place, message in enumerate(messages):
        kind, call_id = kind_of(message.item), as_text(message.item.get("call_id"))
        if kind in ANSWERED_ITEMS:
            pairs.call(answers[place], (ANSWERED_ITEMS[kind], call_id))
        elif kind in ANSWERED_ITEMS.values() and not pairs.result((kind, call_id), message):
            orphans.add(place)
    kept: list[RawMessage] = []
    for place, message in enumerate(messages):
        if not is_of_answer(message.item):
            kept += _missing(pairs, answers[place])
        if place not in orphans:
            kept.append(message)
    return pairs.paired(kept + _missing(pairs, answers[-1]))


def _missing(pairs: _Pairs, answer: int) -> list[RawMessage]:
    """Return an output for each call of one answer that has none.

    They go after all items of the answer: between two calls they would split it in two.
    """
    return [
        RawMessage({"type": kind, "call_id": call_id, "output": NO_RESULT})
        for (kind, call_id), found in pairs.of(answer)
        if found is None
    ]


def is_of_answer(item: Item) -> bool:
    """Return whether a message or Responses item is the model's; several items make one answer."""
    if "role" in item:
        return role_of(item) == "assistant"
    return not kind_of(item).endswith("_output")


PAIRING: dict[MessageFormat, Callable[[Sequence[RawMessage]], Paired]] = {
    "chat": _pair_chat,
    "anthropic": _pair_anthropic,
    "responses": _pair_responses,
}
"""By format: answer the calls without a result, leave out results without a call, put each in its place.

A call without a recorded result, the last one of a recording included, is answered with `NO_RESULT`.
"""


class _Ids:
    """Hands out new ids; results without an id answer the newest calls without one, in order."""

    def __init__(self) -> None:
        self._numbers = itertools.count()
        self.waiting: deque[str] = deque()

    def of_call(self, record: Item, field: str) -> Item:
        if as_text(record.get(field)):
            return record
        self.waiting.append(f"unnamed_call_{next(self._numbers)}")
        return {**record, field: self.waiting[-1]}

    def of_block(self, block: Item) -> Item:
        if kind_of(block) == "tool_use":
            return self.of_call(block, "id")
        return self.of_result(block, "tool_use_id") if kind_of(block) == "tool_result" else block

    def of_result(self, record: Item, field: str) -> Item:
        if as_text(record.get(field)) or not self.waiting:
            return record
        return {**record, field: self.waiting.popleft()}


def with_call_ids(messages: Iterable[RawMessage]) -> list[RawMessage]:
    """Return the messages of any provider's format with an id on every tool call."""
    ids = _Ids()
    named: list[RawMessage] = []
    was_call_item = False
    for message in messages:
        item = message.item
        is_call_item = kind_of(item) in ANSWERED_ITEMS
        if item.get("role") == "assistant" or (is_call_item and not was_call_item):
            ids.waiting.clear()
        was_call_item = is_call_item
        if is_call_item:
            item = ids.of_call(item, "call_id")
        elif kind_of(item) in ANSWERED_ITEMS.values():
            item = ids.of_result(item, "call_id")
        elif item.get("role") == "tool":
            item = ids.of_result(item, "tool_call_id")
        elif calls := as_records(item.get("tool_calls")):
            item = {**item, "tool_calls": [ids.of_call(call, "id") for call in calls]}
        elif blocks := as_records(item.get("content")):
            item = {**item, "content": list(map(ids.of_block, blocks))}
        named.append(message._replace(item=item))
    return named
