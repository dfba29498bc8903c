"""The text that a result points at, in place of "unchanged since last read". Pure.

A host answers a repeated read with such a sentence. Where the view may have shortened the earlier
text, the agent could not read at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from hippocampus.formats.conversation import Part
from hippocampus.formats.reads import points_back
from hippocampus.session.history import History
from hippocampus.session.view import Rendered


def referred(history: History, start: int, read_turns: int) -> Iterator[Rendered]:
    """Yield the texts for results from a message on that point at a read more than some turns ago.

    A younger one is in the view as it came.
    """
    for number, message in enumerate(history.raw[start:], start):
        for at, part in enumerate(message.parts):
            if part.kind == "result" and points_back(part.text):
                before, text = _meant(history, number, part)
                if text and history.turns[number] - history.turns[before] > read_turns:
                    yield Rendered(number, at, text)


def _meant(history: History, end: int, pointer: Part) -> tuple[int, str]:
    """Return the message and the text of the last result of the same call; no text for none."""
    calls: dict[str, tuple[str, str]] = {}
    texts: dict[tuple[str, str], tuple[int, str]] = {}
    for number, message in enumerate(history.raw[:end]):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = part.tool, part.text
            elif part.kind == "result" and part.call_id in calls and not points_back(part.text):
                texts[calls[part.call_id]] = number, part.text
    asked = calls.get(pointer.call_id)
    return texts.get(asked, (0, "")) if asked else (0, "")
