"""What a failed tool said, kept whole in its entry whatever kind of content it is. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from hippocampus.indexing.draft import Draft, Line

SAYS_SO = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|fail(?:ed|ure)?|fatal|denied|not found|invalid)\b"
)
MOST_LINES = 8
MESSAGE_CHARACTERS = 1_200
"""A line of a message is cut behind these; messages are short, dumps are not messages."""
SCANNED_CHARACTERS = 2_000_000


def with_message(draft: Draft, text: str) -> Draft:
    """Return a draft whose first lines are the message of a failure, which always stand."""
    said = [Line(line, keep=True, count=0) for line in message_of(text)]
    shift = len(said)
    moved = (
        line if line.parent is None else replace(line, parent=line.parent + shift)
        for line in draft.lines
    )
    return replace(draft, lines=(*said, *moved))


def message_of(text: str) -> list[str]:
    """Return the lines that tell what went wrong: the first, those that say so, and the last."""
    lines = [line.strip() for line in text[:SCANNED_CHARACTERS].splitlines() if line.strip()]
    if not lines:
        return []
    telling = [line for line in lines[1:-1] if SAYS_SO.search(line[:MESSAGE_CHARACTERS])]
    ends = lines[:1] if len(lines) == 1 else [lines[0], *telling[: MOST_LINES - 2], lines[-1]]
    return [line[:MESSAGE_CHARACTERS] for line in dict.fromkeys(ends)]
