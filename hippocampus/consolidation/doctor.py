"""Examines a whole state, and mends what can be mended without a loss.

It reads everything: payloads, sessions, archives, indexes, facts, memory files, policies, file modes and
the cache of vocabularies. Nothing is decided about what a session or a fact means.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from hippocampus import policy as policies
from hippocampus.errors import HippocampusError, PolicyError, StoreError
from hippocampus.storage import salvage
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.sqlite import remove_database
from hippocampus.storage.state import StateStore
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

OPEN_TO_OTHERS = 0o077


class Finding(NamedTuple):
    """Something that is wrong, and what mends it."""

    text: str
    is_loss: bool = False
    """Whether data is damaged or lost; otherwise it costs space, time or privacy."""
    remedy: str = ""
    """What `mend` does, in words; empty where only a person can do something."""
    mend: Callable[[], object] | None = None


def examine(
    state: StateStore, *, store: ContentStore | None = None, policy: str | Path = "default"
) -> list[Finding]:
    """Return everything that is wrong with a state, losses first."""
    report, layout = verify(state, store), state.layout
    named = [(text, True) for text in report.problems] + [(text, False) for text in report.notes]
    found = [
        _of_file(layout, text, is_loss=loss) if layout else Finding(text, loss)
        for text, loss in named
    ]
    for half in (*layout.root.glob(".*.tmp"), *layout.memory.glob(".*.tmp")) if layout else ():
        text = f"{half} is left of a write that was killed"
        found.append(Finding(text, remedy="remove it", mend=half.unlink))
    try:
        policies.load(policy)
    except PolicyError as wrong:
        found += [Finding(f"policy: {each}") for each in wrong.problems]
    found += [*_facts(state), *(_modes(layout) if layout else ())]
    return sorted(found, key=lambda each: not each.is_loss)


def mend(findings: Iterable[Finding]) -> list[Finding]:
    """Mend what can be mended; return the other findings."""
    left = []
    for each in findings:
        try:
            if each.mend is None:
                left.append(each)
            else:
                each.mend()
        except (OSError, HippocampusError) as failure:
            left.append(each._replace(text=f"{each.text}; not mended: {failure}", mend=None))
    return left


def _of_file(state: StateDir, text: str, *, is_loss: bool) -> Finding:
    """Return a sentence of `verify` as a finding, with the remedy that the file it names has."""
    if str(state.index) in text:
        remedy = "remove it: it is written anew"
        return Finding(text, is_loss, remedy, functools.partial(remove_database, state.index))
    if text.startswith("store ") and "unknown file " in text:
        stray = state.contents / text.partition("unknown file ")[2]
        return Finding(text, is_loss, "remove it: no payload is in it", stray.unlink)
    if str(state.database) in text:
        return _of_state(state, text, is_loss=is_loss)
    return Finding(text, is_loss)


def _of_state(state: StateDir, text: str, *, is_loss: bool) -> Finding:
    """Return damage of the database, with what its remedy cannot save."""
    try:
        lost = salvage.lost(state)
    except StoreError:
        lost = ["nothing of it can be read"]
    left = "; ".join(lost) or "all of it can be read"
    remedy = f"write what can be read into a new file and keep the damaged one ({left})"
    return Finding(text, is_loss, remedy, functools.partial(salvage.salvage, state))


def _facts(state: StateStore) -> Iterator[Finding]:
    """Yield what the facts find wrong with themselves; a damaged file is found by `verify`."""
    with contextlib.suppress(StoreError):
        if state.has_facts():
            from hippocampus.facts import Facts
            from hippocampus.facts.words import TEXT_RULES

            with contextlib.closing(Facts(state.database(TEXT_RULES))) as facts:
                wrong = facts.check()
            yield from (Finding(f"facts: {each}", is_loss=True) for each in wrong)


def _modes(state: StateDir) -> Iterator[Finding]:
    """Yield what other accounts may read: a state directory is its owner's alone."""
    if os.name != "posix":
        return
    for path in (state.root, *sorted(state.root.rglob("*"))):
        mode = path.lstat().st_mode
        if not stat.S_ISLNK(mode) and mode & OPEN_TO_OTHERS:
            private = stat.S_IMODE(mode) & ~OPEN_TO_OTHERS
            text, remedy = (
                "can be read or written by other accounts",
                f"set its mode to {private:o}",
            )
            mended = functools.partial(path.chmod, private)
            yield Finding(f"{path} {text}", remedy=remedy, mend=mended)
