"""Why a recall cannot be served: the exceptions with their fields, and the text for the model.

Each text advises against a retry and names an alternative, with the call that made the content.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hippocampus.entries.entry import ARGUMENTS, Record
from hippocampus.entries.text import storable
from hippocampus.errors import RecallError, nearest
from hippocampus.indexing.frame import as_content

MAX_ID_CHARACTERS = 60
"""The part of a wrong id that an error quotes: a model may write anything there."""
MAX_ARGUMENTS_CHARACTERS = 300
"""The part of the original call's arguments that an error quotes."""
ALTERNATIVES = {
    "state": "continue from what the conversation has about the task",
    "memory": "continue with what is known, or ask the user",
}
"""What to do instead, by type of entry, for content that no call made."""


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
    elif rule:
        text += f": {rule}"
    if record.entry.summary:
        text += f"; its summary: {as_content(record.entry.summary)}"
    text += f". Do not retry; {_alternative(record)}"
    return _of(record, "expired", text, when=when, rule=rule)


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


def lost(record: Record, tried: Iterable[str]) -> RecallError:
    """Return the error for content that neither a source nor the store has."""
    why = "; ".join(tried) or "no source is declared"
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
    return storable(f"recall failed ({problem.reason.replace('_', ' ')}): {problem}.{advice}")


def _of(record: Record, reason: str, text: str, **more: Any) -> RecallError:
    """Return an error with the entry and its call; `more` are fields that only some errors have."""
    call = {"tool": record.tool, "arguments": record.arguments}
    return RecallError(reason, text, record.entry.id, **call, **more)


def _alternative(record: Record) -> str:
    """Return what to do instead: repeat the original call, or ask the user."""
    if record.entry.type == "message":
        return "search with query and no entry_id, or ask the user"
    if record.entry.type in ALTERNATIVES:
        return ALTERNATIVES[record.entry.type]
    if record.kind == ARGUMENTS:
        return f"read again what the call of {record.tool} wrote"
    arguments = record.arguments or "the same arguments"
    if len(arguments) > MAX_ARGUMENTS_CHARACTERS:
        arguments = f"{arguments[:MAX_ARGUMENTS_CHARACTERS]}…"
    return f"call {record.tool or 'the tool'} again with {arguments}"
