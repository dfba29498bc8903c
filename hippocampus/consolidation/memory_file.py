"""MEMORY.md in a state directory: what is kept goes in, what a person changes there comes back.

How a file is written is in `memory_lines`, or a callable of the user's; here it is kept in step with
the fact store, and replaced in one step, or not at all. A line whose fact the store does not know stays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from hippocampus.consolidation import memory_lines
from hippocampus.consolidation.memory_edits import (
    Edits,
    Known,
    as_read,
    content_of,
    edits_in,
    known_in,
    read_back,
)
from hippocampus.consolidation.memory_lines import FROM_TOOLS, FileChange, Line, Row, line_of, shown
from hippocampus.errors import StoreError
from hippocampus.facts.models import Memory
from hippocampus.facts.store import Facts
from hippocampus.facts.upkeep import by_ids, successors
from hippocampus.storage import files
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

MARKDOWN, CUSTOM = "markdown", "custom"
"""The form of a file that a callable renders."""
MOST_LOST = 4
MOST_TRIES = 5
"""So often somebody else may save the file while it is being rewritten."""


Render = Callable[[Sequence[Line]], str]
"""All lines to the text of a file: a format of the user's, which is written and never read."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing a file and the fact store into step did."""

    written: bool = False
    """Whether the file was replaced; otherwise not a byte of it was touched."""
    added: tuple[str, ...] = ()
    """Ids of facts that are new, as a person wrote them into the file."""
    retired: tuple[str, ...] = ()
    """Ids of facts that a person struck out or worded anew."""


