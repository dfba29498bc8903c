"""The data and callables of consolidations and context loads.

Light to import: the fact store is loaded only where a session ends or starts with memories.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hippocampus.policy import Policy
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state import StateStore

if TYPE_CHECKING:
    from hippocampus.facts import Facts


@dataclass(frozen=True, slots=True)
class ConsolidationResources:
    """What the consolidations and the context loads of one memory work with."""

    state: StateStore
    store: ContentStore
    policy: Policy
    facts: Callable[[], Facts]
    """Opens the long-term memory, made if missing."""
    known_facts: Callable[[], Facts | None]
    """Opens it if it exists."""
    complete: Callable[[str], str] | None = None
    """Returns a model's answer to a prompt."""
    read_edits: Callable[[str], object] = lambda _: None
    """Applies a person's edits of an agent's memory file to the facts."""
