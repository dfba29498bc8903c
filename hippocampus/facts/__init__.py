"""Long-term memory in one SQLite file: facts, memories, triples and blocks. Names only.

Importing the package loads nothing; importing a name loads what it needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hippocampus.facts.errors import BlockError as BlockError
    from hippocampus.facts.errors import EmbeddingModelError as EmbeddingModelError
    from hippocampus.facts.errors import FactError as FactError
    from hippocampus.facts.models import FactPolicy as FactPolicy
    from hippocampus.facts.models import Item as Item
    from hippocampus.facts.models import Memory as Memory
    from hippocampus.facts.models import Origin as Origin
    from hippocampus.facts.models import Outcome as Outcome
    from hippocampus.facts.models import Recalled as Recalled
    from hippocampus.facts.store import Facts as Facts

_HOMES = {
    "BlockError": "errors",
    "EmbeddingModelError": "errors",
    "FactError": "errors",
    "FactPolicy": "models",
    "Facts": "store",
    "Item": "models",
    "Memory": "models",
    "Origin": "models",
    "Outcome": "models",
    "Recalled": "models",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - sorted keys of the table above


def __getattr__(name: str) -> Any:
    """Load a public name from the module where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hippocampus.facts' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hippocampus.facts.{_HOMES[name]}"), name)
