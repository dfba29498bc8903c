"""MEMORY.md in a state directory: facts get lines there, and a person's edits become facts.

`memory_lines` has the form of the file, `memory_edits` what a person did to it; here it is kept in
step with the fact store, and replaced in one step, or not at all. A line whose fact the store does
not know stays. Lines that were there before this memory, as in a cloned repository, stay too, and
become facts only when a person adopts them.
"""

from __future__ import annotations

import errno
import json
import logging
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from hippocampus.consolidation import memory_lines
from hippocampus.consolidation.memory_edits import (
    Edits,
    FileRecord,
    Known,
    as_read,
    edits_in,
    known_in,
    read_back,
    record_in,
)
from hippocampus.consolidation.memory_lines import (
    FROM_TOOLS,
    FileChange,
    MemoryLine,
    Row,
    line_of,
    shown,
)
from hippocampus.errors import StoreError
from hippocampus.facts.models import Memory
from hippocampus.facts.store import Facts
from hippocampus.facts.upkeep import successors
from hippocampus.storage import files
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

LOG = logging.getLogger("hippocampus")
STORE_KEY = "memory_file"
"""Under it a fact store has the identity that the record of the file names."""
MIN_ROWS_BEFORE = 4
"""Of a file with this number of lines that loses half of them, the earlier text is kept next to it."""
MAX_TRIES = 5
"""How often another program may save the file while it is being rewritten."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing a file and the fact store into step did."""

    written: bool = False
    """Whether the file was replaced; otherwise not a byte of it was touched."""
    added: tuple[str, ...] = ()
    """Ids of facts that are new, as a person wrote them into the file."""
    retired: tuple[str, ...] = ()
    """Ids of facts that a person struck out or reworded."""


