"""MEMORY.md in a state directory: facts get lines there, and a person's edits become facts of the user.

`memory_lines` has the form of the file; here it is kept in step with the fact store, and replaced in
one step, or not at all. A line whose fact the store does not know stays. Lines that were there
before this memory, as in a cloned repository, stay too, and become facts only when a person adopts them.
"""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from hippocampus.consolidation import daily_log
from hippocampus.consolidation.memory_lines import (
    FROM_TOOLS,
    MARK,
    Row,
    mark_of,
    rendered,
    rows,
    shown,
    with_added,
)
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.facts.exchange.markdown import item_of, type_of
from hippocampus.facts.models import UNTRUSTED, WRITTEN
from hippocampus.facts.store import Facts
from hippocampus.facts.upkeep import retire, withdraw
from hippocampus.facts.write import remember_many
from hippocampus.policy import Policy
from hippocampus.session.consolidator import ConsolidationOutcome
from hippocampus.storage import files
from hippocampus.storage.facts.errors import FactError
from hippocampus.storage.facts.memories import by_id, successors
from hippocampus.storage.facts.models import Item, Memory, Origin
from hippocampus.storage.state_dir import DEFAULT_AGENT, StateDir

LOG = logging.getLogger("hippocampus")
RECORD = "memory_text "
"""Under it and the name of an agent a fact store has the record of the file."""
MAX_TRIES = 5
"""How often another program may save the file while it is being rewritten."""
BY_HAND = "struck out in the memory file"
USER = Origin(role="user")


class FileRecord(NamedTuple):
    """The record of a memory file."""

    texts: tuple[str, ...]
    """What was written last, or was there before; a second one is what a crash may have kept from being written."""
    facts: dict[str, tuple[str, str]]
    """By mark, the id of the fact that has a line, and its content."""


class Edits(NamedTuple):
    """What a person did to a file since it was written."""

    new: tuple[Row, ...] = ()
    changed: tuple[tuple[str, Row], ...] = ()
    """Ids of facts with the lines that replace theirs."""
    struck: tuple[str, ...] = ()
    """Ids of facts whose lines are gone."""


@dataclass(frozen=True, slots=True)
class Synced:
    """What bringing a file and the fact store into step did."""

    written: bool = False
    """Whether the file was replaced; otherwise not a byte of it was touched."""
    added: tuple[str, ...] = ()
    """Ids of facts that are new, as a person wrote them into the file."""
    retired: tuple[str, ...] = ()
    """Ids of facts that a person struck out or reworded."""
    deleted: tuple[str, ...] = ()
    """Ids of facts whose lines went, since the store has deleted them."""


