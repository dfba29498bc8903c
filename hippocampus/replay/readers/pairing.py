"""Makes a recorded conversation valid: all calls have an id and one result, in the provider's order.

Changes nothing else of a message, and nothing of a conversation that is paired.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.raw import MessageFormat, RawMessage, is_of_answer, tool_result
from hippocampus.replay.readers.values import as_list, as_text, kind_of, role_of

NO_RESULT = "(no result was recorded)"
ANSWERED_ITEMS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
}
Paired = tuple[list[RawMessage], int, int]
"""A valid conversation, the calls without a recorded result, and the results without a call."""


class _Form(NamedTuple):
    """The calls and results in the messages of a format, and the keys of their ids."""

    calls: Callable[[Item], list[Item]]
    call_id: str
    results: Callable[[Item], list[Item]]
    result_id: str
    missing: Callable[[str, str], Item]
    """Makes a substitute result from a call's id, and its type in the Responses format."""


def _blocks(role: str, kind: str) -> Callable[[Item], list[Item]]:
    return lambda item: [
        block
        for block in as_list(item.get("content"))
        if role_of(item) == role and kind_of(block) == kind
    ]


FORMS: dict[MessageFormat, _Form] = {
    "chat": _Form(
        lambda item: as_list(item.get("tool_calls")),
        "id",
        lambda item: [item] if role_of(item) == "tool" else [],
        "tool_call_id",
        lambda call_id, _: RawMessage.result(call_id, NO_RESULT).item,
    ),
    "anthropic": _Form(
        _blocks("assistant", "tool_use"),
        "id",
        _blocks("user", "tool_result"),
        "tool_use_id",
        lambda call_id, _: tool_result(call_id, NO_RESULT),
    ),
    "responses": _Form(
        lambda item: [item] if kind_of(item) in ANSWERED_ITEMS else [],
        "call_id",
        lambda item: [item] if kind_of(item) in ANSWERED_ITEMS.values() else [],
        "call_id",
        lambda call_id, kind: {"type": kind, "call_id": call_id, "output": NO_RESULT},
    ),
}


@dataclass(slots=True)
class _PairedCall:
    id: str
    answer: int
    """The place of the last message of the answer with the call."""
    result: RawMessage
    result_at: int | None = None
    """The place of the message with the result; None if none was recorded."""


def pair(message_format: MessageFormat, messages: Sequence[RawMessage]) -> Paired:
    """Add missing results, leave out results without a call, and put results in the provider's order.

    A result belongs to the call with its id in the newest earlier answer; a result without an id, to a
    call without one. A call without a recorded result gets `NO_RESULT`.
    """
    form = FORMS[message_format]
    is_joined = message_format == "responses"
    ends = list(range(len(messages)))
    for place in reversed(ends[:-1] if is_joined else ()):
        if is_of_answer(messages[place].item) and is_of_answer(messages[place + 1].item):
            ends[place] = ends[place + 1]
    calls: defaultdict[int, list[_PairedCall]] = defaultdict(list)
    waiting: defaultdict[tuple[str, str], list[_PairedCall]] = defaultdict(list)
    unnamed, orphans = itertools.count(), 0
    for place, message in enumerate(messages):
        for made in form.calls(message.item):
            named, kind = as_text(made.get(form.call_id)), ANSWERED_ITEMS.get(kind_of(made), "")
            made[form.call_id] = named or f"unnamed_call_{next(unnamed)}"
            missing = form.missing(made[form.call_id], kind)
            call = _PairedCall(made[form.call_id], ends[place], RawMessage(missing))
            calls[call.answer].append(call)
            same = waiting[kind, named]
            same[:] = [*(earlier for earlier in same if earlier.answer == call.answer), call]
        for result in form.results(message.item):
            kind = kind_of(result) if is_joined else ""
            if same := waiting[kind, as_text(result.get(form.result_id))]:
                call = same.pop(0)
                result[form.result_id] = call.id
                call.result, call.result_at = message._replace(item=result), place
            else:
                orphans += 1
    answered = {call.result_at for listed in calls.values() for call in listed} - {None}
    unanswered = sum(call.result_at is None for listed in calls.values() for call in listed)
    if message_format == "anthropic":
        return _join(messages, calls, form), unanswered, orphans
    # Responses items keep their places: a message may be between a call and its output.
    staying = answered if is_joined else set()
    kept: list[RawMessage] = []
    for place, message in enumerate(messages):
        if place in staying or not form.results(message.item):
            kept.append(message)
        kept += (call.result for call in calls[place] if call.result_at not in staying)
    return kept, unanswered, orphans


def _join(
    messages: Sequence[RawMessage], calls: Mapping[int, list[_PairedCall]], form: _Form
) -> list[RawMessage]:
    """Return the messages with the results of an answer in one user message after it.

    Text in the message of a result stays with the result if the message follows the answer.
    """
    kept: list[RawMessage] = []
    results, places = None, set[int | None]()
    for place, message in enumerate(messages):
        own = form.results(message.item)
        rest = [block for block in as_list(message.item.get("content")) if block not in own]
        if not own:
            kept.append(message)
        elif rest and place in places and kept[-1] is results:
            kept[-1].item["content"].extend(rest)
        elif rest:
            kept.append(message._replace(item={**message.item, "content": rest}))
        if answered := calls.get(place):
            places = {call.result_at for call in answered}
            first = min((at for at in places if at is not None), default=None)
            original = {"role": "user"} if first is None else messages[first].item
            content = [call.result.item for call in answered]
            results = RawMessage({**original, "content": content})
            kept.append(results)
    return kept
