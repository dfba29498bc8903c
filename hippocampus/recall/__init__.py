"""Recall: slices of stored content, searches over all of it, and the model's tool.

Text in, text out. The session knows which content an id refers to; only `passages` has a file.
"""

from __future__ import annotations

from hippocampus.recall.definition import (
    DESCRIPTION,
    PARAMETERS,
    TOOL_NAME,
    RecallRequest,
    as_function,
    tool,
)
from hippocampus.recall.fitting import pages
from hippocampus.recall.searching import names_in, search
from hippocampus.recall.slices import Request, bound_of, take

__all__ = [
    "DESCRIPTION",
    "PARAMETERS",
    "TOOL_NAME",
    "RecallRequest",
    "Request",
    "as_function",
    "bound_of",
    "names_in",
    "pages",
    "search",
    "take",
    "tool",
]
