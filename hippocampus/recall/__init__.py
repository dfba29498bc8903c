"""What was put away comes back: slices of a content, searches over all, and the model's tool.

Text in, text out. Which content an id stands for is the session's to know; only `passages` has a
file of its own.
"""

from __future__ import annotations

from hippocampus.recall.definition import DESCRIPTION, PARAMETERS, TOOL_NAME, tool
from hippocampus.recall.paging import pages
from hippocampus.recall.searching import names_in, search
from hippocampus.recall.slices import Request, take

__all__ = [
    "DESCRIPTION",
    "PARAMETERS",
    "TOOL_NAME",
    "Request",
    "names_in",
    "pages",
    "search",
    "take",
    "tool",
]
