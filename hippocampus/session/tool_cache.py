"""Calls that were made before: which result answers one again, and what outdates it. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from hippocampus.entries.entry import Record, content_key
from hippocampus.entries.origin import PartOrigin
from hippocampus.formats.calls import file_of, normal
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.reads import files_written
from hippocampus.policy.words import ERROR_SOURCE

WRAPPED = ("function", "toolUse", "functionCall", "function_call")
"""The keys under which formats hold a call's name and arguments."""


class CanonicalCall(NamedTuple):
    """A call: its tool, and its arguments in one order of keys."""

    tool: str
    arguments: str


class Answered(NamedTuple):
    """A result in a list, with its call."""

    message: int
    asked: CanonicalCall
    text_key: str


def asked(call: Mapping[str, Any]) -> CanonicalCall:
    """Return what a call asks, in any format, or as `name` and `arguments`.

    Raises:
        ValueError: it names no tool.
    """
    inner = next((call[key] for key in WRAPPED if key in call), None)
    named = inner if isinstance(inner, dict) else call
    tool = named.get("name")
    if not isinstance(tool, str) or not tool:
        raise ValueError(
            "a call has a name and arguments, as a tool call of OpenAI or Anthropic has, or "
            '{"name": …, "arguments": …}'
        )
    given: Any = next((named[key] for key in ("arguments", "input", "args") if key in named), {})
    written = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
    return CanonicalCall(tool, normal(written or "{}"))


def newest(records: Iterable[Record], wanted: CanonicalCall) -> Record | None:
    """Return the entry of the last result of a call that was stored and did not fail."""
    found = None
    for record in records:
        if (
            _result(record)
            and CanonicalCall(record.tool, normal(record.arguments or "{}")) == wanted
        ):
            found = record
    return None if found is None or found.entry.source.type == ERROR_SOURCE else found


def is_overtaken(record: Record, messages: Sequence[Message], wanted: CanonicalCall) -> bool:
    """Return whether a list outdates a result: a newer one differs, or its file was written.

    A list without the call outdates it too.
    """
    origin = _result(record)
    results = [each for each in _results(messages) if each.asked == wanted]
    if origin is None or not results or results[-1].text_key != origin.text_key:
        return True
    name, _ = file_of(wanted.arguments)
    since = messages[results[-1].message :]
    return bool(name) and any(_writes(part, name) for message in since for part in message.parts)


def has_changed_before(messages: Sequence[Message], wanted: CanonicalCall) -> bool:
    """Return whether the same call had different results in a list."""
    return len({each.text_key for each in _results(messages) if each.asked == wanted}) > 1


def _results(messages: Sequence[Message]) -> Iterator[Answered]:
    calls: dict[str, CanonicalCall] = {}
    for number, message in enumerate(messages):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = CanonicalCall(part.tool, normal(part.text or "{}"))
            elif part.kind == "result" and part.call_id in calls:
                key = content_key(part.text.encode("utf-8", "surrogatepass"))
                yield Answered(number, calls[part.call_id], key)


def _result(record: Record) -> PartOrigin | None:
    """Return the origin of an entry that is a result in the list."""
    origin = record.origin
    return origin if isinstance(origin, PartOrigin) and origin.kind == "result" else None


def _writes(part: Part, name: str) -> bool:
    """Return whether a call writes a file of that name, wherever it lies: folders are written in many ways."""
    if part.kind != "call":
        return False
    written = files_written(part.tool, part.text)
    return any(PurePath(each).name == PurePath(name).name for each in written)
