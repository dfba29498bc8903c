"""The lines of a text that a regular expression matches, in linear time. Pure.

RE2 searches the bytes of the whole text at once; lines without a match cost nothing more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import re2

from hippocampus.errors import RecallError
from hippocampus.policy.matching import searchable
from hippocampus.recall.fitting import GAP, LONG_LINE_CHARACTERS, NumberedLine

MAX_PATTERN_CHARACTERS = 2_000
WHOLE_TEXT_SIGNS = re.compile(r"\\[AzQC]|\(\?[a-zA-Z]*-?[a-zA-Z]*[msU]")
"""Syntax with another meaning for a whole text than for a single line."""
MISSING = {
    "lookahead": re.compile(r"\(\?[=!]"),
    "lookbehind": re.compile(r"\(\?<[=!]"),
    "backreferences": re.compile(r"\\[1-9]|\(\?P="),
    "possessive or atomic groups": re.compile(r"\(\?>|[*+?}]\+"),
}
"""What other engines have and RE2, which is linear, has not."""
AROUND_CHARACTERS = 150
MAX_CONTEXT_LINES = 50


def matching(text: str, pattern: str, context: int = 0) -> Iterator[NumberedLine]:
    """Yield the lines that match; of long lines, the text around each match.

    `context` is the number of lines before and after each match that are included.

    Raises:
        RecallError: the pattern is not an RE2 expression.

    """
    wanted = compiled(pattern)
    try:
        data = None if WHOLE_TEXT_SIGNS.search(pattern) else text.encode()
    except UnicodeEncodeError:  # RE2 accepts no lone surrogates
        data = None
    if data is None:
        found = each_line(text.split("\n"), wanted)
    else:
        found = _in_bytes(data, compiled(f"(?m){pattern}"), wanted)
    if context <= 0:
        yield from found
        return
    yield from _with_context(found, text.split("\n"), min(context, MAX_CONTEXT_LINES))


def compiled(pattern: str, *, across_lines: bool = False) -> Any:
    """Return a compiled pattern; it matches within lines, or with `across_lines` over several.

    Raises:
        RecallError: it is not an RE2 expression, or too long.

    """
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        most = f"{MAX_PATTERN_CHARACTERS:,} characters"
        raise RecallError("bad_request", f"the pattern is longer than {most}; ask by query")
    options = re2.Options()
    options.log_errors = False
    options.never_nl = not across_lines
    try:
        return re2.compile(searchable(pattern), options)
    except re2.error as wrong:
        why = wrong.args[0].decode("utf-8", "replace") if wrong.args else ""
        missing = next((name for name, sign in MISSING.items() if sign.search(pattern)), "")
        hint = f". RE2 has no {missing}; match more and read on in the answer" if missing else ""
        text = f"pattern {pattern!r} is no regular expression (RE2): {why}{hint}"
        raise RecallError("bad_request", text) from None


def each_line(lines: Iterable[str], wanted: Any) -> Iterator[NumberedLine]:
    """Yield the lines that `matching` yields, searching line by line."""
    for number, line in enumerate(lines, start=1):
        if len(line) > LONG_LINE_CHARACTERS:
            yield from (NumberedLine(number, part) for part in _excerpts(line, wanted))
        elif wanted.search(searchable(line)):
            yield NumberedLine(number, line)


def _in_bytes(data: bytes, anywhere: Any, in_line: Any) -> Iterator[NumberedLine]:
    number, counted, at = 1, 0, 0
    while at <= len(data) and (match := anywhere.search(data, at)):
        start = data.rfind(b"\n", 0, match.start()) + 1
        end = data.find(b"\n", match.start())
        end = len(data) if end < 0 else end
        number += data.count(b"\n", counted, start)
        counted, at = start, end + 1
        line = data[start:end].decode()
        if len(line) <= LONG_LINE_CHARACTERS:
            yield NumberedLine(number, line)
        else:
            yield from (NumberedLine(number, part) for part in _excerpts(line, in_line))


def _excerpts(line: str, wanted: Any) -> Iterator[str]:
    """Yield the text around the matches in a long line; nearby matches share one excerpt."""
    start = end = -1
    for first, last in (match.span() for match in wanted.finditer(searchable(line))):
        if start >= 0 and first < end:
            continue
        if start >= 0:
            yield _excerpt(line, start, end)
        start, end = max(0, first - AROUND_CHARACTERS), min(len(line), last + AROUND_CHARACTERS)
    if start >= 0:
        yield _excerpt(line, start, end)


def _excerpt(line: str, start: int, end: int) -> str:
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _with_context(
    found: Iterator[NumberedLine], lines: list[str], context: int
) -> Iterator[NumberedLine]:
    """Yield matches with the lines around them, each line once."""
    shown_to = 0
    ahead = next(found, None)
    while ahead is not None:
        match, ahead = ahead, next(found, None)
        first = max(shown_to + 1, match.number - context)
        if shown_to and first > shown_to + 1:
            yield NumberedLine(0, GAP)
        yield from (_context_line(number, lines) for number in range(first, match.number))
        yield match
        before_next = ahead.number - 1 if ahead else len(lines)
        shown_to = max(match.number, min(match.number + context, before_next))
        after = range(match.number + 1, shown_to + 1)
        yield from (_context_line(number, lines) for number in after)


def _context_line(number: int, lines: list[str]) -> NumberedLine:
    line = lines[number - 1]
    return NumberedLine(
        number, line if len(line) <= LONG_LINE_CHARACTERS else f"{line[:200]}…", "-"
    )
