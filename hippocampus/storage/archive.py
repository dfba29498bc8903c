"""The raw conversations of sessions, as JSON lines that `hippocampus replay` reads.

A turn appends a row with its new lines, in its own transaction; no view is made from them. When a session
ends, its rows become one, packed.

    {"type": "archive", "version": 1, "session": …, "part": 1, "policy": …, "model": …}   opens a conversation
    {"type": "message", "at": 4, "items": […]}     the message at that place, in the provider's items
    {"type": "cut", "at": 3}                       the list no longer has the messages from there on
    {"type": "call", "turn": 2, "when": …, "format": …, "messages": 5}   the list of a call
    {"type": "end", "turn": 3, "when": …, "format": …, "messages": 6}    the list as it ended, after its last call
"""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hippocampus.entries.entry import content_key, storable
from hippocampus.errors import MALFORMED
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, Message
from hippocampus.storage import packing
from hippocampus.storage.consolidated import SESSION
from hippocampus.storage.database import Database, Row

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


def _hashed_json(value: Any) -> bytes:
    """Return JSON of a value to be hashed, in a third of the time of `_json`."""
    import pydantic_core

    try:
        return pydantic_core.to_json(value)
    except MALFORMED:
        return _json(value)


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
    """Return the lists that the host sent, up to every cut that removed messages.

    A last answer that no call has sent is none: a host may write it in another way in its next list.
    """
    running = ArchivedConversation()
    found: list[Context] = []
    before: list[Item] = []
    sent = 0
    for record in records:
        if record.get("type") == "cut" and not before:
            before = running.items
        running.take(record)
        if record.get("type") in LISTED:
            if before[:sent] != running.items[: min(sent, len(before))]:
                found.append(Context(before, running.format, running.model))
            before = []
        if record.get("type") == "call":
            sent = len(running.items)
    return [*found, Context(running.items, running.format, running.model)]


LOG = logging.getLogger("hippocampus")
HASH_BYTES = 16
LINES = """
    SELECT number, list, crc, lines FROM conversation
    WHERE session = ? AND number > ? ORDER BY number
"""
ADD_LINES = "INSERT INTO conversation (session, number, list, crc, lines) VALUES (?, ?, ?, ?, ?)"
ARCHIVED = """
    SELECT session.number, name, changes, active_at, sum(length(lines))
    FROM session JOIN conversation ON conversation.session = session.number
    GROUP BY session.number, name, changes, active_at ORDER BY session.number
"""


@dataclass(frozen=True, slots=True)
class RawList:
    """A message list as its host handed it over, redacted."""

    messages: Sequence[Message]
    kept: int
    """How many leading messages are those of the list before."""
    format: str
    turn: int


class Journal:
    """The raw conversation of one session, as this process knows it."""

    def __init__(self, session: str, policy: str = "", model: str = "") -> None:
        named = {"session": session, "part": 1, "policy": policy, "model": model}
        self._head = line("archive", version=VERSION, **named)
        self.forget()

    def forget(self) -> None:
        """Begin the next turn with the rows as they are then: this one was not committed."""
        self.last = 0
        """The last change of the session of which the lines are known."""
        self._known = ArchivedConversation()
        """The messages as the rows have them; those of the caller, once written."""
        self._same = 0
        self._hashes = bytearray()
        """By message, the hash of the list up to it, without marks."""
        self._marked: dict[int, str] = {}
        """By number, the hashes of the messages with marks."""

    def row(self, others: Sequence[Row], listed: RawList, *, is_call: bool) -> tuple[str, bytes]:
        """Return `list` and `lines` of a list's row: its new messages, and a record of it.

        `others` are the rows after the last known one. The caller writes the new one, and notes in `last`
        the change that it is of.
        """
        self._same = min(self._same, listed.kept)
        if not (self.last == 0 and self._recognises(others, listed.messages)):
            for *_, row in others:  # a packed one may repeat known lines, which changes nothing
                for record in parsed(readable(row)):
                    self._same = min(self._same, self._known.take(record))
        start, when = self._same, datetime.now(UTC).isoformat(timespec="milliseconds")
        old, new = self._known.messages, [message.raw for message in listed.messages[self._same :]]
        lines = [] if old else [self._head]
        lines += lines_between(old, start, new)
        fields = {"turn": listed.turn, "when": when, "format": listed.format}
        kind, count = "call" if is_call else "end", len(listed.messages)
        lines.append(line(kind, **fields, messages=count))
        old[start:] = new
        self._same = len(old)
        self._hash(new, start)
        marks = [*self._marked.items()]
        return json.dumps([count, self._hash_with(marks), marks]), b"".join(lines)

    def _recognises(self, rows: Sequence[Row], listed: Sequence[Message]) -> bool:
        """Return whether a list begins with the one of all rows; its messages are taken as theirs then.

        No line has to be unpacked or read, unless a row is damaged: the next one has what it has lost.
        """
        if not (rows and rows[-1][1] and _is_whole(rows)):
            return False
        try:
            count, known, marks = json.loads(rows[-1][1])
            messages: list[Sequence[Item]] = [message.raw for message in listed[:count]]
        except (TypeError, ValueError):  # damaged
            return False
        self._hash(messages, 0)
        if len(messages) < count or self._hash_with(marks) != known:
            return False
        moved: set[int] = {number for number, _ in self._marked.items() ^ map(tuple, marks)}
        for number in moved:  # it is written again, and starts no other list
            messages[number] = [{**item, MARK: "moved"} for item in messages[number]]
        self._known.messages, self._same = messages, min(moved, default=count)
        return True

    def _hash(self, messages: Sequence[Sequence[Item]], start: int) -> None:
        """Note the hashes of the messages of a list from a number on."""
        del self._hashes[HASH_BYTES * start :]
        self._marked = {n: known for n, known in self._marked.items() if n < start}
        for number, items in enumerate(messages, start):
            text = _hashed_json(items)
            if MARK.encode() in text:
                bare = _hashed_json(_without_marks(items))
                if bare != text:
                    self._marked[number], text = content_key(text), bare
            before = self._hashes[-HASH_BYTES:]
            self._hashes += hashlib.blake2b(before + text, digest_size=HASH_BYTES).digest()

    def _hash_with(self, marks: Any) -> str:
        """Return the hash of the list without marks, and of the places and hashes of those with marks."""
        known = self._hashes[-HASH_BYTES:] + _json(marks)
        return hashlib.blake2b(known, digest_size=HASH_BYTES).hexdigest()


