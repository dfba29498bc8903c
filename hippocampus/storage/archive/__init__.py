"""The raw conversation of each session with its ledger, as JSON lines: what `hippocampus replay` reads.

What a view shows is never read from here.
"""

from __future__ import annotations

from pathlib import Path

from hippocampus.policy import Policy
from hippocampus.storage.archive.journal import Journal
from hippocampus.storage.archive.reader import FOLDER, conversation, is_kept, lists, unfinished
from hippocampus.storage.archive.records import Context, Conversation, contexts

__all__ = [
    "FOLDER",
    "Context",
    "Conversation",
    "Journal",
    "contexts",
    "conversation",
    "is_kept",
    "journal_of",
    "lists",
    "unfinished",
]


def journal_of(state_dir: Path, session: str, policy: Policy) -> Journal | None:
    """Return the journal of a session, or nothing where its policy keeps no archive."""
    if not policy.consolidation.archive:
        return None
    return Journal(state_dir / FOLDER, session, policy.name)
