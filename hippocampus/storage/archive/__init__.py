"""The raw conversation of each session, as JSON lines: what `hippocampus replay` reads.

What a view shows is never read from here.
"""

from __future__ import annotations

from hippocampus.storage.archive.journal import Journal, RawList
from hippocampus.storage.archive.reader import exported, lists, stored

__all__ = ["Journal", "RawList", "exported", "lists", "stored"]
