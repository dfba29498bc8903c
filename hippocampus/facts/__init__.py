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

_HOMES = dict.fromkeys(("BlockError", "EmbeddingModelError", "FactError"), "storage.facts.errors")
_HOMES |= dict.fromkeys(("Item", "Memory", "Origin"), "storage.facts.models")
_HOMES |= dict.fromkeys(("FactPolicy", "Outcome", "Recalled"), "facts.models")
_HOMES |= {"Facts": "facts.store"}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - sorted keys of the table above


def __getattr__(name: str) -> Any:
    """Load a public name from the module where it lives."""
    if name not in _HOMES:
        raise AttributeError(f"module 'hippocampus.facts' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hippocampus.{_HOMES[name]}"), name)
