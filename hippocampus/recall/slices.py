"""Slices of one text: by lines, pattern, path or words, within a token budget. Pure."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hippocampus.errors import RecallError
from hippocampus.indexing.output import first_number
from hippocampus.models import tokens
from hippocampus.patterns import PatternError
from hippocampus.recall import parts
from hippocampus.recall.lines import GAP, NumberedLine, Paged, fit, matching, numbered, paged, pages

MAX_COUNTED = 1_000
"""Further matches are not counted."""
CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
WORD = re.compile(r"[^\W_]+")
ESCAPED = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}")
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does done "  # noqa: SIM905 - reads better so
    "for from get had has have here how i if in into is it its just let like ll may me more most "
    "my need next no not now of on one only or other our out over perfect please s same see should "
    "so some such t than that the their them then there these they this those to too true false "
    "null none up us use used using very want was we were what when where which while who why will "
    "with would you your".split()
)
K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza 2009, section 3.2)."""
MIN_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS = 240, 700
"""From the first size on a passage ends where a block starts; at the second it ends anywhere."""
# A block starts with a record, a paragraph or a lower indentation.
OPENINGS = ("{", "- ", "* ", "#", "<h", "<tr", "<li", "def ", "class ", "function ", "export ")


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


def take(text: str, request: Request, max_tokens: int, arguments: str = "") -> str:
    """Return the requested part of a text and a note about left-out lines, within `max_tokens`.

    `arguments` are those of the call that read the text, as JSON: by them the lines of a part of a
    file have the numbers that they have in the file, as its entry has them.

    JSON on one line is paged: its lines have one record each.

    Raises:
        RecallError: the pattern, path or range is invalid, nothing matches, or nothing fits.

    """
    start = first_number(text, arguments)
    if request.path is not None:
        found = _renumbered(parts.lines_at(text, request.path), start)
        quoted = request.path if len(request.path) <= 20 else f"{request.path[:20]}…"
        more = f"(more is at {quoted}; ask for a longer path or more max_tokens)"
        return fit(found, max_tokens, lambda *_: more)
    if request.pattern is not None:
        try:
            return _by_pattern(text, request, start, max_tokens)
        except PatternError as late:
            problem = (
                f"pattern {request.pattern[:80]!r}: {late}; use a simpler one, or ask by query"
            )
            raise RecallError("bad_request", problem) from None
    if request.query is not None:
        return best_of(pages(text), request.query, max_tokens)
    return _by_lines(text, request, start, max_tokens)


def _by_lines(text: str, request: Request, start: int, max_tokens: int) -> str:
    lines = pages(text)
    first, last = _range(request, start, start + len(lines) - 1)
    everything = last - first + 1 == len(lines) and len(text) <= 40 * max_tokens
    if everything and tokens.count(text) <= max_tokens:
        return text
    wanted = list(numbered(lines[first - start : last - start + 1], first))
    from_end = request.tail is not None and request.lines is None and request.head is None

    def note(_shown: int, _left: int, number: int) -> str:
        left = f"{first} to {number}" if from_end else f"{number} to {last}"
        return f"(lines {left} are left out; ask for lines=[{left.replace(' to ', ', ')}])"

    return fit(reversed(wanted) if from_end else wanted, max_tokens, note, from_end=from_end)


def _renumbered(found: Iterator[NumberedLine], start: int) -> Iterator[NumberedLine]:
    """Yield lines with the numbers that a part of a file has itself."""
    for line in found:
        yield line._replace(number=line.number + start - 1) if line.number else line


def _by_pattern(text: str, request: Request, start: int, max_tokens: int) -> str:
    pattern, readable = request.pattern or "", paged(text)
    found = matching(readable, pattern, request.context)
    first = next(found, None)
    if first is not None:
        found = itertools.chain((first,), found)
    elif readable.text is not text:  # the pattern may be of the text as it was before it was paged
        found = matching(Paged(text), pattern)
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


# By words


def spread(text: str) -> str:
    """Return a text with its names split: `getUserName` into three words, each Han character alone."""
    if "\\" in text:
        text = ESCAPED.sub(" ", text)
    if not text.isascii():
        text = CJK.sub(r" \1 ", text)
    return CAMEL.sub(" ", text)


def terms(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without stop words."""
    return [word for word in WORD.findall(spread(text).lower()) if word not in STOP_WORDS]


class LineSpan(NamedTuple):
    """A range of lines, counted from 1, both ends included."""

    first: int
    last: int


def passages(lines: Sequence[str]) -> list[LineSpan]:
    """Return the passages of a text: records, paragraphs, blocks, of bounded size."""
    spans: list[LineSpan] = []
    first, size, indent = 1, 0, 0
    for number, line in enumerate(lines, start=1):
        bare = line.lstrip()
        own_indent = len(line) - len(bare)
        opens = not bare or bare.startswith(OPENINGS) or own_indent < indent
        if size >= MAX_PASSAGE_CHARACTERS or (size >= MIN_PASSAGE_CHARACTERS and opens):
            spans.append(LineSpan(first, number - 1))
            first, size = number, 0
        if not size:
            indent = own_indent
        size += len(line) + 1
    if size:
        spans.append(LineSpan(first, len(lines)))
    return spans


def best_of(lines: Sequence[str], query: str, max_tokens: int) -> str:
    """Return the passages that match a query best, the best first, within `max_tokens`.

    Raises:
        RecallError: no passage contains a word of the query, or nothing fits.

    """
    spans = passages(lines)
    scored = scores(terms(query), ["\n".join(lines[first - 1 : last]) for first, last in spans])
    found = [at for at, score in enumerate(scored) if score > 0]
    if not found:
        text = "no word of the query is in this content; try other words or a pattern"
        raise RecallError("no_match", text)
    shown: list[NumberedLine] = []
    for first, last in (spans[at] for at in sorted(found, key=lambda at: (-scored[at], at))):
        shown += [NumberedLine(0, GAP)] if shown else []
        shown += [line for line in numbered(lines[first - 1 : last], first) if line.text.strip()]
    return fit(
        shown,
        max_tokens,
        lambda *_: "(weaker passages are left out; ask with fewer words or by lines)",
    )


def scores(wanted: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text for some words; 0 where it has none of them."""
    counted = [Counter(terms(text)) for text in texts]
    sizes = [counts.total() for counts in counted]
    mean = sum(sizes) / max(1, len(sizes)) or 1.0
    holding = {term: sum(term in counts for counts in counted) for term in wanted}
    worth = {
        term: math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
        for term, held in holding.items()
    }
    return [
        sum(
            worth[term] * counts[term] * (K1 + 1)
            / (counts[term] + K1 * (1 - B + B * size / mean))
            for term in worth
            if term in counts
        )
        for counts, size in zip(counted, sizes, strict=True)
    ]  # fmt: skip
