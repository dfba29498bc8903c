"""The changes of a view to the host's list, one by one, for hosts with objects as messages. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from hippocampus.formats.conversation import Message, Part
from hippocampus.session.view import View


@dataclass(frozen=True, slots=True)
class Change:
    """One text of the view that the list does not have."""

    kind: Literal["result", "call", "text", "image", "digest", "added"]
    """The text of a tool result; the arguments of a call, as JSON; words; a text in place of an image;
    one assistant message in place of `message` to `end`; a user's text after `message`."""
    message: int
    """The index in the list that was handed in."""
    end: int
    """The index after the last message that is replaced."""
    part: int
    """The position of the block, or of the call among the message's calls; 0 for a plain string."""
    call_id: str
    """The id of the call, for `call` and `result`."""
    text: str
    """The whole text that the view has."""


def changes_of(view: View) -> tuple[Change, ...]:
    """Return the changes of a view, in the order of the list."""
    reading = view.history.reading
    digests = dict(view.folds)
    found: list[Change] = []
    for number, (raw, shown) in enumerate(zip(reading.messages, view.shown, strict=True)):
        if raw is shown:
            continue
        start = reading.starts[number]
        if number in digests:
            end = view.history.end_of(digests[number] - 1)
            found.append(Change("digest", start, end, 0, "", shown.parts[0].text))
        elif shown.raw:  # a message inside a digest is empty
            found += _changes_in(raw, shown, start)
    return tuple(found)


def changes_between(own: Sequence[Message], view: Sequence[Message]) -> tuple[Change, ...]:
    """Return the changes between two lists of as many messages."""
    starts = itertools.accumulate((len(message.raw) for message in own), initial=0)
    pairs = zip(own, view, starts, strict=False)
    return tuple(change for raw, shown, start in pairs for change in _changes_in(raw, shown, start))


def _changes_in(raw: Message, shown: Message, start: int) -> Iterator[Change]:
    for part, instead in zip(raw.parts, shown.parts, strict=False):
        if part.text != instead.text and part.kind in ("result", "call", "text", "image"):
            at = start + int(part.path[0])
            yield Change(part.kind, at, at + 1, position(part), part.call_id, instead.text)
    for part in shown.parts[len(raw.parts) :]:
        at = start + len(raw.raw) - 1
        yield Change("added", at, at + 1, 0, "", part.text)


def position(part: Part) -> int:
    """Return the last list position in a part's path inside its item."""
    return next((key for key in reversed(part.path[1:]) if isinstance(key, int)), 0)
