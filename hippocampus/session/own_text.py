"""Our own entries in a list that a host sends back to us: recognised, so that none becomes an entry. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable

from hippocampus.entries.entry import ARGUMENTS, Record
from hippocampus.formats.conversation import Part
from hippocampus.indexing import frame

OPENING = re.compile(r"\[([a-z2-7]{8,12}) · ")
ARGUMENT = re.compile(r"\[([a-z2-7]{8,12}) (?:·|\\u00b7) (\d+) tokens\]")
"""The frame in a string of shortened arguments."""


def is_entry(part: Part, record_of: Callable[[str], Record | None], tokens: int) -> bool:
    """Return whether a part of a list is the text of an entry, at any stage.

    The frame names an entry of the session by all of its fields, and the part is no
    longer than the content that it replaces: no content can know that of itself.
    """
    if part.kind == "call":
        found = ARGUMENT.search(part.text)
        record = record_of(found[1]) if found else None
        return (
            found is not None
            and record is not None
            and record.kind == ARGUMENTS
            and record.tokens == int(found[2])
            and tokens < record.tokens
        )
    found = OPENING.match(part.text)
    record = record_of(found[1]) if found else None
    if record is None or tokens >= record.tokens:
        return False
    turn = record.entry.source.turn
    opening = frame.first_line(record.entry.id, record.tool, turn, record.tokens, record.kind)
    return part.text == record.shown or part.text.partition("\n")[0] == opening
