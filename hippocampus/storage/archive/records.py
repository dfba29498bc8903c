"""The lines of an archive: how a conversation that grows, and is cut or edited, is written down.

Pure: lines in, conversations out; which file they stand in is not known here.

    {"type": "archive", "version": 1, "session": …, "part": 1, "policy": …}   opens a conversation
    {"type": "message", "at": 4, "items": […]}     the message at that place, in the provider's items
    {"type": "cut", "at": 3}                       what stood from there on is in the list no more
    {"type": "call", "turn": 2, "format": …, "messages": 5, …, "decisions": […], "entries": […]}
    {"type": "end", "turn": 3, "format": …, "messages": 6, …}   the list as it ended, behind its last call
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item

VERSION = 1
MARK = "cache_control"
"""The field that hosts move from message to message between calls; it changes no message."""
CALL_LINE = b'{"type":"call"'
LISTED = ("call", "end")
"""Records behind which the list stands as its host handed it over."""


def line(record: dict[str, Any]) -> bytes:
    """Return a record as one line of ASCII; a value that is no JSON is written as its text."""
    return _json(record) + b"\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=str).encode("ascii")


def head_line(session: str, policy: str) -> bytes:
    """Return the line that opens a conversation."""
    head = {"type": "archive", "version": VERSION, "session": session, "part": 1}
    return line({**head, "policy": policy})


def cut_line(at: int) -> bytes:
    """Return the line that removes the messages from a number on."""
    return line({"type": "cut", "at": at})


def message_line(at: int, items: Sequence[Item]) -> bytes:
    """Return the line that puts a message at a place."""
    return line({"type": "message", "at": at, "items": list(items)})


def lines_between(
    old: Sequence[Sequence[Item]], start: int, new: Sequence[Sequence[Item]]
) -> list[bytes]:
    """Return the lines that turn the messages of a list from a number on into others."""
    lines: list[bytes] = []
    known = old[start:]
    for at, items in enumerate(new):
        before = known[at] if at < len(known) else None
        if before is not None and is_same(before, items):
            continue
        if before is not None and not is_same_without_marks(before, items):
            lines.append(cut_line(start + at))
            known = []
        lines.append(message_line(start + at, items))
    if len(known) > len(new):
        lines.append(cut_line(start + len(new)))
    return lines


def is_same(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two messages are written alike; a value that is no JSON is compared as its text."""
    return one == other or _json(list(one)) == _json(list(other))


def is_same_without_marks(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two messages differ by nothing but the marks for a provider's cache."""
    return is_same(_without_marks(list(one)), _without_marks(list(other)))


def _without_marks(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_marks(inner) for key, inner in value.items() if key != MARK}
    if isinstance(value, list):
        return [_without_marks(inner) for inner in value]
    return value


def parsed(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records of a file's bytes; a last line that a crash has torn is left out."""
    return (record for each in _lines(content) if (record := _parsed(each)))


def parsed_messages(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield what `parsed` does, but for the records of calls, which change no message."""
    lines = (each for each in _lines(content) if not each.startswith(CALL_LINE))
    return (record for each in lines if (record := _parsed(each)))


def _lines(content: bytes) -> list[bytes]:
    return content.rpartition(b"\n")[0].split(b"\n")


def _parsed(content: bytes) -> dict[str, Any]:
    """Return the record of a line; empty where it is none."""
    record = json_text.read(content, None)
    return record if isinstance(record, dict) else {}


@dataclass(slots=True)
class ArchivedConversation:
    """A conversation, built from its records one after the other."""

    session: str = ""
    turn: int = 0
    format: str = "openai"
    messages: list[list[Item]] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        """Return the list as the host last sent it."""
        return [item for message in self.messages for item in message]

    def take(self, record: dict[str, Any]) -> None:
        """Apply one record; one of an unknown type changes nothing."""
        match record:
            case {"type": "archive", "session": str(session)}:
                self.session = session
            case {"type": "message", "at": int(at), "items": list(items)}:
                self.messages[at : at + 1] = [[item for item in items if isinstance(item, dict)]]
            case {"type": "cut", "at": int(at)}:
                del self.messages[at:]
            case {"type": "call" | "end", "turn": int(turn), "format": str(name)}:
                self.turn, self.format = turn, name


@dataclass(frozen=True, slots=True)
class Context:
    """A list that only grew, up to where its host cut or edited it, or to the end."""

    items: list[Item]
    format: str


def contexts(records: Iterable[dict[str, Any]]) -> list[Context]:
    """Return each list that the host sent, as it was before a cut that removed messages."""
    running = ArchivedConversation()
    found: list[Context] = []
    before: list[Item] = []
    for record in records:
        if record.get("type") == "cut" and not before:
            before = running.items
        running.take(record)
        if record.get("type") in LISTED and before:
            if before != running.items[: len(before)]:
                found.append(Context(before, running.format))
            before = []
    return [*found, Context(running.items, running.format)]
