"""The files of a state directory for people to read: MEMORY.md, a line a fact, and a log of each day.

`facts.exchange.markdown` has the form of the lines; here they are kept in step with the fact store, and
a file is replaced in one step, or not at all. They are written and never read back as facts: what a person,
a tool or a pull of a repository writes into them stays there, and the store does not change.
"""

from __future__ import annotations

import errno
import hashlib
import itertools
import logging
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from hippocampus.entries.entry import storable
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.facts.exchange.markdown import (
    FROM_TOOLS,
    MARK,
    line_of,
    mark_of,
    rows,
    with_added,
    without_marks,
)
from hippocampus.facts.models import UNTRUSTED
from hippocampus.facts.store import Facts
from hippocampus.facts.timestamps import day, stamp
from hippocampus.policy import Policy
from hippocampus.session.resources import ConsolidationOutcome
from hippocampus.storage import files
from hippocampus.storage.database import Database
from hippocampus.storage.facts import memories
from hippocampus.storage.facts.rows import Memory
from hippocampus.storage.state_dir import StateDir

LOG = logging.getLogger("hippocampus")
NAME_CHARACTERS = 12
"""Of the digest that names a session in a log: its own name may have any characters."""
TIME_OF_DAY = slice(11, 16)
RECENT_LOGS = 62
"""The newest logs that are searched for a consolidation that is logged already."""
MAX_TRIES = 5
"""How often another program may save a file while it is being rewritten."""


def sync(
    state: StateDir,
    facts: Facts,
    agent: str,
    kept: Iterable[str] = (),
    without: Collection[str] = (),
) -> bool:
    """Bring an agent's memory file up to date, and return whether it was written.

    `kept` are ids of facts that get a line where they are the agent's and have none, `without` of those
    that are about to be deleted. The line of a fact that is no longer true goes, or gets the fact that
    replaced it, unless a person changed its words; the line of a deleted one goes. All else keeps its
    bytes.

    Raises:
        StoreError: a file or the fact store cannot be read or written.
    """
    path, db, ids = state.memory_file(agent), facts.tables.database, list(kept)
    if not (ids or path.exists()):
        return False
    try:
        with files.held(state.memory_lock, files.MAX_QUEUE_SECONDS):
            return rewrite(path, lambda text: _merged(text, db, agent, ids, without))
    except OSError as failure:
        raise StoreError(f"memory file {path}: {failure}") from failure


def sync_files(
    state: StateDir, facts: Facts, kept: Sequence[str] = (), without: Sequence[str] = ()
) -> None:
    """Bring all memory files and daily logs up to date, as `sync` does one.

    Raises:
        StoreError: a file or the fact store cannot be read or written.
    """
    db = facts.tables.database
    owners = {memory.agent for _, memory in memories.by_id(db, kept).values()}
    for agent in owners.union(state.agents()):
        sync(state, facts, agent, kept, without)
    sync_logs(state, db, without)


def _merged(text: str, db: Database, agent: str, kept: list[str], without: Collection[str]) -> str:
    """Return a file brought up to date.

    A store that was moved away, deleted or emptied knows no mark, and every line stays.
    """
    there = set(MARK.findall(text))
    ids = memories.marked(db, there)
    stored = {memory.id: memory for _, memory in memories.by_id(db, ids.values()).values()}
    true = memories.successors(db, [*ids.values(), *kept])
    lines: list[str | None] = [*text.split("\n")] if text else []
    moved: list[Memory | None] = []
    """Facts that get a new line: no line that they replaced has a place for them."""
    for row in rows(text):
        if (fact_id := ids.get(row.mark)) is None:
            continue
        memory, fact = None, stored.get(fact_id)
        if fact and fact.agent != agent:
            continue
        if fact and fact_id not in without:
            memory = true.get(fact_id)
            # What a line has in other words than those of the store, earlier ones too, is a person's.
            if row.text == without_marks(fact.content):
                is_outdated = memory is None or memory.id != fact_id
            else:
                before = memories.superseded(db, fact_id).values()
                earlier = [
                    without_marks(old.content) for old in before if old.removed == memories.REWORDED
                ]
                is_outdated = row.text in earlier
            if not is_outdated:
                continue
        lines[row.first : row.last + 1] = [None] * (row.last + 1 - row.first)
        # A fact from a tool is in the section of tools only.
        is_placed = memory and (memory.origin.role != UNTRUSTED or row.section == FROM_TOOLS)
        if memory and is_placed and (memory.id == fact_id or mark_of(memory.id) not in there):
            there.add(mark_of(memory.id))
            lines[row.last] = line_of(memory)
        else:
            moved.append(memory)
    added = {
        mark: memory
        for memory in [*moved, *(true.get(fact_id) for fact_id in kept if fact_id not in without)]
        if memory and memory.agent == agent and without_marks(memory.content)
        if memories.MARK.fullmatch(mark := mark_of(memory.id)) and mark not in there
    }
    left = "\n".join(line for line in lines if line is not None)
    return with_added(left, added.values())


