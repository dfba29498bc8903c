"""A text with its encodings decoded, and the source position of each decoded character. Pure.

Decodes escapes of JSON and program text, HTML entities, percent encoding, base64 of text, and
terminal colours; finds and redacts nothing.
"""

from __future__ import annotations

import base64
import bisect
import contextlib
import functools
import html
import json
import re
import urllib.parse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hippocampus import patterns
from hippocampus.patterns import searchable

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
ESCAPE = re.compile(
    r"""(?:\\\\)+|\\(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|["'/bfnrt])"""
    r"|&(?:#[0-9]{1,1000}|#[xX][0-9A-Fa-f]{1,1000}|[A-Za-z][A-Za-z0-9]{1,31});?"
    rf"|(?:%[0-9A-Fa-f]{{2}})+|{ANSI.pattern}"
)
SIGNS = ("\\", "&", "%", "\x1b")
"""A text without these characters has no escapes."""
BASE64 = (
    r"\b(?:[I-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){5}"
    r"[A-Za-z0-9+/_-]*={0,2}"
)
"""RE2: base64 of which the first fifteen bytes are printable ASCII, by the bits that ASCII leaves 0."""
MAX_PATTERN_BYTES = 256 << 20
MAX_LAYERS = 8
"""How deep nested encodings are decoded, as deep as any reader of this package decodes them."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text with one layer of escapes decoded; the sequences have one number an escape."""

    text: str
    starts: Sequence[int]
    """Where the escapes start in the source text."""
    stops: Sequence[int]
    """Where they end in the source text."""
    new_starts: Sequence[int]
    """Where their decoded forms start in the decoded text."""
    new_stops: Sequence[int]
    """Where these end in the decoded text."""

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


class Layer(NamedTuple):
    """A text with some encodings decoded, the layers above it, and the next one below."""

    text: str
    above: tuple[Decoded, ...]
    below: Decoded | None

    def source(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the text as written from which a span comes; encodings stay whole."""
        if self.below:
            start, stop = self.below.whole(start, stop)
        for layer in reversed(self.above):
            start, stop = layer.source(start, stop)
        return start, stop


def layers(text: str) -> Iterator[Layer]:
    """Yield a text as written, then with one more layer of encodings decoded each time."""
    above: tuple[Decoded, ...] = ()
    while True:
        below = decoded(text)
        yield Layer(text, above, below)
        if below is None or len(above) == MAX_LAYERS:
            return
        above, text = (*above, below), below.text


def decoded(text: str) -> Decoded | None:
    """Return a text with one layer of encodings decoded, or None where it has none.

    >>> decoded("joe&#64;example.org").text, decoded("%41DA").text
    ('joe@example.org', 'ADA')
    """
    pieces: list[str] = []
    columns: tuple[list[int], ...] = ([], [], [], [])
    end = length = 0
    for begin, stop, meant in sorted(_encoded(text)):
        if begin < end:
            continue
        start = length + begin - end
        pieces += (text[end:begin], meant)
        end, length = stop, start + len(meant)
        for column, value in zip(columns, (begin, end, start, length), strict=True):
            column.append(value)
    return Decoded("".join((*pieces, text[end:])), *columns) if pieces else None


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the spans of escapes, and of base64 of printable text, with what they encode."""
    if any(sign in text for sign in SIGNS):
        for match in ESCAPE.finditer(text):
            meant = _meaning(match[0])
            if meant != match[0]:  # an ampersand before a word is no entity
                yield *match.span(), meant
    for match in compiled(BASE64).finditer(searchable(text)):
        plain = match[0].rstrip("=").translate(URL_SAFE)
        with contextlib.suppress(ValueError):  # it is not base64, or not of a text
            meant = base64.b64decode(plain + "=" * (-len(plain) % BASE64_GROUP)).decode()
            if meant and meant.translate(BLANKS).isprintable():
                yield *match.span(), meant


def matches(pattern: str, text: str) -> Iterator[Any]:
    """Return the matches of an RE2 expression, of which only the spans are to be asked for.

    Bytes of ASCII are searched as they are: no offset has to be counted.
    """
    if text.isascii():
        found: Iterator[Any] = compiled(pattern.encode()).finditer(text.encode())
        return found
    return iter(compiled(pattern).finditer(text))


@functools.cache
def compiled(pattern: str | bytes) -> Any:
    """Return an expression that is compiled once."""
    return patterns.compiled(pattern, memory_bytes=MAX_PATTERN_BYTES, has_groups=True)


URL_SAFE, BLANKS = str.maketrans("-_", "+/"), str.maketrans("\n\r\t", "   ")
BASE64_GROUP = 4
"""The characters of base64 that encode three bytes together."""


@functools.lru_cache(maxsize=1_024)
def _meaning(escape: str) -> str:
    match escape[0], escape[1]:
        case "&", _:
            return html.unescape(escape)
        case "%", _:
            return urllib.parse.unquote(escape)
        case "\x1b", _:
            return ""
        case _, "'" | "\\":  # half of a run of backslashes
            return escape[1:][: len(escape) // 2]
        case _, "x":
            return chr(int(f"0{escape[1:]}", 0))
        case _:
            meant: str = json.loads(f'"{escape}"')
            return meant
