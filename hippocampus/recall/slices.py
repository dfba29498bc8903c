"""Slices of one text: by lines, pattern, path or words, within a token budget. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from hippocampus.errors import RecallError
from hippocampus.indexing.output import first_number
from hippocampus.models import tokens
from hippocampus.recall import paths, ranking
from hippocampus.recall.fitting import NumberedLine, fit, numbered, paged, pages
from hippocampus.recall.patterns import matching

NAMED_FACTOR = 10
"""How many times the usual bound a slice may weigh that was asked for by its lines or its path."""
MAX_COUNTED = 1_000
"""Further matches are not counted."""


@dataclass(frozen=True, slots=True)
class Request:
    """The part of some content to return; without a selector, all of it or its start."""

    pattern: str | None = None
    lines: tuple[int, int] | None = None
    path: str | None = None
    head: int | None = None
    tail: int | None = None
    query: str | None = None
    context: int = 0
    """Lines before and after each line that the pattern matches."""


def bound_of(request: Request, asked_tokens: int | None, usual_tokens: int) -> int:
    """Return the bound of a slice: what was asked, else the usual one.

    A range of lines or a path names the wanted part, so it comes whole: the usual bound holds for
    searches.

    >>> bound_of(Request(lines=(1, 90)), None, 2_000), bound_of(Request(pattern="x"), None, 2_000)
    (20000, 2000)
    """
    if asked_tokens is not None:
        return asked_tokens
    named = (request.lines, request.path, request.head, request.tail)
    is_named = any(selector is not None for selector in named)
    return NAMED_FACTOR * usual_tokens if is_named else usual_tokens


def take(text: str, request: Request, max_tokens: int, arguments: str = "") -> str:
    """Return the requested part of a text and a note about left-out lines, within `max_tokens`.

    `arguments` are those of the call that read the text, as JSON: by them the lines of a part of a
    file have the numbers that they have in the file, as its entry has them.

    JSON on one line is paged: its lines have one item each.

    Raises:
        RecallError: the pattern, path or range is invalid, nothing matches, or nothing fits.

    """
    start = first_number(text, arguments)
    if request.path is not None:
        found = _renumbered(paths.lines_at(text, request.path), start)
        quoted = request.path if len(request.path) <= 20 else f"{request.path[:20]}…"
        more = f"(more is at {quoted}; ask for a longer path or more max_tokens)"
        return fit(found, max_tokens, lambda *_: more)
    if request.pattern is not None:
        return _by_pattern(text, request, start, max_tokens)
    if request.query is not None:
        return ranking.best_of(pages(text), request.query, max_tokens)
    return _by_lines(text, request, start, max_tokens)


def _by_lines(text: str, request: Request, start: int, max_tokens: int) -> str:
    lines = pages(text)
    first, last = _range(request, start, start + len(lines) - 1)
    everything = last - first + 1 == len(lines) and len(text) <= 40 * max_tokens
    if everything and tokens.count(text) <= max_tokens:
        return text
    wanted = lines[first - start : last - start + 1]
    return fit(
        numbered(wanted, first),
        max_tokens,
        lambda _shown, _left, number: (
            f"(lines {number} to {last} are left out; ask for lines=[{number}, {last}])"
        ),
    )


def _renumbered(found: Iterator[NumberedLine], start: int) -> Iterator[NumberedLine]:
    """Yield lines with the numbers that a part of a file has itself."""
    for each in found:
        yield each._replace(number=each.number + start - 1) if each.number else each


def _by_pattern(text: str, request: Request, start: int, max_tokens: int) -> str:
    pattern, readable = request.pattern or "", paged(text)
    found = matching(readable, pattern, request.context)
    first = next(found, None)
    if first is not None:
        found = itertools.chain((first,), found)
    elif readable is not text:  # the pattern may be of the text as it was before it was paged
        found = matching(text, pattern, 0)
    found = _renumbered(found, start)

    def note(shown: int, left: int, number: int) -> str:
        more = left + sum(1 for _ in itertools.islice(found, MAX_COUNTED))
        known = f"{more}+" if more > MAX_COUNTED else str(more)
        return f"({shown} lines shown, {known} left out from line {number} on; narrow the pattern)"

    return fit(found, max_tokens, note)


def _range(request: Request, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last requested line, between `start` and `end`."""
    if request.lines is not None:
        first, last = request.lines
        if first > min(last, end) or last < start:
            text = f"lines {first} to {last} are not in this content; ask [{start}, {end}]"
            raise RecallError("bad_request", text)
        return max(start, first), min(last, end)
    if request.head is not None:
        return start, min(start + max(1, request.head) - 1, end)
    if request.tail is not None:
        return max(start, end - max(1, request.tail) + 1), end
    return start, end
