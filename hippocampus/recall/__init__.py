"""Recall: slices of stored content, searches over all of it, and the model's tool.

The session knows which content an id refers to. Slices are pure: text in, text out.
"""

from hippocampus.recall.definition import (
    DESCRIPTION,
    PARAMETERS,
    TOOL_NAME,
    RecallRequest,
    as_function,
    tool,
)
from hippocampus.recall.retrieval import names_in
from hippocampus.recall.slices import take

__all__ = [
    "DESCRIPTION",
    "PARAMETERS",
    "TOOL_NAME",
    "RecallRequest",
    "as_function",
    "names_in",
    "take",
    "tool",
]
