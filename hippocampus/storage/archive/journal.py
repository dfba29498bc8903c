"""Writes the raw conversation of a session: each turn appends a row with the lines that it brought.

The rows of a turn are written in the transaction of that turn. When a session ends, its rows become one,
packed. The lines are made in `records`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Item, Message
from hippocampus.storage import packing
from hippocampus.storage.archive import reader, records
from hippocampus.storage.archive.reader import LINES
from hippocampus.storage.database import Database

LEVEL = 17
"""How hard a conversation is packed; no turn waits for it: a tenth of a second a megabyte."""


Rows = Callable[[int], list[tuple[int, bytes]]]
"""Returns the rows of the session after a number, each with its lines."""


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

    def __init__(self, session: str, policy: str = "") -> None:
        self._head = records.head_line(session, policy)
        self.last = 0
        """The number of the last row that is known."""
        self._messages: list[Sequence[Item]] = []
        """The items of each message as the rows have them; those of the caller, once written."""
        self._same = 0

    def lines(self, rows: Rows, listed: RawList, fields: dict[str, Any]) -> bytes:
        """Return the lines of the messages that are new in a list, and of a record of it: its row.

        The caller writes it, and notes its number in `last`.
        """
        self._same = min(self._same, listed.kept)
        self._catch_up(rows)
        start, when = self._same, datetime.now(UTC).isoformat(timespec="milliseconds")
        new = [each.raw for each in listed.messages[start:]]
        lines = [] if self._messages else [self._head]
        lines += records.lines_between(self._messages, start, new)
        record = {"type": "end", "turn": listed.turn, "when": when, "format": listed.format}
        record |= {"messages": len(listed.messages), **fields}
        self._messages[start:] = new
        self._same = len(self._messages)
        return b"".join([*lines, records.line(record)])

    def forget(self) -> None:
        """Begin the next turn with the rows as they are then: this one was not committed."""
        self.last, self._messages, self._same = 0, [], 0

    def _catch_up(self, rows: Rows) -> None:
        """Take in the rows that are not known: after a restart, or of another process."""
        found = rows(self.last)
        if self.last and any(packing.is_packed(lines) for _, lines in found):
            self.forget()  # a packed row repeats rows that are known
            found = rows(0)
        for number, lines in found:
            for record in records.parsed_messages(reader.readable(lines)):
                match record:
                    case {"type": "message", "at": int(at), "items": list(items)}:
                        self._messages[at : at + 1] = [tuple(items)]
                        self._same = min(self._same, at)
                    case {"type": "cut", "at": int(at)}:
                        del self._messages[at:]
                        self._same = min(self._same, at)
            self.last = number


def call_fields(
    call: Any, decisions: Iterable[Decision], committed: Iterable[Record]
) -> dict[str, Any]:
    """Return what the record of a call has: the account, what was decided, and the entries."""
    entries = [
        {
            "id": each.entry.id,
            "type": each.entry.type,
            "turn": each.entry.source.turn,
            "kind": each.kind,
            "tool": each.tool,
            "content": each.content,
            "tokens": each.tokens,
            "stage": each.stage,
        }
        for each in committed
    ]
    decided = [asdict(each) for each in decisions]
    return {"type": "call", **asdict(call), "decisions": decided, "entries": entries}


def pack(db: Database, session: int, min_bytes: int, seconds: float | None = None) -> None:
    """Pack the rows of a session that are not packed yet into the last of them.

    Turns go on meanwhile: they are packed before the lock is taken, and stay where another process
    has packed them first.
    """
    found = [row for row in db.rows(LINES, (session, 0)) if not packing.is_packed(row[1])]
    if not found or sum(len(lines) for _, lines in found) < min_bytes:
        return
    last = found[-1][0]
    packed = packing.packed(b"".join(lines for _, lines in found), LEVEL)
    packing.unpacked(packed)  # what cannot be read back stays as it is
    with db.transaction(seconds):
        stored = [row for row in db.rows(LINES, (session, 0)) if row[0] <= last]
        if [row for row in stored if not packing.is_packed(row[1])] == found:
            gone = [(session, number) for number, _ in found[:-1]]
            db.run_many("DELETE FROM conversation WHERE session = ? AND number = ?", gone)
            query = "UPDATE conversation SET lines = ? WHERE session = ? AND number = ?"
            db.run(query, (packed, session, last))
    db.shrink()
