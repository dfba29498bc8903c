"""The recall calls of a message list: their arguments, and which have no result yet.

Pure. Calls are answered in `retrieval`; no list is changed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from pydantic import ValidationError

from hippocampus.errors import MessagesError, RecallError
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, Part
from hippocampus.formats.plain import AS_DICTS
from hippocampus.formats.reader import adapter_of
from hippocampus.recall.definition import TOOL_NAME, RecallRequest, problem_of
from hippocampus.recall.slices import Request

SELECTORS = tuple(field.name for field in fields(Request))
HOST_PREFIX = re.compile(r"(?:.*(?:__|[./:])|.*hippocampus[_-])", re.DOTALL)
"""What hosts write before a tool's own name: `mcp__server__`, `server.`, `hippocampus_`."""
SEARCHED = re.compile(r"[a-z2-7]{8,12}:$", re.MULTILINE)
"""How the answer to a search begins."""
FAILED = "recall failed ("
"""How an answer begins that has a reason instead of content."""


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


def pending(items: Sequence[Item], name: str = TOOL_NAME) -> list[RecallCall]:
    """Return the calls of the recall tool of the last assistant message that have no result yet, in order.

    Raises:
        MessagesError: the list is in no known format.

    """
    return [written(call_id, text) for call_id, tool, text in unanswered(items) if tool == name]


def unanswered(items: Sequence[Item]) -> list[tuple[str, str, str]]:
    """Return id, tool and arguments of the calls of the last assistant message that have no result yet.

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
        (part.call_id, part.tool, part.text or "{}")
        for part in behind[0].parts
        if part.kind == "call" and part.call_id not in answered
    ]


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
    """Return a call from its arguments by name; `problem` is set where they cannot be read."""
    try:
        read = RecallRequest.model_validate(arguments)
    except ValidationError as error:
        return _refused(call_id, problem_of(error))
    given = read.model_dump(exclude_none=True, include=set(SELECTORS))
    if read.lines is not None:
        given["lines"] = tuple(read.lines)
    return RecallCall(call_id, read.entry_id, Request(**given), read.max_tokens)


def is_named(tool: str, name: str = TOOL_NAME) -> bool:
    """Return whether a tool is the recall tool of this name, under a host's prefix too.

    >>> is_named("mcp__hippocampus__recall"), is_named("hippocampus_recall"), is_named("do_recall")
    (True, True, False)
    """
    return tool.endswith(name) and (
        tool == name or HOST_PREFIX.fullmatch(tool.removesuffix(name)) is not None
    )


def is_answer(call: Part, answer: str, name: str, ids: Callable[[str], bool]) -> bool:
    """Return whether a result is our answer to a recall, and not that of a host's tool of this name.

    `ids` returns whether the session has an entry of an id. Ours are what a named entry holds, the
    passages that a search found, and the reasons why there is nothing.
    """
    if not is_named(call.tool, name):
        return False
    asked = written(call.call_id, call.text or "{}")
    if answer.startswith(FAILED):
        return True
    if asked.problem is not None:
        return False
    return SEARCHED.match(answer) is not None if asked.entry_id is None else ids(asked.entry_id)


def _refused(call_id: str, reason: str) -> RecallCall:
    return RecallCall(call_id, None, Request(), None, RecallError("bad_request", reason))
