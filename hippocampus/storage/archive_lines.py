"""The lines of an archive: how a conversation that grows, and is cut or edited, is written down.

Pure: lines in, conversations out; in which rows they are is not known here.

    {"type": "archive", "version": 1, "session": …, "part": 1, "policy": …, "model": …}   opens a conversation
    {"type": "message", "at": 4, "items": […]}     the message at that place, in the provider's items
    {"type": "cut", "at": 3}                       the list no longer has the messages from there on
    {"type": "call", "turn": 2, "when": …, "format": …, "messages": 5}   the list of a call
    {"type": "end", "turn": 3, "when": …, "format": …, "messages": 6}    the list as it ended, after its last call
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
LISTED = ("call", "end")
"""Records that are written of the list as its host handed it over."""


def line(kind: str, **fields: Any) -> bytes:
    """Return a record as one line of ASCII; a value that is no JSON is written as its text."""
    return _json({"type": kind, **fields}) + b"\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=str).encode("ascii")


def head_line(session: str, policy: str, model: str) -> bytes:
    """Return the line that opens a conversation."""
    return line("archive", version=VERSION, session=session, part=1, policy=policy, model=model)


def lines_between(
    old: Sequence[Sequence[Item]], start: int, new: Sequence[Sequence[Item]]
) -> list[bytes]:
    """Return the lines that turn the messages of a list from a number on into others."""
    lines: list[bytes] = []
    known = old[start:]
    for at, items in enumerate(new, start):
        if at - start < len(known):
            before = known[at - start]
            if _is_same(before, items):
                continue
            if not _is_same(_without_marks(before), _without_marks(items)):
                lines.append(line("cut", at=at))
                known = []
        lines.append(line("message", at=at, items=list(items)))
    if len(known) > len(new):
        lines.append(line("cut", at=start + len(new)))
    return lines


def _is_same(one: Sequence[Item], other: Sequence[Item]) -> bool:
    """Return whether two messages are written alike; a value that is no JSON is compared as its text."""
    return one == other or _json(one) == _json(other)


def _without_marks(value: Any) -> Any:
    """Return a message without the marks for a provider's cache."""
    if isinstance(value, dict):
        return {key: _without_marks(inner) for key, inner in value.items() if key != MARK}
    if isinstance(value, list | tuple):
        return [_without_marks(inner) for inner in value]
    return value


def parsed(content: bytes) -> Iterator[dict[str, Any]]:
    """Yield the records of a file's bytes; a last line that a crash has torn is left out."""
    for text in content.rpartition(b"\n")[0].split(b"\n"):
        record = json_text.read(text, None)
        if isinstance(record, dict) and record:
            yield record


@dataclass(slots=True)
class ArchivedConversation:
    """A conversation, built from its records one after the other."""

    session: str = ""
    model: str = ""
    """The model with the prices that its session used; empty where it named no model."""
    turn: int = 0
    format: str = "openai"
    messages: list[Sequence[Item]] = field(default_factory=list)

    @property
    def items(self) -> list[Item]:
        """Return the list as the host last sent it."""
        return [item for message in self.messages for item in message]

    def take(self, record: dict[str, Any]) -> int:
        """Apply one record; return how many leading messages it leaves as they are.

        One of an unknown type changes nothing.
        """
        match record:
            case {"type": "message", "at": int(at), "items": list(items)}:
                self.messages[at : at + 1] = [
                    tuple(item for item in items if isinstance(item, dict))
                ]
                return at
            case {"type": "cut", "at": int(at)}:
                del self.messages[at:]
            case {"type": "archive", "session": str(session)}:
                self.session, self.model = session, str(record.get("model") or "")
            case {"type": "call" | "end", "turn": int(turn), "format": str(name)}:
                self.turn, self.format = turn, name
        return len(self.messages)


@dataclass(frozen=True, slots=True)
class Context:
    """A list that only grew, up to where its host cut or edited it, or to the end."""

    items: list[Item]
    format: str
    model: str = ""


def contexts(records: Iterable[dict[str, Any]]) -> list[Context]:
    """Return the lists that the host sent, up to every cut that removed messages."""
    running = ArchivedConversation()
    found: list[Context] = []
    before: list[Item] = []
    for record in records:
        if record.get("type") == "cut" and not before:
            before = running.items
        running.take(record)
        if record.get("type") in LISTED and before:
            if before != running.items[: len(before)]:
                found.append(Context(before, running.format, running.model))
            before = []
    return [*found, Context(running.items, running.format, running.model)]
