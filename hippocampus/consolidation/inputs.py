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
    """What a consolidation works with."""

    policy: Policy
    facts: Callable[[], Facts]
    """Opens the long-term memory."""
    complete: Callable[[str], str] | None = None
    """Returns a model's answer to a prompt."""


@dataclass(frozen=True, slots=True)
class ContextLoadResources:
    """What a context load works with."""

    state: StateStore
    store: ContentStore
    policy: Policy
    encoding: str
    facts: Callable[[], Facts | None]
    """Opens the fact store, if it exists."""
    read_edits: Callable[[str], object] = lambda _: None
    """Applies a person's edits of an agent's memory file to the facts."""