class MemoryFile:
    """An agent's memory file, or what a callable renders."""

    def __init__(
        self, state: StateDir, render: Render | None = None, agent: str = DEFAULT_AGENT
    ) -> None:
        """Name the file: `MEMORY.md`, and of another agent than the default one `MEMORY-<agent>.md`."""
        self._name = MARKDOWN if render is None else CUSTOM
        self._is_kept = True
        self._render = render
        self._agent = agent
        self.path = state.memory_file(agent, memory_lines.SUFFIX)
        self._known_path = state.known_lines(agent)
        self._lock = state.memory_lock

    @classmethod
    def as_kept(cls, state: StateDir, agent: str, *, wanted: bool = True) -> Self:
        """Return an agent's file in the form in which it is kept.

        One that is not `wanted`, or whose form only its host knows, is left alone whatever is asked.
        """
        found = cls(state, agent=agent)
        name = content_of(found._known_path).get("form", MARKDOWN)
        found._is_kept = wanted and name == MARKDOWN
        return found

    def edits(self) -> Edits:
        """Return what a person did to the file since it was written; nothing is changed by asking.

        Raises:
            StoreError: the file cannot be read.

        """
        if not self._is_kept:
            return Edits()
        try:
            return self._edits(self._text(), known_in(self._known_path))
        except OSError as failure:
            raise StoreError(f"memory file {self.path}: {failure}") from failure

    def sync(self, facts: Facts, kept: Iterable[str] = (), without: Iterable[str] = ()) -> Synced:
        """Read a person's edits back as facts, and bring the file up to date.

        `kept` are ids of facts that get a line, where they are this agent's, `without` of facts that
        have one no more. Lines of facts that are no longer true go, or say what stands in their
        place; a file of which nothing changes is not written.

        Raises:
            StoreError: a file or the fact store cannot be read or written.

        """
        if not self._is_kept:
            return Synced()
        try:
            with files.held(self._lock):
                return self._synced(facts, list(kept), frozenset(without))
        except OSError as failure:
            raise StoreError(f"memory file {self.path}: {failure}") from failure

    @property
    def paths(self) -> tuple[Path, Path]:
        """Return where the file is, and what is known of its lines."""
        return self.path, self._known_path

    def members(self) -> list[str]:
        """Return the ids of the facts that have a line."""
        return [each.fact_id for each in known_in(self._known_path).values()]

    def _synced(self, facts: Facts, kept: list[str], without: frozenset[str]) -> Synced:
        done = Synced()
        for _ in range(MOST_TRIES):
            text, known = self._text(), known_in(self._known_path)
            edits = self._edits(text, known)
            read = read_back(facts, self._agent, edits, known)
            done = Synced(
                written=False, added=done.added + read.added, retired=done.retired + read.retired
            )
            lost = [each.fact_id for each in known.values() if each.pending or not text.strip()]
            ids = [*(each.fact_id for each in known.values()), *lost, *kept]
            now = self._own(successors(facts.tables, ids)) | dict.fromkeys(without)
            change, after = self._change(text, known, now, [*lost, *kept], read.adopted)
            written = self._written(facts, text, change, after)
            settled = as_read(memory_lines.rows(written), after)
            if written == text:
                self._keep(settled)
                return done
            self._keep(
                {mark: each._replace(pending=True) for mark, each in (known | settled).items()}
            )
            if text == self._text():
                if _shrinks(text, written):
                    files.replace_file(
                        self.path.with_name(f"{self.path.name}.before"),
                        text.encode("utf-8", "surrogateescape"),
                    )
                files.replace_file(self.path, written.encode("utf-8", "surrogateescape"))
                self._keep(settled)
                return Synced(written=True, added=done.added, retired=done.retired)
        return done

    def _own(self, found: Mapping[str, Memory | None]) -> dict[str, Memory | None]:
        """Return what replaces each fact that the store knows; of another agent's nothing does."""
        return {
            memory_id: memory if memory is not None and memory.agent == self._agent else None
            for memory_id, memory in found.items()
        }

    def _edits(self, text: str, known: Mapping[str, Known]) -> Edits:
        if self._render is not None or not text.strip():  # a file that is gone is written anew
            return Edits()
        return edits_in(memory_lines.rows(text), memory_lines.marks_in(text), known)

    # What is written

    def _change(
        self,
        text: str,
        known: Mapping[str, Known],
        now: Mapping[str, Memory | None],
        kept: Sequence[str],
        adopted: Mapping[int, Memory],
    ) -> tuple[FileChange, dict[str, Known]]:
        """Return what is to become of the file, and what is known of it afterwards."""
        there = set(known) if self._render else memory_lines.marks_in(text)
        rewrite = _Rewrite(
            {
                mark: each
                for mark, each in known.items()
                if mark in there and _is_unchanged(each, now)
            }
        )
        for row in () if self._render else memory_lines.rows(text):
            if row.last in adopted:
                rewrite.adopt(row, adopted[row.last])
            elif row.mark in known and row.mark not in rewrite.after:
                rewrite.renew(row, now[known[row.mark].fact_id])
        for memory in [*rewrite.moved, *filter(None, map(now.get, kept))]:
            rewrite.add(memory, there)
        return rewrite.change(), rewrite.after

    def _written(
        self, facts: Facts, text: str, change: FileChange, after: Mapping[str, Known]
    ) -> str:
        if self._render is None:
            return memory_lines.rewritten(text, change)
        ids = [each.fact_id for each in after.values()]
        memories = by_ids(facts.tables, ids)
        lines = [line_of(memories[each]) for each in ids if each in memories]
        if ids and not lines:  # a store that knows none of them says nothing of what is true
            return text
        try:
            return self._render(lines)
        except Exception as failure:  # the host's own code may raise anything
            raise StoreError(f"{self.path}: its renderer failed: {failure!r}") from failure

    # On disk

    def _text(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return ""

    def _keep(self, known: Mapping[str, Known]) -> None:
        content = json.dumps(
            {"version": 1, "form": self._name, "lines": known}, separators=(",", ":")
        ).encode()
        if not self._known_path.exists() or self._known_path.read_bytes() != content:
            files.replace_file(self._known_path, content)


@dataclass(slots=True)
class _Rewrite:
    """What is to become of a file, row by row."""

    after: dict[str, Known]
    """What is known of the lines that will stand there, by mark."""
    put: dict[int, Line] = field(default_factory=dict)
    gone: set[int] = field(default_factory=set)
    marked: dict[int, str] = field(default_factory=dict)
    new: dict[str, Line] = field(default_factory=dict)
    moved: list[Memory] = field(default_factory=list)
    """What its row has no place for: it gets a line elsewhere."""

    def adopt(self, row: Row, memory: Memory) -> None:
        """Keep the words of a person in a row, with the mark of the fact that they became."""
        line = self._note(memory)
        if row.mark:
            self.put[row.last] = line._replace(text=shown(row.text))
        else:
            self.marked[row.last] = line.mark

    def renew(self, row: Row, memory: Memory | None) -> None:
        """Let a row say the fact that stands for its own, or take it away."""
        if memory is not None and _fits(line_of(memory), row, self.after):
            self.put[row.last] = self._note(memory)
            return
        self.gone.add(row.last)
        self.moved += [memory] if memory is not None else []

    def add(self, memory: Memory, there: Collection[str]) -> None:
        """Let a fact that has no line get one."""
        line = line_of(memory)
        if line.mark not in self.after and line.text:
            self._note(memory)
            if line.mark not in there:
                self.new[line.mark] = line

    def _note(self, memory: Memory) -> Line:
        line = line_of(memory)
        tool = line.section == FROM_TOOLS
        self.after[line.mark] = Known(memory.id, memory.content, tool=tool)
        return line

    def change(self) -> FileChange:
        """Return it as the file's form takes it."""
        return FileChange(self.put, frozenset(self.gone), self.marked, tuple(self.new.values()))


def _fits(line: Line, row: Row, after: Mapping[str, Known]) -> bool:
    """Say whether a line may stand in a row's place: a tool's word only where tools speak."""
    from_tools = line.section == FROM_TOOLS
    return line.mark not in after and (not from_tools or row.section == FROM_TOOLS)


def _shrinks(text: str, written: str) -> bool:
    """Return whether a file loses so many of its lines that its earlier text is kept next to it."""
    before, after = len(memory_lines.rows(text)), len(memory_lines.rows(written))
    return before >= MOST_LOST and after <= before // 2


def _is_unchanged(before: Known, now: Mapping[str, Memory | None]) -> bool:
    """Return whether a line says what its fact says; of a fact that the store does not know it is left alone.

    A store that was moved away, deleted or emptied says nothing of what is true.
    """
    if before.fact_id not in now:
        return True
    memory = now[before.fact_id]
    return memory is not None and (memory.id, memory.content) == (before.fact_id, before.content)


def members(state: StateDir) -> set[str]:
    """Return the ids of the facts that have a line in any agent's memory file."""
    found: set[str] = set()
    for agent in state.agents():
        found |= {each.fact_id for each in known_in(state.known_lines(agent)).values()}
    return found
