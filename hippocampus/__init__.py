"""Context-lifecycle middleware for agent loops: send `session(messages)` instead of `messages`.

The public names; each is loaded at its first use, and importing the package loads nothing.
Where a change leads is in docs/architecture.md.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hippocampus.entries.entry import Decision as Decision
    from hippocampus.entries.entry import Entry as Entry
    from hippocampus.entries.entry import Stage as Stage
    from hippocampus.errors import HippocampusError as HippocampusError
    from hippocampus.errors import PolicyError as PolicyError
    from hippocampus.errors import RecallError as RecallError
    from hippocampus.errors import StoreError as StoreError
    from hippocampus.memory import Hippocampus as Hippocampus
    from hippocampus.policy import Policy as Policy
    from hippocampus.session.session import Session as Session

_HOMES = {
    "Decision": "entries.entry",
    "Entry": "entries.entry",
    "Hippocampus": "memory",
    "HippocampusError": "errors",
    "Policy": "policy",
    "PolicyError": "errors",
    "RecallError": "errors",
    "Session": "session.session",
    "Stage": "entries.entry",
    "StoreError": "errors",
}
__all__ = sorted(_HOMES)  # noqa: PLE0605 - sorted keys of the table above


def __dir__() -> list[str]:
    """Return the public names, for completion: none is loaded before its first use."""
    return __all__


def __getattr__(name: str) -> Any:
    """Load a public name from its module; `__version__` is that of the installed package."""
    if name == "__version__":
        from importlib.metadata import version

        return version("hippocampus-context")
    if name not in _HOMES:
        raise AttributeError(f"module 'hippocampus' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hippocampus.{_HOMES[name]}"), name)
