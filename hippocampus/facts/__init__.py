"""Long-term memory in one SQLite file: facts, memories, triples and blocks. Names only.

Importing the package loads nothing; importing a name loads what it needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hippocampus.facts.models import FactPolicy as FactPolicy
    from hippocampus.facts.models import Outcome as Outcome
    from hippocampus.facts.models import Recalled as Recalled
    from hippocampus.facts.store import Facts as Facts
    from hippocampus.storage.facts.errors import BlockError as BlockError
    from hippocampus.storage.facts.errors import EmbeddingModelError as EmbeddingModelError
    from hippocampus.storage.facts.errors import FactError as FactError
    from hippocampus.storage.facts.models import Item as Item
    from hippocampus.storage.facts.models import Memory as Memory
    from hippocampus.storage.facts.models import Origin as Origin

_HOMES = {
    "BlockError": "storage.facts.errors",
    "EmbeddingModelError": "storage.facts.errors",
    "FactError": "storage.facts.errors",
    "FactPolicy": "facts.models",
    "Facts": "facts.store",
    "Item": "storage.facts.models",
    "Memory": "storage.facts.models",
    "Origin": "storage.facts.models",
    "Outcome": "facts.models",
    "Recalled": "facts.models",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - sorted keys of the table above


def __getattr__(name: str) -> Any:
    """Load a public name from the module where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hippocampus.facts' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hippocampus.{_HOMES[name]}"), name)
