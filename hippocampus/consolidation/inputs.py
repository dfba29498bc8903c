"""What consolidations and context loads work with, as data.

Light to import: the fact store is loaded only where a session ends or starts with memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hippocampus.consolidation.transcript import Utterance
from hippocampus.policy import Policy
from hippocampus.session.ports import ConsolidationOutcome, SessionSnapshot
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from hippocampus.consolidation.memory_lines import Line
    from hippocampus.facts import Facts


class Trigger(StrEnum):
    """What starts a consolidation (protocol, section 14.3)."""

    TURN_COMPLETE = "turn_complete"
    """Light: strengths, stages and associations; the turn does this itself."""
    CONTEXT_THRESHOLD = "context_threshold"
    """Deep, in a thread, after a compaction shortened the view."""
    SESSION_END = "session_end"
    """Deep, also on the host's request and after a crash."""
    DEFRAG_CYCLE = "defrag_cycle"
    """Archival: `hippocampus defrag`."""


@dataclass(frozen=True, slots=True)
class CompletedSession(SessionSnapshot):
    """A session with what the disk has in addition to its list of messages."""

    noted: Sequence[Utterance] = ()
    """Earlier statements, from the archive or, without one, from the ledger."""


@dataclass(frozen=True, slots=True)
class ConsolidationResources:
    """What a consolidation works with."""

    policy: Policy
    facts: Callable[[], Facts]
    """Opens the fact store; called only if there is something to store."""
    complete: Callable[[str], str] | None = None
    """Returns a model's answer to a prompt."""
    render: Callable[[Sequence[Line]], str] | None = None
    """Writes the memory file in a custom format of the host."""
    publish: Callable[[ConsolidationOutcome], bool] = lambda _: True
    """Writes the files that people read, and returns whether it could; repeating changes nothing."""


@dataclass(frozen=True, slots=True)
class ContextLoadResources:
    """What a context load works with."""

    state: StateDir
    store: ContentStore
    policy: Policy
    encoding: str
    facts: Callable[[], Facts | None]
    """Opens the fact store, if it exists."""
    read_edits: Callable[[str], object] = lambda _: None
    """Applies a person's edits of an agent's memory file to the facts."""
