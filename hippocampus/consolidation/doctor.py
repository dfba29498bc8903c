"""Examines a whole state, and mends what can be mended without a loss.

It reads payloads, sessions, archives, facts, the key of encryption, file modes and files
that killed writes left.
Nothing is decided about what a session or a fact means.
"""

from __future__ import annotations

import contextlib
import functools
import os
import stat
from collections.abc import Iterable

from hippocampus.errors import HippocampusError, StoreError
from hippocampus.storage import encryption
from hippocampus.storage.state import StateStore
from hippocampus.storage.verify import Finding, verify

OPEN_TO_OTHERS = 0o077


def examine(state: StateStore) -> list[Finding]:
    """Return everything that is wrong with a state, faults first."""
    found, layout = verify(state), state.layout
    is_whole = not any(finding.mend for finding in found)
    for folder in (layout.root, layout.memory, layout.contents) if layout else ():
        for half in folder.glob(".*.tmp"):
            text = f"{half} is left of a write that was killed"
            found.append(Finding(text, remedy="remove it", mend=half.unlink))
    try:
        encryption.marker()
    except StoreError as wrong:
        found.append(Finding(str(wrong), is_fault=True))
    with contextlib.suppress(StoreError):  # a damaged file is found by `verify`, and mended first
        if is_whole and state.has_facts():
            from hippocampus.facts.store import Facts

            with contextlib.closing(Facts(state)) as facts:
                found += [Finding(f"facts: {problem}", is_fault=True) for problem in facts.check()]
    if layout and os.name == "posix":  # a state directory is only its owner's
        for path in (layout.root, *sorted(layout.root.rglob("*"))):
            mode = path.lstat().st_mode
            if not stat.S_ISLNK(mode) and mode & OPEN_TO_OTHERS:
                private = stat.S_IMODE(mode) & ~OPEN_TO_OTHERS
                text = f"{path} can be read or written by other accounts"
                mended = functools.partial(path.chmod, private)
                found.append(Finding(text, remedy=f"set its mode to {private:o}", mend=mended))
    return sorted(found, key=lambda finding: not finding.is_fault)


def mend(findings: Iterable[Finding]) -> list[Finding]:
    """Mend what can be mended; return the other findings."""
    left = []
    for finding in findings:
        try:
            if finding.mend is None:
                left.append(finding)
            else:
                finding.mend()
        except (OSError, HippocampusError) as failure:
            left.append(finding._replace(text=f"{finding.text}; not mended: {failure}", mend=None))
    return left
