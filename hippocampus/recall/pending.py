"""Recall calls that wait for an answer at the end of a message list, and the items that answer them.

Pure, for all three formats. Who answers, and what, is not known here; no list is changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hippocampus import json_text
from hippocampus.conversation import Item, Part
from hippocampus.errors import MessagesError, RecallError
from hippocampus.messages import adapter_of
from hippocampus.messages.plain import AS_DICTS
from hippocampus.recall.definition import TOOL_NAME
from hippocampus.recall.slices import Request

SELECTORS = frozenset(field.name for field in fields(Request))
NUMBERS = ("head", "tail", "context", "max_tokens")
TEXTS = ("entry_id", "pattern", "path", "query")


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
        _call(part)
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


def _call(part: Part) -> Call:
    asked = json_text.read(part.text or "{}")
    if asked is json_text.NOTHING:
        return _wrong(part, "the arguments are no JSON")
    if not isinstance(asked, dict):
        return _wrong(part, "the arguments are no JSON object")
    return read_call(part.call_id, asked)


def read_call(call_id: str, asked: Mapping[str, Any]) -> Call:
    """Return a call from the arguments that a model wrote; what is wrong stands in `problem`."""
    given = {name: value for name, value in asked.items() if value not in (None, "", [])}
    problem = _problem(given)
    if problem:
        return Call(call_id, None, Request(), None, RecallError("bad_request", problem))
    chosen = {name: value for name, value in given.items() if name in SELECTORS}
    if "lines" in chosen:
        chosen["lines"] = tuple(chosen["lines"])
    return Call(call_id, given.get("entry_id"), Request(**chosen), given.get("max_tokens"))


def _problem(given: Mapping[str, Any]) -> str:
    for name in TEXTS:
        if not isinstance(given.get(name, ""), str):
            return f"{name} is no text"
    for name in NUMBERS:
        if not _is_number(given.get(name, 1)):
            return f"{name} is no whole number"
    lines = given.get("lines", [1, 1])
    if not (isinstance(lines, list) and len(lines) == 2 and all(map(_is_number, lines))):
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


def _wrong(part: Part, told: str) -> Call:
    return Call(part.call_id, None, Request(), None, RecallError("bad_request", told))
