"""Daily logs `memory/YYYY-MM-DD.md`: what sessions kept on a day, for people to read.

Each consolidation is logged once.
"""

from __future__ import annotations

import errno
import hashlib
from collections.abc import Callable, Collection
from pathlib import Path

from hippocampus.consolidation.memory_lines import MARK, mark_of, shown
from hippocampus.entries.entry import storable
from hippocampus.errors import StoreError
from hippocampus.facts.timestamps import day, stamp
from hippocampus.session.resources import ConsolidationOutcome
from hippocampus.storage import files
from hippocampus.storage.database import Database
from hippocampus.storage.facts import memories
from hippocampus.storage.state_dir import StateDir

RECENT_LOGS = 62
"""The newest logs that are searched for a consolidation that is logged already."""
MAX_TRIES = 5
"""How often another program may save a file while it is being rewritten."""


def append(state: StateDir, outcome: ConsolidationOutcome, at: float) -> bool:
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
            named = f"{shown(storable(outcome.session))}, turn {outcome.turn}"
            lines = [f"## {stamp(at)[11:16]} {named} {key}", ""]
            if outcome.model_tokens:
                lines.append(f"The model was asked once, for {outcome.model_tokens:,} tokens.\n")
            for kept in outcome.kept:
                done = f", {kept.outcome.replace('_', ' ')}" if kept.outcome else ""
                entry = f", entry {kept.entry_id}" if kept.entry_id else ""
                mark = f" <!-- {mark_of(kept.fact_id)} -->" if kept.fact_id else ""
                origin = f"{kept.origin}, turn {kept.turn}{entry}"
                lines.append(f"- {kept.kind}: {shown(kept.text)} ({origin}{done}){mark}")
            if not outcome.kept:
                lines.append("No statement was kept; messages are not listed.")
            title = f"# {day(at)}\n"
            rewrite(path, lambda before: "\n".join([before or title, *lines, ""]))
    except OSError as failure:
        raise StoreError(f"daily log {path}: {failure}") from failure
    return True


def remove(state: StateDir, session: str) -> None:
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


def sync(state: StateDir, db: Database, without: Collection[str] = ()) -> None:
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
    return hashlib.sha256(session.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def rewrite(path: Path, change: Callable[[str], str]) -> bool:
    """Change a file that people edit too, in one step, and return whether it was written; its line ends stay.

    Raises:
        OSError: it cannot be read or written, or another program keeps writing it.
    """
    for _ in range(MAX_TRIES):
        text = text_of(path)
        is_crlf = 0 < text.count("\n") == text.count("\r\n")
        before = text.replace("\r\n", "\n") if is_crlf else text
        changed = change(before)
        if changed == before:
            return False
        if text == text_of(path):
            changed = changed.replace("\n", "\r\n") if is_crlf else changed
            files.replace_file(path, changed.encode("utf-8", "surrogateescape"))
            return True
    raise OSError(errno.EBUSY, "another program keeps writing it")


def text_of(path: Path) -> str:
    """Return the text of a memory file or of a log; empty where there is none."""
    return files.read_file(path, follows_links=True).decode("utf-8", "surrogateescape")
