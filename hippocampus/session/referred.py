"""The text that a result points at, in place of "unchanged since last read". Pure.

A host answers a repeated read with such a sentence. Where the view may have shortened the earlier
text, the agent could not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.reads import points_back
from hippocampus.session.history import History
from hippocampus.session.view import Rendered


def referred(history: History, start: int, read_turns: int) -> Iterator[Rendered]:
    """Yield the texts for results from a message on that point at a read more than some turns ago.

    A younger one is in the view as it came, or as the last pointer at it brought it.
    """
    new = (part for message in history.raw[start:] for part in message.parts)
    if not any(part.kind == "result" and points_back(part.text) for part in new):
        return
    calls: dict[str, tuple[str, str]] = {}
    texts: dict[tuple[str, str], tuple[int, str]] = {}
    for number, message in enumerate(history.raw):
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                calls[part.call_id] = part.tool, part.text
            asked = calls.get(part.call_id) if part.kind == "result" else None
            if asked is None:
                continue
            if not points_back(part.text):
                texts[asked] = number, part.text
                continue
            before, text = texts.get(asked, (number, ""))
            if text and history.turns[number] - history.turns[before] > read_turns:
                texts[asked] = number, text
                if number >= start:
                    yield Rendered(number, at, text)
