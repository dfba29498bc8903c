"""Python source parsed: from any thread, and without a change of the host's warnings. Pure."""

from __future__ import annotations

import ast
import contextlib
import re
import threading
import warnings

NAME = "<hippocampus payload>"
"""The file of the source, by which one filter leaves out its warnings and no others."""
_FILTER = ("ignore", None, Warning, re.compile(re.escape(NAME)), 0)
_PARSING = threading.Lock()
MAX_TRIES = 3
"""A host's own thread may parse at the same time, with the same effect."""


def parsed(text: str, mode: str = "exec") -> ast.AST | None:
    """Return the syntax tree of a source; nothing where it is none, or nests too deep.

    Python 3.11 counts the depth of a tree for all threads together (gh-106905), so that two which
    parse at once may raise SystemError. `warnings.catch_warnings` is for one thread only.
    """
    with _PARSING:
        if warnings.filters[:1] != [_FILTER]:
            warnings.filterwarnings("ignore", module=_FILTER[3].pattern)
        for _ in range(MAX_TRIES):
            with contextlib.suppress(SystemError):
                try:
                    return ast.parse(text, NAME, mode)
                except (SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
    return None
