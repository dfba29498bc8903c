"""Makes a recorded conversation valid: each tool call answered once, in each provider's order.

Nothing else of a message is touched. A second repair finds nothing to do.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import NamedTuple

from hippocampus.replay.readers.draft import Kind, Message, Step, chat_result
from hippocampus.replay.readers.fields import as_records, as_text, kind_of, role_of

NO_RESULT = "(no result was recorded)"
ANSWERED_ITEMS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
Key = tuple[str, str]
"""What a result and its call have in common: the kind of the result, the id of the call."""
Slot = tuple[int, int]
"""A call: the place of its message in the list, its number there."""


class Repaired(NamedTuple):
    """A valid conversation, and what it took."""

    steps: list[Step]
    unanswered: int
    orphans: int


class _Pairs:
    """Finds for each result its call: in the newest earlier message that calls by this key."""

    def __init__(self) -> None:
        self.calls: defaultdict[int, list[Key]] = defaultdict(list)
        self.found: dict[Slot, Step] = {}
        self.orphans = 0
        self._open: dict[Key, list[Slot]] = {}

    def call(self, place: int, key: Key) -> None:
        same_message = [slot for slot in self._open.get(key, []) if slot[0] == place]
        self._open[key] = [*same_message, (place, len(self.calls[place]))]
        self.calls[place].append(key)

    def result(self, key: Key, step: Step) -> Slot | None:
        waiting = self._open.get(key)
        if not waiting:
            self.orphans += 1
            return None
        slot = waiting.pop(0)
        self.found[slot] = step
        return slot

    def of(self, place: int) -> list[tuple[Key, Step | None]]:
        """Return the calls of one message, each with its result."""
        keys = self.calls.get(place, [])
        return [(key, self.found.get((place, number))) for number, key in enumerate(keys)]

    def repaired(self, steps: list[Step]) -> Repaired:
        return Repaired(steps, sum(map(len, self.calls.values())) - len(self.found), self.orphans)


def repair(kind: Kind, steps: Sequence[Step]) -> Repaired:
    """Answer the calls without a result, leave out results without a call, put each in its place.

    A call that nobody answered, the last one of a recording included, is answered with
    `NO_RESULT`.
    """
    return REPAIRS[kind](steps)


def _repair_chat(steps: Sequence[Step]) -> Repaired:
    pairs = _Pairs()
    for place, step in enumerate(steps):
        for call in as_records(step.message.get("tool_calls")):
            pairs.call(place, ("tool", as_text(call.get("id"))))
        if step.message.get("role") == "tool":
            pairs.result(("tool", as_text(step.message.get("tool_call_id"))), step)
    kept: list[Step] = []
    for place, step in enumerate(steps):
        if step.message.get("role") != "tool":
            kept.append(step)
        for (_, call_id), result in pairs.of(place):
            kept.append(result or Step(chat_result(call_id, NO_RESULT)))
    return pairs.repaired(kept)


def _repair_anthropic(steps: Sequence[Step]) -> Repaired:
    pairs = _Pairs()
    answered_by: dict[int, set[int]] = defaultdict(set)
    for place, step in enumerate(steps):
        for call in _blocks(step, "assistant", "tool_use"):
            pairs.call(place, ("tool_result", as_text(call.get("id"))))
        for block in _blocks(step, "user", "tool_result"):
            slot = pairs.result(("tool_result", as_text(block.get("tool_use_id"))), Step(block))
            if slot:
                answered_by[slot[0]].add(place)
    return pairs.repaired(_with_results_next(steps, pairs, answered_by))


def _with_results_next(
    steps: Sequence[Step], pairs: _Pairs, answered_by: dict[int, set[int]]
) -> list[Step]:
    """Put the results of an answer into one user message behind it, and merge what was with them.

    The text beside a result stays in that message if it stood next to the answer, else where it is.
    """
    kept: list[Step] = []
    results_at = last_answer = -1
    for place, step in enumerate(steps):
        if not _blocks(step, "user", "tool_result"):
            kept.append(step)
        elif rest := _without(step, "tool_result"):
            if place in answered_by[last_answer] and results_at == len(kept) - 1:
                kept[-1].message["content"].extend(rest)
            else:
                kept.append(step._replace(message={**step.message, "content": rest}))
        if answers := pairs.of(place):
            results_at, last_answer = len(kept), place
            first = min(answered_by[place], default=None)
            original = {"role": "user"} if first is None else steps[first].message
            blocks = [
                found.message if found else _no_result(call_id) for (_, call_id), found in answers
            ]
            kept.append(Step({**original, "content": blocks}))
    return kept


def _blocks(step: Step, role: str, kind: str) -> list[Message]:
    if step.message.get("role") != role:
        return []
    content = as_records(step.message.get("content"))
    return [block for block in content if kind_of(block) == kind]


def _without(step: Step, kind: str) -> list[Message]:
    return [each for each in as_records(step.message.get("content")) if kind_of(each) != kind]


def _no_result(call_id: str) -> Message:
    return {"type": "tool_result", "tool_use_id": call_id, "content": NO_RESULT}


def _repair_responses(steps: Sequence[Step]) -> Repaired:
    pairs = _Pairs()
    answers = [0, *itertools.accumulate(not is_of_answer(step.message) for step in steps)]
    orphans: set[int] = set()
    for place, step in enumerate(steps):
        kind, call_id = kind_of(step.message), as_text(step.message.get("call_id"))
        if kind in ANSWERED_ITEMS:
            pairs.call(answers[place], (ANSWERED_ITEMS[kind], call_id))
        elif kind in ANSWERED_ITEMS.values() and not pairs.result((kind, call_id), step):
            orphans.add(place)
    kept: list[Step] = []
    for place, step in enumerate(steps):
        if not is_of_answer(step.message):
            kept += _missing(pairs, answers[place])
        if place not in orphans:
            kept.append(step)
    return pairs.repaired(kept + _missing(pairs, answers[-1]))


def _missing(pairs: _Pairs, answer: int) -> list[Step]:
    """Return outputs for the calls of one answer that have none; they stand behind all its items.

    Between two calls they would make two answers of one.
    """
    return [
        Step({"type": kind, "call_id": call_id, "output": NO_RESULT})
        for (kind, call_id), found in pairs.of(answer)
        if found is None
    ]


def is_of_answer(item: Message) -> bool:
    """Say whether a message or Responses item is the model's: several items make one answer."""
    if "role" in item:
        return role_of(item) == "assistant"
    return not kind_of(item).endswith("_output")


REPAIRS: dict[Kind, Callable[[Sequence[Step]], Repaired]] = {
    "chat": _repair_chat,
    "anthropic": _repair_anthropic,
    "responses": _repair_responses,
}
