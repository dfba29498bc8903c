"""A request's JSON body, of which parts are replaced and every other byte stays as it arrived.

Pure: no message is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from hippocampus.formats.conversation import Item

_DECODER = json.JSONDecoder()
_ENCODER = json.JSONEncoder(separators=(",", ":"))
_OPENED = re.compile(r"[ \t\r\n]*[\[{][ \t\r\n]*")
_NAMED = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
_SEPARATOR = re.compile(r"[ \t\r\n]*([,\]}])[ \t\r\n]*")
_EMPTY = re.compile(r"\[[ \t\r\n]*\]")


class Body:
    """A JSON object as text, with the spans of its members and of the elements of its lists."""

    def __init__(self, content: bytes) -> None:
        """Read a body.

        Raises:
            ValueError: it is not one JSON object in UTF-8 without repeated names.
        """
        self.values: dict[str, Any] = {}
        self._text = content.decode()
        self._members: dict[str, slice] = {}
        self._elements: dict[str, list[slice]] = {}
        at, end = self._match(_OPENED, 0).end(), ","
        while end == ",":
            name, at = _DECODER.raw_decode(self._text, at)
            if not isinstance(name, str) or name in self.values:
                raise ValueError(f"the name {name!r} is not a text, or is repeated")
            start = self._match(_NAMED, at).end()
            if self._text.startswith("[", start) and not _EMPTY.match(self._text, start):
                self.values[name], at = self._list(name, start)
            else:
                self.values[name], at = _DECODER.raw_decode(self._text, start)
            self._members[name] = slice(start, at)
            separator = self._match(_SEPARATOR, at)
            end, at = separator[1], separator.end()
        if end != "}" or at != len(self._text):
            raise ValueError(f"the object ends before {at}")

    def with_lists(self, lists: dict[str, Sequence[Item]]) -> bytes:
        """Return the body with some of its members replaced by lists.

        An element that is the same object as one of the body is written as it arrived.
        """
        written = self._text
        places = sorted(lists, key=lambda name: self._members[name].start, reverse=True)
        for name in places:  # from the back, so that no replacement moves another
            span = self._members[name]
            written = (
                written[: span.start] + self._encode_list(name, lists[name]) + written[span.stop :]
            )
        return written.encode()

    def _encode_list(self, name: str, elements: Sequence[Item]) -> str:
        """Return a list as JSON; known elements keep the text between them and the one before."""
        whole, spans = self._members[name], self._elements.get(name, [])
        values = self.values[name] if spans else ()
        known = {id(value): number for number, value in enumerate(values)}
        text, pieces = self._text, [self._text[whole.start : spans[0].start] if spans else "["]
        for place, element in enumerate(elements):
            number = known.get(id(element))
            if place:
                pieces.append(text[spans[number - 1].stop : spans[number].start] if number else ",")
            pieces.append(_ENCODER.encode(element) if number is None else text[spans[number]])
        pieces.append(text[spans[-1].stop : whole.stop] if spans else "]")
        return "".join(pieces)

    def _list(self, name: str, start: int) -> tuple[list[Any], int]:
        values, spans = [], []
        at, end, closed = self._match(_OPENED, start).end(), ",", start
        while end == ",":
            value, closed = _DECODER.raw_decode(self._text, at)
            values.append(value)
            spans.append(slice(at, closed))
            separator = self._match(_SEPARATOR, closed)
            end, at = separator[1], separator.end()
        if end != "]":
            raise ValueError(f"the list {name!r} is not closed at {closed}")
        self._elements[name] = spans
        return values, self._text.index("]", closed) + 1

    def _match(self, mark: re.Pattern[str], at: int) -> re.Match[str]:
        found = mark.match(self._text, at)
        if found is None:
            raise ValueError(f"no {mark.pattern} at {at}")
        return found
