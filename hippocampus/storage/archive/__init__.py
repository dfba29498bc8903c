"""The raw conversation of each session with its ledger, as JSON lines: what `hippocampus replay` reads.

What a view shows is never read from here.
"""

from __future__ import annotations

from hippocampus.policy import Policy
from hippocampus.storage.archive.journal import Journal
from hippocampus.storage.archive.reader import conversation, is_archived, lists
from hippocampus.storage.state_dir import StateDir

__all__ = ["Journal", "conversation", "is_archived", "journal_of", "lists"]


def journal_of(state: StateDir, session: str, policy: Policy) -> Journal | None:
    """Return the journal of a session, or nothing where its policy keeps no archive."""
    if not policy.consolidation.archive:
        return None
    return Journal(state, session, policy.name)
