"""The calls of the recall tool in a message list, their answers, and the errors where nothing can be served.

Pure: the session serves the payloads; no list is changed. The text of an error advises against a retry and
names an alternative, with the call that made the content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from hippocampus.entries.entry import ARGUMENTS, ID, Record, storable
from hippocampus.errors import RecallError, StoreError, nearest
from hippocampus.formats import json_text, reader
from hippocampus.formats.conversation import Item, Part, ToolResult
from hippocampus.formats.signatures import problem_of, unknown_arguments
from hippocampus.indexing.frame import as_content
from hippocampus.recall.definition import RecallRequest

HEADER = re.compile(rf"^({ID}):$", re.MULTILINE)
"""The line before the lines of an entry in a search result; other lines start with a number."""
FAILED = "recall failed ("
"""How an answer begins that has a reason instead of content."""
MAX_ID_CHARACTERS = 60
"""The part of a wrong id that an error quotes: a model may write anything there."""
MAX_ARGUMENTS_CHARACTERS = 300
"""The part of the original call's arguments that an error quotes."""
ALTERNATIVES = {
    "message": "search with query and no entry_id, or ask the user",
    "state": "continue from what the conversation has about the task",
    "memory": "continue with what is known, or ask the user",
}
"""What to do instead, by type of entry, for content that no call made."""


Serve = Callable[[RecallRequest], str]
"""Serves one recall, or raises `RecallError`."""
Images = Callable[[RecallRequest], tuple[Item, ...]]
"""Returns the image blocks of the entry that a recall names."""


def handle(
    items: Sequence[Item],
    serve: Serve,
    images: Images,
    names: Container[str],
    others: Mapping[str, Callable[[str], str]],
) -> list[Item]:
    """Return the items to append that answer the pending calls of our tools at the end of a list.

    `names` are those of the recall tool. `others` are further tools by name, from the text of their
    arguments to their answer.

    Raises:
        MessagesError: the list is in no known format.
    """
    results: list[ToolResult] = []
    for pending in unanswered(items):
        arguments, tool, call_id = pending.text or "{}", pending.tool, pending.call_id
        if tool in names:
            results.append(answer(call_id, arguments, serve, images, tool))
        elif tool in others:
            results.append(ToolResult(call_id, others[tool](arguments), tool=tool))
    return reader.tool_results(items, results)


def answer(
    call_id: str, arguments: object, serve: Serve, images: Images, tool: str = ""
) -> ToolResult:
    """Return the result of a recall: the served text, or why nothing can be served."""
    try:
        request = read_request(arguments)
        text = serve(request)
    except RecallError as problem:
        return ToolResult(call_id, render(problem), is_error=True, tool=tool)
    return ToolResult(call_id, text, tool=tool, images=images(request))


def unanswered(items: Sequence[Item]) -> list[Part]:
    """Return the calls of the last assistant message that have no result yet.

    Raises:
        MessagesError: the list is in no known format.
    """
    messages = reader.read(items)
    said = [at for at, message in enumerate(messages) if message.role == "assistant"]
    if not said:
        return []
    last = messages[said[-1] :]
    answered = {part.call_id for message in last for part in message.parts if part.kind == "result"}
    calls = (part for part in last[0].parts if part.kind == "call")
    return [call for call in calls if call.call_id not in answered]


def read_request(arguments: object) -> RecallRequest:
    """Return the arguments of a call, which are JSON text or given by name.

    Raises:
        RecallError: they cannot be read.
    """
    if isinstance(arguments, str):
        arguments = json_text.read(arguments)
    if not isinstance(arguments, Mapping):
        raise RecallError("bad_request", "the arguments are not JSON, or no object")
    if unknown := unknown_arguments(arguments, RecallRequest.model_fields):
        raise RecallError("bad_request", unknown)
    try:
        return RecallRequest.model_validate(arguments)
    except ValidationError as error:
        raise RecallError("bad_request", problem_of(error)) from None


def is_answer(call: Part, answer: str, ids: Callable[[str], bool]) -> bool:
    """Return whether a result is our answer to a recall, and not that of a host's tool of its name.

    `ids` returns whether the session has an entry of an id. Ours are what a named entry holds, the
    passages that a search found, and the reasons why there is nothing.
    """
    if answer.startswith(FAILED):
        return True
    try:
        entry_id = read_request(call.text or "{}").entry_id
    except RecallError:
        return False
    return HEADER.match(answer) is not None if entry_id is None else ids(entry_id)


# Why a recall cannot be served


