"""Why a recall cannot be served: the exceptions with their fields, and the text a model can act on.

Each answer says not to ask again and what to do instead, with the call that made the content.
"""

from __future__ import annotations

from collections.abc import Iterable

from hippocampus.entries.entry import Record
from hippocampus.errors import RecallError, nearest
from hippocampus.indexing.frame import as_content

MOST_ID_CHARACTERS = 60
"""An id has no more; a model may write anything in its place."""
ARGUMENTS_CHARACTERS = 300
"""Of longer arguments of the original call only the start is told."""
INSTEAD = {
    "state": "go on from what the conversation says of the task",
    "memory": "go on with what is known of it, or ask the user",
}
"""What to do where no call made a content."""


def never_existed(entry_id: str, known: Iterable[str]) -> RecallError:
    """Return the answer for an id that this session never gave out."""
    entry_id = entry_id[:MOST_ID_CHARACTERS]
    near = nearest(entry_id, known)
    hint = f"ids that look like it: {', '.join(near)}" if near else "no id looks like it"
    told = (
        f"entry {entry_id} never existed here; {hint}. Do not retry this id; use one that stands "
        "in the conversation, or search with query and no entry_id"
    )
    return RecallError("never_existed", told, entry_id, near=near)


def other_session(entry_id: str, owner: str) -> RecallError:
    """Return the answer for an id that another session gave out."""
    told = (
        f"entry {entry_id} belongs to session {owner!r}, not to this one. Do not retry; search "
        "with query and no entry_id, or call the tool that has it"
    )
    return RecallError("other_session", told, entry_id, owner=owner)


def expired(record: Record, when: str = "", rule: str = "") -> RecallError:
    """Return the answer for a content that is no longer stored: when it went, and by which rule."""
    told = f"the content of {record.entry.id} is no longer stored"
    if when:
        told += f"; removed {when} by the rule {rule!r}"
    elif rule:
        told += f": {rule}"
    if record.entry.summary:
        told += f"; what is known of it: {as_content(record.entry.summary)}"
    told += f". Do not retry; {_instead(record)}"
    return _of(record, "expired", told, when=when, rule=rule)


def stale(record: Record, present_id: str, source: str, difference: str) -> RecallError:
    """Return the answer for a source that has changed since: both versions can be asked for.

    What it holds at present is an entry of its own, `present_id`.
    """
    old = record.entry.id
    stored, present = f'recall("{old}", lines=[1, 50])', f'recall("{present_id}", lines=[1, 50])'
    told = (
        f"what {source} has of {old} has changed since it was captured. Do not retry as if it were the "
        f"same; the present version: {present}; the stored one: {stored}; or {_instead(record)}\n"
        f"{as_content(difference)}"
    )
    return _of(record, "stale", told.rstrip(), versions=(stored, present))


def lost(record: Record, tried: Iterable[str]) -> RecallError:
    """Return the answer for a content of which neither a source nor the store has anything."""
    why = "; ".join(tried) or "no source is declared"
    told = f"nothing is left of {record.entry.id}: {why}. Do not retry; {_instead(record)}"
    return _of(record, "expired", told, rule=why)


def too_large(record: Record, needed_tokens: int, room_tokens: int) -> RecallError:
    """Return the answer for a slice that the window has no room for."""
    told = (
        f"this part of {record.entry.id} weighs {needed_tokens} tokens and {room_tokens} are free. "
        f"Do not retry it whole; narrow it: a pattern, lines, a path, or max_tokens={room_tokens}"
    )
    return _of(record, "too_large", told)


def completed(problem: RecallError, record: Record) -> RecallError:
    """Return a slice's problem with the entry and its original call in it."""
    if problem.entry_id is not None:
        return problem
    told = f"{problem}. Do not retry the same request on {record.entry.id}; or {_instead(record)}"
    return _of(record, problem.reason, told)


def render(problem: RecallError) -> str:
    """Return a problem as the text that answers a model's call."""
    advice = "" if "o not retry" in str(problem) else " Do not retry the same request."
    return f"recall failed ({problem.reason.replace('_', ' ')}): {problem}.{advice}"


def _of(  # noqa: PLR0913 - the fields that only some answers have
    record: Record,
    reason: str,
    told: str,
    *,
    when: str = "",
    rule: str = "",
    versions: Iterable[str] = (),
) -> RecallError:
    return RecallError(
        reason,
        told,
        record.entry.id,
        tool=record.tool,
        arguments=record.arguments,
        when=when,
        rule=rule,
        versions=versions,
    )


def _instead(record: Record) -> str:
    """Say what to do: the original call again, or where no call made it, who has its words."""
    if record.entry.type == "message":
        return "search with query and no entry_id, or ask the user"
    if record.entry.type in INSTEAD:
        return INSTEAD[record.entry.type]
    if record.kind == "arguments":
        return f"read again what the call of {record.tool} wrote"
    return f"call {record.tool or 'the tool'} again with {_arguments(record)}"


def _arguments(record: Record) -> str:
    argued = record.arguments
    if len(argued) > ARGUMENTS_CHARACTERS:
        argued = f"{argued[:ARGUMENTS_CHARACTERS]}…"
    return argued or "the same arguments"
