"""The journal of a running session: the new messages of its list are appended to one file each turn.

One write a turn and no wait for the disk. The format of the lines is in `records`.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record
from hippocampus.errors import StoreError
from hippocampus.formats.conversation import Item, Message
from hippocampus.storage import files, packing
from hippocampus.storage.archive import records
from hippocampus.storage.archive.reader import set_aside, written
from hippocampus.storage.ledger import ModelCall
from hippocampus.storage.state_dir import StateDir

LOG = logging.getLogger("hippocampus")
LEVEL = 17
"""How hard an archive is packed; no turn waits for it: a tenth of a second a megabyte."""
HEAD_BYTES = 1 << 16
"""The line that opens a part is shorter."""


class Journal:
    """The raw conversation of one session on disk; what its policy redacts is redacted in it."""

    def __init__(self, state: StateDir, session: str, policy: str = "") -> None:
        """Name the files of a session; they are opened at its first turn."""
        self._session = session
        self._policy = policy
        self._journal = state.journal(session)
        self._packed = state.packed_archive(session)
        self._lock = files.file_lock(state.journal_lock(session))
        self._descriptor: int | None = None
        self._end = 0
        self._part = 0
        self._messages: list[Sequence[Item]] = []
        """The items of each message as the archive has them; those of the caller, once written."""
        self._same = 0

    def append(  # noqa: PLR0913, PLR0917 - each is one field of the record
        self,
        messages: Sequence[Message],
        kept: int,
        format_name: str,
        call: ModelCall,
        decisions: Iterable[Decision],
        committed: Iterable[Record],
    ) -> None:
        """Write a call and the messages that it brought, once it is in the ledger.

        `messages` is the whole list, redacted; the first `kept` are those of the call before.

        Raises:
            StoreError: the file cannot be read or written.

        """
        record = _heading("call", call.turn, format_name) | _fields(call)
        record["decisions"] = [_fields(each) for each in decisions]
        record["entries"] = [
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
        self._write(messages, kept, record)

    def end(self, messages: Sequence[Message], kept: int, format_name: str, turn: int) -> None:
        """Write the messages behind the last call of a list, as the list ended.

        Raises:
            StoreError: the file cannot be read or written.

        """
        record = _heading("end", turn, format_name) | {"messages": len(messages)}
        self._write(messages, kept, record)

    def _write(self, messages: Sequence[Message], kept: int, record: dict[str, Any]) -> None:
        """Append the messages that are new in a list, and a record of it, in one write."""
        self._same = min(self._same, kept)
        with self._held() as descriptor:
            start = self._same
            new = [each.raw for each in messages[start:]]
            written = [*self._lines(start, new), records.line(record)]
            self._append(descriptor, b"".join(written))
            self._messages[start:] = new
            self._same = len(self._messages)

    def _append(self, descriptor: int, content: bytes) -> None:
        if (done := os.write(descriptor, content)) < len(content):
            raise OSError(f"{done} of {len(content)} bytes could be written")
        self._end += done

    def _lines(self, start: int, new: Sequence[Sequence[Item]]) -> list[bytes]:
        """Return the lines that turn the written list into these messages."""
        lines: list[bytes] = []
        known = self._messages[start:]
        for at, items in enumerate(new):
            before = known[at] if at < len(known) else None
            if before is not None and records.is_same(before, items):
                continue
            if before is not None and not records.is_same_without_marks(before, items):
                lines.append(records.cut_line(start + at))
                known = []
            lines.append(records.message_line(start + at, items))
        if len(known) > len(new):
            lines.append(records.cut_line(start + len(new)))
        return lines

    def close(self) -> None:
        """Pack the journal into the session's archive, in one step, and close the files.

        Raises:
            StoreError: the archive cannot be written; the journal stays as it is.

        """
        if self._descriptor is None and not self._journal.exists():
            return
        try:
            with self._held():
                part = packing.packed(written(self._journal), LEVEL)
                whole = written(self._packed) + part
                packing.unpacked(whole)  # what cannot be read back stays in the journal
                files.replace_file(self._packed, whole)
                self._journal.unlink()
        except packing.DamagedError as damage:
            raise StoreError(f"archive {self._packed} is not packed: {damage}") from damage
        finally:
            self.rest()

    def rest(self) -> None:
        """Close the journal; the next turn begins with the files as they are then."""
        if self._descriptor is not None:
            os.close(self._descriptor)
        self._descriptor = None
        self._messages, self._same, self._end = [], 0, 0

    @contextlib.contextmanager
    def _held(self) -> Iterator[int]:
        """Hold the journal as it stands on disk, what another process wrote into it taken in."""
        try:
            if self._descriptor is None:
                files.private_folder(self._journal.parent)
            with files.holding(self._lock):
                descriptor = self._opened()
                self._catch_up(descriptor)
                yield descriptor
        except OSError as failure:
            self.rest()
            raise StoreError(f"archive {self._journal}: {failure}") from failure

    def _opened(self) -> int:
        """Return the open journal; one that another process has packed is started again."""
        while True:
            if self._descriptor is None:
                self._descriptor = files.opened_for_append(self._journal)
            with contextlib.suppress(FileNotFoundError):
                if self._journal.stat().st_ino == os.fstat(self._descriptor).st_ino:
                    return self._descriptor
            self.rest()

    def _catch_up(self, descriptor: int) -> None:
        """Take in what stands on disk and is not known: after a restart, or of another process."""
        if self._end == 0:
            self._begin(descriptor)
        size = os.fstat(descriptor).st_size
        if size > self._end:
            with os.fdopen(os.dup(descriptor), "rb") as file:  # one `pread` would end at 2 GiB
                file.seek(self._end)
                content = file.read()
            whole = content[: content.rfind(b"\n") + 1]
            if whole != content:  # a process died in its last write
                os.ftruncate(descriptor, self._end + len(whole))
            self._take(whole)
            self._end += len(whole)
        if self._end == 0:
            self._part += 1
            head = {
                "type": "archive",
                "version": records.VERSION,
                "session": self._session,
                "part": self._part,
                "policy": self._policy,
            }
            self._append(descriptor, records.line(head))

    def _begin(self, descriptor: int) -> None:
        """Take in the packed parts; a journal that is one of them already is emptied.

        A damaged archive is renamed, and a new one is started.
        """
        try:
            earlier = packing.unpacked(written(self._packed))
        except packing.DamagedError as damage:
            aside, earlier = set_aside(self._packed), b""
            LOG.warning(
                "session %s: archive %s is damaged: %s; it is renamed to %s, and a new one is started",
                self._session,
                self._packed,
                damage,
                aside.name,
            )
        self._take(earlier)
        head = next(records.parsed(os.pread(descriptor, HEAD_BYTES, 0)), {})
        if head.get("part", self._part + 1) <= self._part:
            os.ftruncate(descriptor, 0)

    def _take(self, content: bytes) -> None:
        for record in records.parsed_messages(content):
            match record:
                case {"type": "archive", "part": int(part)}:
                    self._part = part
                case {"type": "message", "at": int(at), "items": list(items)}:
                    self._messages[at : at + 1] = [tuple(items)]
                    self._same = min(self._same, at)
                case {"type": "cut", "at": int(at)}:
                    del self._messages[at:]
                    self._same = min(self._same, at)


def _heading(kind: str, turn: int, format_name: str) -> dict[str, Any]:
    """Return the fields that every record of a list begins with."""
    when = datetime.now(UTC).isoformat(timespec="milliseconds")
    return {"type": kind, "turn": turn, "when": when, "format": format_name}


def _fields(value: ModelCall | Decision) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}