class MemoryFile:
    """An agent's memory file."""

    def __init__(
        self, state: StateDir, agent: str = DEFAULT_AGENT, *, is_kept: bool = True
    ) -> None:
        """Name the file: `MEMORY.md`, and of another agent than the default one `MEMORY-<agent>.md`.

        One that is not kept is left alone, whatever is asked.
        """
        self._is_kept = is_kept
        self._agent = agent
        self.path = state.memory_file(agent)
        self._known_path = state.known_lines(agent)
        self._lock = state.memory_lock

    @property
    def paths(self) -> tuple[Path, Path]:
        """Return the paths of the file and of the record of its lines."""
        return self.path, self._known_path

    def members(self) -> list[str]:
        """Return the ids of the facts that have a line."""
        return [each.fact_id for each in known_in(self._known_path).values()]

    def edits(self, *, adopt: bool = False) -> Edits:
        """Return what a person did to the file since it was written; nothing is changed by asking.

        `adopt` takes the lines that were there before this memory as the person's own.

        Raises:
            StoreError: the file cannot be read.

        """
        if not self._is_kept:
            return Edits()
        try:
            text = self._text()
            record = record_in(self._known_path) or _unknown(text)
            return edits_in(text, record.lines, () if adopt else record.foreign)
        except OSError as failure:
            raise StoreError(f"memory file {self.path}: {failure}") from failure

    def sync(
        self,
        facts: Facts,
        kept: Iterable[str] = (),
        without: Iterable[str] = (),
        *,
        adopt: bool = False,
    ) -> Synced:
        """Read a person's edits back as facts, and bring the file up to date.

        `kept` are ids of facts that get a line, where they are this agent's, `without` of facts that
        have one no more. Lines of facts that are no longer true go, or get the facts that replaced
        them; a file of which nothing changes is not written. `adopt` is that of `edits`.

        Raises:
            StoreError: a file or the fact store cannot be read or written.

        """
        if not self._is_kept:
            return Synced()
        ids = list(kept)
        max_seconds = files.MAX_QUEUE_SECONDS if ids else 0.0
        try:
            with files.held(self._lock, max_seconds):
                return self._synced(facts, ids, frozenset(without), adopt=adopt)
        except OSError as failure:
            if failure.errno == errno.EAGAIN and not ids:
                return Synced()  # the process that holds the lock brings the file up to date
            raise StoreError(f"memory file {self.path}: {failure}") from failure

    def _synced(
        self, facts: Facts, kept: list[str], without: frozenset[str], *, adopt: bool
    ) -> Synced:
        added: tuple[str, ...] = ()
        retired: tuple[str, ...] = ()
        for _ in range(MAX_TRIES):
            text = self._text()
            record = self._record(facts, text)
            known, foreign = record.lines, () if adopt else record.foreign
            read = read_back(facts, self._agent, edits_in(text, known, foreign), known)
            added, retired = added + read.added, retired + read.retired
            lost = [each.fact_id for each in known.values() if each.pending or not text.strip()]
            ids = [*(each.fact_id for each in known.values()), *lost, *kept]
            now = {
                fact_id: memory if memory is not None and memory.agent == self._agent else None
                for fact_id, memory in successors(facts.tables, ids).items()
            } | dict.fromkeys(without)
            change, after = _change(text, known, now, [*lost, *kept], read.adopted)
            written = memory_lines.rewritten(text, change)
            rows = memory_lines.rows(written)
            settled = record._replace(
                lines=as_read(rows, after),
                foreign=tuple(row.text for row in rows if not row.mark and row.text in foreign),
            )
            if written == text:
                self._keep(settled)
                return Synced(added=added, retired=retired)
            # A crash from here on leaves lines of which it is not known whether they were written.
            both = (known | settled.lines).items()
            pending = {mark: each._replace(pending=True) for mark, each in both}
            self._keep(settled._replace(lines=pending))
            if text == self._text():
                before = len(memory_lines.rows(text))
                if before >= MIN_ROWS_BEFORE and len(memory_lines.rows(written)) <= before // 2:
                    earlier = self.path.with_name(f"{self.path.name}.before")
                    files.replace_file(earlier, text.encode("utf-8", "surrogateescape"))
                files.replace_file(self.path, written.encode("utf-8", "surrogateescape"))
                self._keep(settled)
                return Synced(written=True, added=added, retired=retired)
        return Synced(added=added, retired=retired)

    def _text(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""

    def _record(self, facts: Facts, text: str) -> FileRecord:
        """Return the record of the file, if it is of this fact store."""
        identity = facts.tables.database.meta(STORE_KEY)
        record = record_in(self._known_path)
        if record and not record.store and identity is None:  # of a version without identities
            known = facts.by_ids(each.fact_id for each in record.lines.values())
            record = record if known else None
        elif record and record.store != identity:
            record = None
        if identity is None:
            identity = secrets.token_hex(8)
            facts.tables.database.set_meta(STORE_KEY, identity)
        if record is None:
            record = _unknown(text)
            if record.foreign:
                LOG.warning(
                    "memory file %s: %d lines were there before this memory, and are no facts; "
                    "`hippocampus consolidate %s --adopt-lines` takes them as yours",
                    self.path,
                    len(record.foreign),
                    self.path.parent,
                )
        return record._replace(store=identity)

    def _keep(self, record: FileRecord) -> None:
        content = json.dumps({"version": 1} | record._asdict(), separators=(",", ":")).encode()
        if not self._known_path.exists() or self._known_path.read_bytes() != content:
            files.replace_file(self._known_path, content)


def _unknown(text: str) -> FileRecord:
    """Return the record of a file that this memory has not written: none of its lines is known."""
    return FileRecord({}, tuple(row.text for row in memory_lines.rows(text) if not row.mark))


def _change(
    text: str,
    known: Mapping[str, Known],
    now: Mapping[str, Memory | None],
    kept: Sequence[str],
    adopted: Mapping[int, Memory],
) -> tuple[FileChange, dict[str, Known]]:
    """Return the change of a file, and the records of its lines afterwards.

    `now` has for each fact that the store knows the one that is true in its place; a store that was
    moved away, deleted or emptied knows none, and its lines stay.
    """
    there = memory_lines.marks_in(text)
    change = FileChange()
    after = {
        mark: each
        for mark, each in known.items()
        if mark in there and (each.fact_id not in now or _has_line(now[each.fact_id], each))
    }

    def noted(memory: Memory) -> MemoryLine:
        line = line_of(memory)
        after[line.mark] = Known(memory.id, memory.content, tool=line.section == FROM_TOOLS)
        return line

    moved = []
    """Facts for which their row has no place: they get a line elsewhere."""
    for row in memory_lines.rows(text):
        if row.last in adopted:  # the words of a person stay, with the mark of their fact
            line = noted(adopted[row.last])
            if row.mark:
                change.put[row.last] = line._replace(text=shown(row.text))
            else:
                change.marked[row.last] = line.mark
        elif row.mark in known and row.mark not in after:
            memory = now[known[row.mark].fact_id]
            if memory is not None and _fits(line_of(memory), row, after):
                change.put[row.last] = noted(memory)
            else:
                change.gone.add(row.last)
                moved += [memory] if memory is not None else []
    for memory in [*moved, *filter(None, map(now.get, kept))]:
        line = line_of(memory)
        if line.mark not in after and line.text:
            noted(memory)
            if line.mark not in there:
                change.new[line.mark] = line
    return change, after


def _has_line(memory: Memory | None, line: Known) -> bool:
    """Return whether a line has the words of the fact that is true now."""
    return memory is not None and (memory.id, memory.content) == (line.fact_id, line.content)


def _fits(line: MemoryLine, row: Row, after: Mapping[str, Known]) -> bool:
    """Return whether a line may replace a row: one from a tool only in the section of tools."""
    from_tools = line.section == FROM_TOOLS
    return line.mark not in after and (not from_tools or row.section == FROM_TOOLS)


def members(state: StateDir) -> set[str]:
    """Return the ids of the facts that have a line in any agent's memory file."""
    return {
        each.fact_id
        for agent in state.agents()
        for each in known_in(state.known_lines(agent)).values()
    }