def members(state: StateDir, facts: Facts) -> set[str]:
    """Return the ids of the facts that have a line in any agent's memory file.

    Raises:
        OSError: a file cannot be read.
    """
    texts = (text_of(state.memory_file(agent)) for agent in state.agents())
    marks = itertools.chain.from_iterable(map(MARK.findall, texts))
    return {*memories.marked(facts.tables.database, marks).values()}


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
            ids = [fact.fact_id for fact in outcome.kept if fact.fact_id]
            kept = memories.by_id(facts.tables.database, ids)
            for agent in {facts.agent} | {memory.agent for _, memory in kept.values()}:
                sync(state, facts, agent, ids)
        if policy.consolidation.daily_logs:
            log(state, outcome, at)
        sync_logs(state, facts.tables.database)
    except HippocampusError as failure:  # a session's end does not fail for these files
        problem = "session %s: memory file or daily log not written: %s"
        LOG.warning(problem, outcome.session, failure)
        return False
    return True


# Daily logs `memory/YYYY-MM-DD.md`: what sessions kept on a day, each consolidation once ----------------


def log(state: StateDir, outcome: ConsolidationOutcome, at: float) -> bool:
    """Log a consolidation under its day, and return whether it was not logged before.

    `at` is in seconds since 1970, and the day is in UTC. An unfinished consolidation is not logged.

    Raises:
        StoreError: a log cannot be read or written.
    """
    if not outcome.finished:
        return False
    key = f"<!-- session {_name(outcome.session)} turn {outcome.turn} -->"
    path = state.daily_log(day(at))
    try:
        with files.held(state.memory_lock, files.MAX_QUEUE_SECONDS):
            # A consolidation that was killed before it was marked as published is logged again.
            if any(key in text_of(log) for log in state.daily_logs()[-RECENT_LOGS:]):
                return False
            named = f"{without_marks(storable(outcome.session))}, turn {outcome.turn}"
            lines = [f"## {stamp(at)[TIME_OF_DAY]} {named} {key}", ""]
            if outcome.model_tokens:
                lines.append(f"The model was asked once, for {outcome.model_tokens:,} tokens.\n")
            for kept in outcome.kept:
                done = f", {kept.outcome.replace('_', ' ')}" if kept.outcome else ""
                entry = f", entry {kept.entry_id}" if kept.entry_id else ""
                mark = f" <!-- {mark_of(kept.fact_id)} -->" if kept.fact_id else ""
                origin = f"{kept.origin}, turn {kept.turn}{entry}"
                lines.append(f"- {kept.kind}: {without_marks(kept.text)} ({origin}{done}){mark}")
            if not outcome.kept:
                lines.append("No statement was kept; messages are not listed.")
            title = f"# {day(at)}\n"
            rewrite(path, lambda before: "\n".join([before or title, *lines, ""]))
    except OSError as failure:
        raise StoreError(f"daily log {path}: {failure}") from failure
    return True


def remove_from_logs(state: StateDir, session: str) -> None:
    """Remove the blocks of a session from every log, and a log of which nothing is left.

    Raises:
        OSError: a log cannot be read or written.
    """
    own = f"<!-- session {_name(session)} turn "

    def without(text: str) -> str:
        title, *blocks = text.split("\n## ")
        left = [block for block in blocks if own not in block.partition("\n")[0]]
        return "\n## ".join([title, *left])

    with files.held(state.memory_lock):
        for path in state.daily_logs():
            rewrite(path, without)
            if text_of(path).strip() == f"# {path.stem}":
                path.unlink()


def sync_logs(state: StateDir, db: Database, without: Collection[str] = ()) -> None:
    """Remove the lines of deleted facts from every log, and the lines of facts that are about to be deleted.

    A store that was moved away, deleted or emptied knows no mark, and every line stays.

    Raises:
        StoreError: a log cannot be read or written, or the fact store not be read.
    """
    if not state.daily_logs():
        return
    try:
        with files.held(state.memory_lock, files.MAX_QUEUE_SECONDS):
            texts = {path: text_of(path) for path in state.daily_logs()}
            marks = {mark for text in texts.values() for mark in MARK.findall(text)}
            ids = memories.marked(db, marks)
            stored = memories.by_id(db, ids.values()).keys() - set(without)
            gone = tuple(f" <!-- {mark} -->" for mark in ids if ids[mark] not in stored)

            def stored_lines(text: str) -> str:
                lines = text.split("\n")
                return "\n".join(line for line in lines if not line.rstrip().endswith(gone))

            for path in texts:
                rewrite(path, stored_lines)
    except OSError as failure:
        raise StoreError(f"daily logs: {failure}") from failure


def _name(session: str) -> str:
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:NAME_CHARACTERS]


# Both ----------------------------------------------------------------------------------------------


def rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Change a file that people edit too, in one step, and return whether it was written; its line ends stay.

    Raises:
        OSError: it cannot be read or written, or another program keeps writing it.
    """
    for _ in range(MAX_TRIES):
        there = files.read_file(path, follows_links=True)
        text = there.decode("utf-8", "surrogateescape")
        is_crlf = 0 < text.count("\n") == text.count("\r\n")
        before = text.replace("\r\n", "\n") if is_crlf else text
        changed = change(before)
        if changed == before:
            return False
        changed = changed.replace("\n", "\r\n") if is_crlf else changed
        content = changed.encode("utf-8", "surrogateescape")
        if files.replace_file(path, content, expected=there):
            return True
    raise OSError(errno.EBUSY, "another program keeps writing it")


def text_of(path: Path) -> str:
    """Return the text of a memory file or of a log; empty where there is none."""
    return files.read_file(path, follows_links=True).decode("utf-8", "surrogateescape")
