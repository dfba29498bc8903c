"""A text with its escapes decoded, and the source position of each decoded character. Pure.

Decodes escapes of JSON and program text, HTML entities and terminal colours; redacts nothing.
"""

from __future__ import annotations

import bisect
import functools
import html
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.indexing.unwrap import ANSI

ESCAPE = re.compile(
    r"""\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["'\\/bfnrt])"""
    r"|&(?:#[0-9]{1,1000}|#[xX][0-9A-Fa-f]{1,1000}|[A-Za-z][A-Za-z0-9]{1,31});?"
    rf"|{ANSI.pattern}"
)
SIGNS = ("\\", "&", "\x1b")
"""A text without these characters has no escapes."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with one layer of escapes decoded; the sequences have one number an escape."""

    text: str
    starts: Sequence[int]
    """Where each escape starts in the source text."""
    stops: Sequence[int]
    """Where each escape ends in the source text."""
    new_starts: Sequence[int]
    """Where the decoded escape starts in the decoded text."""
    new_stops: Sequence[int]
    """Where the decoded escape ends in the decoded text."""

    def whole(self, start: int, stop: int) -> tuple[int, int]:
        """Return a span of the source text, widened to the escapes that it cuts."""
        first = bisect.bisect_right(self.starts, start) - 1
        last = bisect.bisect_left(self.starts, stop) - 1
        if first >= 0 and start < self.stops[first]:
            start = self.starts[first]
        return start, max(stop, self.stops[last]) if last >= 0 else stop

    def source(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the source text from which a span of the decoded text comes."""
        return self._origin(start)[0], self._origin(stop - 1)[1]

    def _origin(self, at: int) -> tuple[int, int]:
        """Return the start and the end in the source text of a decoded character."""
        found = bisect.bisect_right(self.new_starts, at) - 1
        if found < 0:
            return at, at + 1
        if at < self.new_stops[found]:
            return self.starts[found], self.stops[found]
        moved = at - self.new_stops[found] + self.stops[found]
        return moved, moved + 1


def decoded(text: str) -> Decoded | None:
    """Return a text with one layer of escapes decoded, or None where it has none.

    >>> decoded("joe&#64;example.org").text
    'joe@example.org'
    """
    if not any(sign in text for sign in SIGNS):
        return None
    pieces: list[str] = []
    columns: tuple[list[int], ...] = ([], [], [], [])
    end = length = 0
    for match in ESCAPE.finditer(text):
        meant = _meaning(match[0])
        start = length + match.start() - end
        pieces += (text[end : match.start()], meant)
        end, length = match.end(), start + len(meant)
        for column, value in zip(columns, (match.start(), end, start, length), strict=True):
            column.append(value)
    return Decoded("".join((*pieces, text[end:])), *columns) if pieces else None


@functools.lru_cache(maxsize=1_024)
def _meaning(escape: str) -> str:
    match escape[0], escape[1]:
        case "&", _:
            return html.unescape(escape)
        case "\x1b", _:
            return ""
        case _, "'":
            return "'"
        case _, "x":
            return chr(int(f"0{escape[1:]}", 0))
        case _:
            meant: str = json.loads(f'"{escape}"')
            return meant
