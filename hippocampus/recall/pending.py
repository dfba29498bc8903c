"""Recall calls that wait for an answer at the end of a message list, and the items that answer them.

Pure, for all three formats. Who answers, and what, is not known here; no list is changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hippocampus.errors import MessagesError, RecallError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item
from hippocampus.formats.plain import AS_DICTS
from hippocampus.formats.reader import adapter_of
from hippocampus.recall.definition import TOOL_NAME
from hippocampus.recall.slices import Request

SELECTORS = frozenset(field.name for field in fields(Request))
NUMBERS = ("head", "tail", "context", "max_tokens")
TEXTS = ("entry_id", "pattern", "path", "query")
WHOLE_NUMBER = re.compile(r"\s*(-?\d{1,18})\s*")
LINE_RANGE = re.compile(r"\s*\[?\s*(\d{1,18})\s*(?:-|–|,|:|to)\s*(\d{1,18})\s*\]?\s*")
"""What `[5, 7]` is as text: `5-7`, `5, 7`, `[5, 7]`, `5:7`, `5 to 7`."""


@dataclass(frozen=True, slots=True)
class Call:
    """One recall that a model asked for."""

    call_id: str
    entry_id: str | None
    request: Request
    max_tokens: int | None
    problem: RecallError | None = None
    """What is wrong with the arguments; then there is nothing else to read."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is given back for one call."""

    text: str
    is_error: bool = False


def pending(items: Sequence[Item]) -> list[Call]:
    """Return the recall calls of the last answer that have no result yet, in order.

    Raises:
        MessagesError: the list is in no known format.

    """
    try:
        messages = adapter_of(items)[0].read(items)
    except (AttributeError, KeyError, TypeError) as wrong:
        raise MessagesError(f"a message is malformed ({wrong}); {AS_DICTS}") from wrong
    answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
    if not answers:
        return []
    behind = messages[answers[-1] :]
    answered = {
        part.call_id for message in behind for part in message.parts if part.kind == "result"
    }
    return [
        written(part.call_id, part.text or "{}")
        for part in behind[0].parts
        if part.kind == "call" and part.tool == TOOL_NAME and part.call_id not in answered
    ]


def answered(items: Sequence[Item], answers: Mapping[str, Answer]) -> list[Item]:
    """Return the items to append so that each call, by its id, has its answer.

    In Anthropic's format all of them stand in one user message.

    Raises:
        MessagesError: the list is in no known format.

    """
    if not answers:
        return []
    name = adapter_of(items)[0].NAME
    if name == "anthropic":
        blocks = [_block(call_id, answer) for call_id, answer in answers.items()]
        return [{"role": "user", "content": blocks}]
    written = _responses_item if name == "responses" else _chat_item
    return [written(call_id, answer) for call_id, answer in answers.items()]


def extended(items: Sequence[Item], added: Sequence[Item]) -> list[Item]:
    """Return a list with answers at its end: what `items + added` is, but for Anthropic.

    There the results of one answer belong into one user message, before anything else in it; where
    the list ends with results of other tools, they are joined.
    """
    last = items[-1] if items else {}
    joinable = last.get("role") == "user" and isinstance(last.get("content"), list)
    if not joinable or len(added) != 1 or added[0].get("role") != "user":
        return [*items, *added]
    blocks = [*last["content"], *added[0]["content"]]
    results = [block for block in blocks if block.get("type") == "tool_result"]
    others = [block for block in blocks if block.get("type") != "tool_result"]
    return [*items[:-1], {**last, "content": [*results, *others]}]


def _chat_item(call_id: str, answer: Answer) -> Item:
    return {"role": "tool", "tool_call_id": call_id, "content": answer.text}


def _responses_item(call_id: str, answer: Answer) -> Item:
    return {"type": "function_call_output", "call_id": call_id, "output": answer.text}


def _block(call_id: str, answer: Answer) -> Item:
    block: Item = {"type": "tool_result", "tool_use_id": call_id, "content": answer.text}
    return {**block, "is_error": True} if answer.is_error else block


def written(call_id: str, arguments: object) -> Call:
    """Return a call from the arguments as a model wrote them: JSON text, or an object."""
    if isinstance(arguments, str):
        arguments = json_text.read(arguments)
    if arguments is json_text.NOTHING:
        return _refused(call_id, "the arguments are no JSON")
    if not isinstance(arguments, Mapping):
        return _refused(call_id, "the arguments are no JSON object")
    return read_call(call_id, arguments)


def read_call(call_id: str, asked: Mapping[str, Any]) -> Call:
    """Return a call from its arguments by name; what is wrong stands in `problem`.

    What is empty counts as not given, and a number or a range that is written as text as itself.
    """
    told = {name: value for name, value in asked.items() if value not in (None, "", [], ())}
    given = {name: _meant(name, value) for name, value in told.items()}
    problem = _problem(given)
    if problem:
        return _refused(call_id, problem)
    chosen = {name: value for name, value in given.items() if name in SELECTORS}
    return Call(call_id, given.get("entry_id"), Request(**chosen), given.get("max_tokens"))


def _meant(name: str, value: Any) -> Any:
    """Return the value that an argument means where that is plain, else the argument itself."""
    if name in NUMBERS:
        return _number(value)
    if name != "lines":
        return value
    if isinstance(value, str):
        found = LINE_RANGE.fullmatch(value)
        return (int(found[1]), int(found[2])) if found else value
    return tuple(map(_number, value)) if isinstance(value, list | tuple) else value


def _number(value: Any) -> Any:
    """Return the whole number that `"100"` or `100.0` is, else the value itself."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = WHOLE_NUMBER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else value


def _problem(given: Mapping[str, Any]) -> str:
    for name in TEXTS:
        if not isinstance(given.get(name, ""), str):
            return f"{name} is no text"
    for name in NUMBERS:
        if not _is_number(given.get(name, 1)):
            return f"{name} is no whole number"
    lines = given.get("lines", (1, 1))
    if not (isinstance(lines, tuple) and len(lines) == 2 and all(map(_is_number, lines))):
        return "lines is no pair of line numbers such as [1, 40]"
    unknown = sorted(set(given) - SELECTORS - {"entry_id", "max_tokens"})
    if unknown:
        known = ", ".join(sorted(SELECTORS | {"entry_id", "max_tokens"}))
        return f"there is no {', '.join(unknown)}; there are {known}"
    if "entry_id" not in given and "query" not in given:
        return "name an entry_id, or a query to search everything that was put away"
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refused(call_id: str, told: str) -> Call:
    return Call(call_id, None, Request(), None, RecallError("bad_request", told))