def pack(db: Database, session: int, min_bytes: int) -> None:
    """Pack the rows of a session that are not packed yet into the last such row.

    Turns go on meanwhile: rows are packed before the lock is taken, and stay where another process
    has packed the last one first.
    """
    rows = db.rows(LINES, (session, 0))
    found = [(number, lines) for number, *_, lines in rows if not packing.is_packed(lines)]
    # Damaged rows keep their wrong checksums, by which the next process reads what they have lost.
    if sum(len(lines) for _, lines in found) < max(1, min_bytes) or not _is_whole(rows):
        return
    last, lines = found[-1]
    packed = packing.packed_small(b"".join(lines for _, lines in found))
    packing.unpacked(packed)  # what cannot be read back stays as it is
    others = json.dumps([number for number, _ in found[:-1]])
    with db.transaction():
        query = (
            "UPDATE conversation SET lines = ?, crc = ?"
            " WHERE session = ? AND number = ? AND lines = ? RETURNING number"
        )
        if db.rows(query, (packed, zlib.crc32(packed), session, last, lines)):
            given = "number IN (SELECT value FROM json_each(?))"
            db.run(f"DELETE FROM conversation WHERE session = ? AND {given}", (session, others))
    db.shrink()


def _is_whole(rows: Iterable[Row]) -> bool:
    return all(zlib.crc32(lines) == crc for _, _, crc, lines in rows)


def _whole(lines: bytes) -> bytes:
    return packing.unpacked(lines) if packing.is_packed(lines) else lines


def readable(lines: bytes) -> bytes:
    """Return the lines of a row; none, with a warning, where they are damaged."""
    try:
        whole = _whole(lines)
        return whole[: whole.rfind(b"\n") + 1]
    except packing.DamagedError as damage:
        LOG.warning("a part of a conversation is damaged, and left out: %s", damage)
        return b""


# Over all sessions; a state that cannot be read is a `StoreError`


def exported(db: Database, session: str) -> bytes:
    """Return the raw conversation of a session as JSON lines; nothing where none is stored."""
    query = f"SELECT lines FROM conversation WHERE session = {SESSION} ORDER BY number"
    return b"".join(readable(lines) for (lines,) in db.rows(query, (storable(session),)))


def archived(db: Database) -> list[tuple[int, str, str, int]]:
    """Return number, name, etag and stored bytes of the sessions that have a raw conversation.

    An etag is another one after each change of its session.
    """
    return [
        (number, name, f"{changes}-{active_at}", int(size))
        for number, name, changes, active_at, size in db.rows(ARCHIVED)
    ]


def damaged(db: Database) -> Iterator[tuple[str, str]]:
    """Yield the sessions with an unreadable part of the conversation, and the reasons."""
    for number, name, *_ in archived(db):
        found = (_damage(lines) for *_, lines in db.rows(LINES, (number, 0)))
        if damage := next(filter(None, found), ""):
            yield name, damage


def _damage(lines: bytes) -> str:
    try:
        content = _whole(lines)
    except packing.DamagedError as damage:
        return str(damage)
    written = [line for line in content.split(b"\n") if line]
    wrong = len(written) - sum(1 for _ in parsed(content))
    return f"{wrong} of {len(written)} lines are no JSON" if wrong else ""