def never_existed(entry_id: str, known: Iterable[str]) -> RecallError:
    """Return the error for an id that this session never made."""
    entry_id = entry_id[:MAX_ID_CHARACTERS]
    near = nearest(entry_id, known)
    hint = f"ids that look like it: {', '.join(near)}" if near else "no id looks like it"
    text = (
        f"entry {entry_id} never existed here; {hint}. Do not retry this id; use one that is in the "
        "conversation, or search with query and no entry_id"
    )
    return RecallError("never_existed", text, entry_id, near=near)


def other_session(entry_id: str, owner: str) -> RecallError:
    """Return the error for an id of another session; its name is the host's to know, not the model's."""
    text = (
        f"entry {entry_id} belongs to another session, not to this one. Do not retry; search "
        "with query and no entry_id, or call the tool that has it"
    )
    return RecallError("other_session", text, entry_id, owner=owner)


def expired(record: Record, when: str = "", rule: str = "") -> RecallError:
    """Return the error for content that is no longer stored: when it was removed, by which rule."""
    text = f"the content of {record.entry.id} is no longer stored"
    if when:
        text += f"; removed {when} by the rule {rule!r}"
    if record.entry.summary:
        text += f"; its summary: {as_content(record.entry.summary)}"
    text += f". Do not retry; {_alternative(record)}"
    return _of(record, "expired", text, when=when, rule=rule)


def unreadable(record: Record, failure: StoreError) -> RecallError:
    """Return the error for content that is damaged, or in a store that another process holds."""
    text = f"the content of {record.entry.id} cannot be read: {failure}"
    text += f". Do not retry in this step; {_alternative(record)}"
    return _of(record, "unreadable", text)


def stale(record: Record, present_id: str, source: str, difference: str) -> RecallError:
    """Return the error for a source that has changed since; both versions can be recalled.

    `present_id` is the entry of the present version.
    """
    old = record.entry.id
    stored, present = f'recall("{old}", lines=[1, 50])', f'recall("{present_id}", lines=[1, 50])'
    text = (
        f"the content of {old} at its source, {source}, has changed since it was captured. Do not retry "
        f"as if it were the same; the present version: {present}; the stored one: {stored}; or "
        f"{_alternative(record)}\n{as_content(difference)}"
    )
    return _of(record, "stale", text.rstrip(), versions=(stored, present))


def lost(record: Record, why: str) -> RecallError:
    """Return the error for content that neither its source nor the store has; `why` is the source's failure."""
    text = f"nothing is left of {record.entry.id}: {why}. Do not retry; {_alternative(record)}"
    return _of(record, "expired", text, rule=why)


def too_large(record: Record, needed_tokens: int, free_tokens: int) -> RecallError:
    """Return the error for a slice that does not fit the context window."""
    text = (
        f"this part of {record.entry.id} has {needed_tokens} tokens and {free_tokens} are free. "
        f"Do not retry it whole; narrow it: a pattern, lines, a path, or max_tokens={free_tokens}"
    )
    return _of(record, "too_large", text)


def completed(problem: RecallError, record: Record) -> RecallError:
    """Return the error of a slice with the entry and its original call added."""
    if problem.entry_id is not None:
        return problem
    text = (
        f"{problem}. Do not retry the same request on {record.entry.id}; or {_alternative(record)}"
    )
    return _of(record, problem.reason, text)


def render(problem: RecallError) -> str:
    """Return an error as the text that answers the model's call."""
    advice = "" if "o not retry" in str(problem) else " Do not retry the same request."
    return storable(f"{FAILED}{problem.reason.replace('_', ' ')}): {problem}.{advice}")


def _of(record: Record, reason: str, text: str, **more: Any) -> RecallError:
    """Return an error with the entry and its call; `more` are fields that only some errors have."""
    call = {"tool": record.tool, "arguments": record.arguments}
    return RecallError(reason, text, record.entry.id, **call, **more)


def _alternative(record: Record) -> str:
    """Return what to do instead: repeat the original call, or ask the user."""
    if record.entry.type in ALTERNATIVES:
        return ALTERNATIVES[record.entry.type]
    if record.kind == ARGUMENTS:
        return f"read again what the call of {record.tool} wrote"
    arguments = record.arguments or "the same arguments"
    if len(arguments) > MAX_ARGUMENTS_CHARACTERS:
        arguments = f"{arguments[:MAX_ARGUMENTS_CHARACTERS]}…"
    return f"call {record.tool or 'the tool'} again with {arguments}"
