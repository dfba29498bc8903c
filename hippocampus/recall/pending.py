"""The recall calls at the end of a message list that have no result yet, and their arguments.

Pure. Calls are answered in `retrieval`; no list is changed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from hippocampus.errors import MessagesError, RecallError
from hippocampus.formats import json_text, writing
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
"""The texts that are read as `[5, 7]`: `5-7`, `5, 7`, `[5, 7]`, `5:7`, `5 to 7`."""


@dataclass(frozen=True, slots=True)
class RecallCall:
    """One call of the recall tool."""

    call_id: str
    entry_id: str | None
    request: Request
    max_tokens: int | None
    problem: RecallError | None = None
    """The problem with the arguments, if they cannot be read; then no other field is set."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one call."""

    text: str
    is_error: bool = False


def pending(items: Sequence[Item]) -> list[RecallCall]:
    """Return the recall calls of the last assistant message that have no result yet, in order.

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


def extended(items: Sequence[Item], added: Sequence[Item]) -> list[Item]:
    """Return a list with tool results at its end; the old name of `formats.writing.appended`."""
    warnings.warn(
        "hippocampus.recall.pending.extended is hippocampus.formats.writing.appended",
        DeprecationWarning,
        stacklevel=2,
    )
    return writing.appended(items, added)


def written(call_id: str, arguments: object) -> RecallCall:
    """Return a call from the arguments as the model wrote them: JSON text, or an object."""
    if isinstance(arguments, str):
        arguments = json_text.read(arguments)
    if arguments is json_text.NOTHING:
        return _refused(call_id, "the arguments are not JSON")
    if not isinstance(arguments, Mapping):
        return _refused(call_id, "the arguments are not a JSON object")
    return read_call(call_id, arguments)


def read_call(call_id: str, arguments: Mapping[str, Any]) -> RecallCall:
    """Return a call from its arguments by name; `problem` is set where they cannot be read.

    Empty values count as left out; numbers and ranges that are written as text are read.
    """
    given = {
        name: _meant(name, value)
        for name, value in arguments.items()
        if value not in (None, "", [], ())
    }
    problem = _problem(given)
    if problem:
        return _refused(call_id, problem)
    chosen = {name: value for name, value in given.items() if name in SELECTORS}
    return RecallCall(call_id, given.get("entry_id"), Request(**chosen), given.get("max_tokens"))


def _meant(name: str, value: Any) -> Any:
    """Return the number or the range that an argument clearly means, else the argument itself."""
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
            return f"{name} is not text"
    for name in NUMBERS:
        if not _is_number(given.get(name, 1)):
            return f"{name} is not a whole number"
    lines = given.get("lines", (1, 1))
    if not (isinstance(lines, tuple) and len(lines) == 2 and all(map(_is_number, lines))):
        return "lines is not a pair of line numbers such as [1, 40]"
    unknown = sorted(set(given) - SELECTORS - {"entry_id", "max_tokens"})
    if unknown:
        known = ", ".join(sorted(SELECTORS | {"entry_id", "max_tokens"}))
        return f"unknown arguments: {', '.join(unknown)}; known: {known}"
    if "entry_id" not in given and "query" not in given:
        return "name an entry_id, or a query to search everything that is stored"
    return ""


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _refused(call_id: str, reason: str) -> RecallCall:
    return RecallCall(call_id, None, Request(), None, RecallError("bad_request", reason))
