"""What a consolidation and an opening are made from: a session, its means, the setting. Data.

Light to import, so that a session that neither ends nor starts with memories loads no fact store.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from hippocampus.consolidation.outcome import Outcome
from hippocampus.consolidation.transcript import Utterance
from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Message
from hippocampus.policy import Policy
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state_dir import StateDir

if TYPE_CHECKING:
    from hippocampus.consolidation.memory_lines import Line
    from hippocampus.facts import Facts


class Trigger(StrEnum):
    """What sets a consolidation off (section 14.3)."""

    TURN_COMPLETE = "turn_complete"
    """Light: strengths, stages and associations, which is a turn's own work."""
    CONTEXT_THRESHOLD = "context_threshold"
    """Deep, beside the turn in which compaction shortened the view."""
    SESSION_END = "session_end"
    """Deep, also when a host asks for it and after a crash."""
    DEFRAG_CYCLE = "defrag_cycle"
    """Archival: `hippocampus defrag`."""


@dataclass(frozen=True, slots=True)
class Session:
    """A session as it is consolidated."""

    name: str
    agent: str
    turn: int
    messages: Sequence[Message]
    records: Sequence[Record]
    noted: Sequence[Utterance] = ()
    """Words of the user that are known from the ledger alone."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a consolidation works with."""

    policy: Policy
    facts: Callable[[], Facts]
    """Opens the fact store, where there is something to keep."""
    complete: Callable[[str], str] | None = None
    """A model's answer to a prompt."""
    render: Callable[[Sequence[Line]], str] | None = None
    """Writes the memory file in a format of the host's own."""
    leave: Callable[[Outcome], bool] = lambda _: True
    """Tells what was kept in the files that people read; says whether it could; again changes nothing."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a session starts."""

    session: str
    agent: str
    message: str
    """The user's first message."""
    context_time: float
    """When the session started, in seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Sources:
    """What an opening is made from."""

    state: StateDir
    store: ContentStore
    policy: Policy
    encoding: str
    facts: Callable[[], Facts | None]
    """Opens the fact store, where there is one."""
    read_edits: Callable[[str], object] = lambda _: None
    """Takes in what a person did to the memory file of an agent."""
