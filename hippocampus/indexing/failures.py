"""The message of a failed tool, whole in its entry whatever the kind of content. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from hippocampus.indexing.extraction import EntryLine, Extraction

SAYS_SO = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|fail(?:ed|ure)?|fatal|denied|not found|invalid)\b"
)
MOST_LINES = 8
MESSAGE_CHARACTERS = 1_200
"""A line of a message is cut behind these; messages are short, dumps are not messages."""
SCANNED_CHARACTERS = 2_000_000


def with_message(extraction: Extraction, text: str) -> Extraction:
    """Return an extraction whose first lines are the message of a failure, which always stand."""
    message = [EntryLine(line, keep=True, count=0) for line in message_of(text)]
    shift = len(message)
    moved = (
        line if line.parent is None else replace(line, parent=line.parent + shift)
        for line in extraction.lines
    )
    return replace(extraction, lines=(*message, *moved))


def message_of(text: str) -> list[str]:
    """Return the first line, those with a word of failure, and the last."""
    lines = [line.strip() for line in text[:SCANNED_CHARACTERS].splitlines() if line.strip()]
    if not lines:
        return []
    telling = [line for line in lines[1:-1] if SAYS_SO.search(line[:MESSAGE_CHARACTERS])]
    ends = lines[:1] if len(lines) == 1 else [lines[0], *telling[: MOST_LINES - 2], lines[-1]]
    return [line[:MESSAGE_CHARACTERS] for line in dict.fromkeys(ends)]