class MemoryFile:
    """An agent's memory file."""

    def __init__(
        self, state: StateDir | None, agent: str = DEFAULT_AGENT, *, is_kept: bool = True
    ) -> None:
        """Name the file: `MEMORY.md`, and of another agent than the default one `MEMORY-<agent>.md`.

        One that is not kept, as without a directory, is left alone, whatever is asked.
        """
        self._is_kept = is_kept and state is not None
        self._agent = agent
        self._state = state or StateDir(Path())
        self.path = self._state.memory_file(agent)
        self._lock = self._state.memory_lock

    def edits(self, facts: Facts, *, adopt: bool = False) -> Edits:
        """Return what a person did to the file since it was written; nothing is changed by asking.

        `adopt` takes the lines that were there before this memory as the person's own.

        Raises:
            StoreError: the file cannot be read.
        """
        if not self._is_kept:
            return Edits()
        try:
            text = self._text()
            return edits_in(text, self._record(facts, text), adopt=adopt)
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
        them; a file of which nothing changes is not written. What the store has deleted leaves the daily
        logs too. `adopt` is that of `edits`.

        Raises:
            StoreError: a file or the fact store cannot be read or written.
        """
        if not self._is_kept:
            return Synced()
        ids = list(kept)
        max_seconds = files.MAX_QUEUE_SECONDS if ids else 0.0
        try:
            with files.held(self._lock, max_seconds):
                done = self._synced(facts, ids, frozenset(without), adopt=adopt)
            if done.deleted:
                daily_log.remove_facts(self._state, done.deleted)
        except OSError as failure:
            if failure.errno == errno.EAGAIN and not ids:
                return Synced()  # the process that holds the lock brings the file up to date
            raise StoreError(f"memory file {self.path}: {failure}") from failure
        return done

    def _synced(
        self, facts: Facts, kept: list[str], without: frozenset[str], *, adopt: bool
    ) -> Synced:
        added: tuple[str, ...] = ()
        retired: tuple[str, ...] = ()
        for _ in range(MAX_TRIES):
            text = self._text()
            record = self._record(facts, text)
            edits = edits_in(text, record, adopt=adopt)
            adopted, done = read_back(facts, self._agent, edits)
            added, retired = added + done.added, retired + done.retired
            gone = {*edits.struck, *dict(edits.changed)}
            known = {mark: fact for mark, fact in record.facts.items() if fact[0] not in gone}
            ids = [fact_id for fact_id, _ in known.values()]
            lost = ids if len(record.texts) > 1 or not text.strip() else []
            now = {
                fact_id: memory if memory is not None and memory.agent == self._agent else None
                for fact_id, memory in successors(facts.tables.database, [*ids, *kept]).items()
            } | dict.fromkeys(without)
            written, after = _merged(text, known, now, [*lost, *kept], adopted)
            settled = FileRecord((written,), after)
            if written == text:
                self._keep(facts, settled)
                break
            # A crash from here on leaves lines of which it is not known whether they were written.
            self._keep(facts, FileRecord((*record.texts, written), known | after))
            if text == self._text():
                files.replace_file(self.path, written.encode("utf-8", "surrogateescape"))
                self._keep(facts, settled)
                deleted = tuple({*ids} - by_id(facts.tables.database, ids).keys())
                return Synced(written=True, added=added, retired=retired, deleted=deleted)
        return Synced(added=added, retired=retired)

    def _text(self) -> str:
        content = files.read_file(self.path, follows_links=True)
        return content.decode("utf-8", "surrogateescape")

    def _record(self, facts: Facts, text: str) -> FileRecord:
        """Return the record of the file; of one that this memory has not written no line is known."""
        return record_of(facts, self._agent) or FileRecord((text,), {})

    def _keep(self, facts: Facts, record: FileRecord) -> None:
        before = record_of(facts, self._agent)
        foreign = sum(not row.mark for row in rows(record.texts[0]))
        if before is None and foreign:
            LOG.warning(
                "memory file %s: %d lines were there before this memory, and are no facts; "
                "`hippocampus consolidate %s --adopt-lines` takes them as yours",
                self.path,
                foreign,
                self.path.parent,
            )
        if record != before:
            facts.tables.database.set_meta(f"{RECORD}{self._agent}", json.dumps(record))


def _merged(
    text: str,
    known: Mapping[str, tuple[str, str]],
    now: Mapping[str, Memory | None],
    kept: Sequence[str],
    adopted: Mapping[int, Memory],
) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return a file brought up to date, and the facts of its lines; every other line keeps its bytes.

    `now` has for each fact that the store knows the one that is true in its place; a store that was
    moved away, deleted or emptied knows none, and its lines stay.
    """
    lines: list[str | None] = [*text.split("\n")] if text else []
    there = set(MARK.findall(text))
    after = {
        mark: fact
        for mark, fact in known.items()
        if mark in there
        and (
            fact[0] not in now  # else the line has the words of the fact that is true now
            or ((true := now[fact[0]]) and (true.id, true.content) == fact)
        )
    }

    def noted(memory: Memory) -> Memory:
        after[mark_of(memory.id)] = memory.id, memory.content
        return memory

    moved = []
    """Facts for which their row has no place: they get a line elsewhere."""
    for row in rows(text):
        if row.last in adopted and not row.mark:  # the words of a person stay
            words = str(lines[row.last])
            ending = "\r" if words.endswith("\r") else ""
            mark = mark_of(noted(adopted[row.last]).id)
            lines[row.last] = f"{words.rstrip()} <!-- {mark} -->{ending}"
        elif row.last in adopted or (row.mark in known and row.mark not in after):
            memory = adopted.get(row.last) or now[known[row.mark][0]]
            lines[row.first : row.last + 1] = [None] * (row.last + 1 - row.first)
            if row.last in adopted and memory:
                lines[row.last] = rendered(noted(memory), shown(row.text))
            elif (
                memory  # one from a tool stands in the section of tools only
                and mark_of(memory.id) not in after
                and (memory.origin.role != UNTRUSTED or row.section == FROM_TOOLS)
            ):
                lines[row.last] = rendered(noted(memory))
            else:
                moved.append(memory)
    added = []
    for memory in filter(None, [*moved, *map(now.get, kept)]):
        mark = mark_of(memory.id)
        if mark not in after and shown(memory.content):
            noted(memory)
            added += [memory] if mark not in there else []
    return with_added("\n".join(each for each in lines if each is not None), added), after


def members(state: StateDir | None, facts: Facts) -> set[str]:
    """Return the ids of the facts that have a line in any agent's memory file."""
    agents = state.agents() if state else []
    records = filter(None, (record_of(facts, agent) for agent in agents))
    return {fact_id for record in records for fact_id, _ in record.facts.values()}


# A person's edits ----------------------------------------------------------------------------------


def edits_in(text: str, record: FileRecord, *, adopt: bool = False) -> Edits:
    """Return what a person did to a file; one that is gone or empty is written again."""
    if not text.strip():
        return Edits()
    before = [row for each in record.texts for row in rows(each)]
    known = {mark: [row for row in before if row.mark == mark] for mark in record.facts}
    foreign = set() if adopt else {row.text for row in before if not row.mark}
    new: list[Row] = []
    changed: dict[str, Row] = {}
    as_written = {row.mark for row in rows(text) if _is_as_written(row, known)}
    for row in rows(text):
        is_foreign = row.mark not in known if row.mark else row.text in foreign
        if _is_as_written(row, known) or is_foreign:
            continue
        if row.mark and row.mark not in as_written and row.mark not in changed:
            changed[row.mark] = row
        else:
            new.append(row)
    there = set(MARK.findall(text))
    struck = [fact_id for mark, (fact_id, _) in record.facts.items() if mark not in there]
    reworded = tuple((record.facts[mark][0], row) for mark, row in changed.items())
    return Edits(tuple(new), reworded, () if len(record.texts) > 1 else tuple(struck))


def _is_as_written(row: Row, known: Mapping[str, Sequence[Row]]) -> bool:
    """Return whether a row has the text that was written, and a tool's fact is under no type."""
    before = known.get(row.mark, ())
    is_tools = any(each.origin == UNTRUSTED for each in before)
    return row.text in {each.text for each in before} and not (is_tools and type_of(row.section))


def record_of(facts: Facts, agent: str) -> FileRecord | None:
    """Return the record of an agent's file; None of one that was never written."""
    stored = facts.tables.database.meta(f"{RECORD}{agent}")
    if stored is None:
        return None
    texts, known = json.loads(stored)
    return FileRecord(tuple(texts), {mark: (fact[0], fact[1]) for mark, fact in known.items()})


def by_ids(facts: Facts, ids: Iterable[str]) -> dict[str, Memory]:
    """Return the memories of those ids that exist, whatever became of them."""
    found = by_id(facts.tables.database, list(ids))
    return {memory_id: memory for memory_id, (_, memory) in found.items()}


def read_back(facts: Facts, agent: str, edits: Edits) -> tuple[dict[int, Memory], Synced]:
    """Take edits into the fact store; return by its last line the fact of each row that a person wrote."""
    reworded = dict(edits.changed)
    before = by_ids(facts, [*edits.struck, *reworded])
    retired = retire(facts.tables, before, BY_HAND)
    shorter, empty = withdraw(facts.tables, list(before.values()), BY_HAND)
    lines = [*reworded.values(), *edits.new]
    olds = [before.get(fact_id) for fact_id in reworded] + [None] * len(edits.new)
    items = [_item(row, old) for row, old in zip(lines, olds, strict=True)]
    done = written = remember_many(facts.tables, items, agent=agent)
    tools = [
        each.memory.id for each in done if each.memory and each.memory.origin.role == UNTRUSTED
    ]
    if tools:  # they came from a tool; now they come from the user
        retired += retire(facts.tables, tools, BY_HAND)
        done = remember_many(facts.tables, items, agent=agent)
    adopted = {row.last: each.memory for row, each in zip(lines, done, strict=True) if each.memory}
    added = [each.memory.id for each in [*written, *done] if each.memory and each.action in WRITTEN]
    gone = tuple(each.id for each in [*retired, *empty])
    return adopted, Synced(added=(*dict.fromkeys(added), *shorter), retired=gone)


def _item(row: Row, old: Memory | None) -> Item:
    """Return what a person wrote as a statement of the user."""
    try:
        item = item_of(row.text, row.section)
    except FactError:  # what looks like a date is none
        item = Item(row.text, type=type_of(row.section) or None)
    kind = item.type or (old.type if old is not None else None)
    return replace(item, type=kind, origin=USER, tags=item.tags if old is None else old.tags)


# For a session ---------------------------------------------------------------------------------------


def publish(
    state: StateDir, outcome: ConsolidationOutcome, facts: Facts, policy: Policy, at: float
) -> bool:
    """Write what a consolidation kept into the policy's files, and return whether that worked.

    Repeating it changes nothing. `at` is in seconds since 1970. A failure is logged: the facts are
    stored, and repeating this updates the files.
    """
    try:
        if policy.consolidation.memory_file:
            # The files of the store's own agent, and of each agent whose facts were kept.
            kept = by_ids(facts, [each.fact_id for each in outcome.kept if each.fact_id])
            for agent in {facts.agent} | {each.agent for each in kept.values()}:
                MemoryFile(state, agent).sync(facts, kept)
        if policy.consolidation.daily_logs:
            daily_log.append(state, outcome, at)
    except HippocampusError as failure:  # a session's end does not fail for these files
        problem = "session %s: memory file or daily log not written: %s"
        LOG.warning(problem, outcome.session, failure)
        return False
    return True


def read_edits(
    state: StateDir | None,
    facts: Facts | None,
    agent: str,
    policy: Policy,
    *,
    adopt: bool = False,
) -> Synced:
    """Apply a person's edits of an agent's memory file to the facts; repeating it changes nothing.

    Without facts no line was written, so that there is none to edit. `adopt` takes lines that were there before this memory as the person's own. A file that cannot be read is logged: no session fails for it.
    """
    file = MemoryFile(state, agent or DEFAULT_AGENT, is_kept=policy.consolidation.memory_file)
    try:
        is_edited = facts is not None and any(file.edits(facts, adopt=adopt))
        return file.sync(facts, adopt=adopt) if facts and is_edited else Synced()
    except HippocampusError as failure:
        LOG.warning("memory file %s: edits not read: %s", file.path, failure)
        return Synced()
