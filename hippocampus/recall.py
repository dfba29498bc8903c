"""Slices of a stored content, and the tool by which a model asks for them. Pure text work.

Which content an id stands for is the session's to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import re2

from hippocampus import tokens
from hippocampus.errors import RecallError

TOOL_NAME = "recall"
DESCRIPTION = (
    "Get back content that was put away. Entries in this conversation that start with "
    "[<id> · …] stand for longer content that is kept in full; ask for the part you need by line "
    "numbers or by a regular expression."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "entry_id": {"type": "string", "description": "The id in the entry's first line."},
        "lines": {
            "type": "array",
            "items": {"type": "integer"},
            "minItems": 2,
            "maxItems": 2,
            "description": "First and last line to return, counted from 1.",
        },
        "pattern": {
            "type": "string",
            "description": "Regular expression (RE2); the lines that match are returned.",
        },
        "head": {"type": "integer", "description": "Return so many lines from the start."},
        "tail": {"type": "integer", "description": "Return so many lines from the end."},
        "max_tokens": {"type": "integer", "description": "Bound on what is returned."},
    },
    "required": ["entry_id"],
}
LONG_LINE_CHARACTERS = 400
"""Of a longer line only the surroundings of a match are returned."""
AROUND_CHARACTERS = 150


@dataclass(frozen=True, slots=True)
class Request:
    """Which part of a content is wanted; without any selector, all of it or its start."""

    pattern: str | None = None
    lines: tuple[int, int] | None = None
    head: int | None = None
    tail: int | None = None


def tool(format_name: str) -> dict[str, Any]:
    """Return the recall tool's definition: `openai`, `responses` or `anthropic`.

    Raises:
        ValueError: another format.

    """
    named = {"name": TOOL_NAME, "description": DESCRIPTION}
    match format_name:
        case "openai":
            return {"type": "function", "function": {**named, "parameters": PARAMETERS}}
        case "responses":
            return {"type": "function", **named, "parameters": PARAMETERS}
        case "anthropic":
            return {**named, "input_schema": PARAMETERS}
    raise ValueError(
        f"no tool format {format_name!r}; there are 'openai', 'responses', 'anthropic'"
    )


def take(text: str, request: Request, max_tokens: int) -> str:
    """Return the wanted part of a text, within `max_tokens` and a note of what was left out.

    Raises:
        RecallError: the pattern is no regular expression, or the lines are no range.

    """
    if request.pattern is not None:
        return _fit(_matches(text, request.pattern), max_tokens)
    lines = text.split("\n")
    first, last = _range(request, len(lines))
    if (first, last) == (1, len(lines)) and tokens.count(text) <= max_tokens:
        return text
    return _fit(_numbered_range(lines, first, last), max_tokens)


def _range(request: Request, count: int) -> tuple[int, int]:
    if request.lines is not None:
        first, last = request.lines
        if first > last or last < 1:
            raise RecallError(
                "bad_request", f"lines {first} to {last} are no range; ask [1, {count}]"
            )
        return max(1, first), min(last, count)
    if request.head is not None:
        return 1, min(max(1, request.head), count)
    if request.tail is not None:
        return max(1, count - max(1, request.tail) + 1), count
    return 1, count


def _numbered_range(lines: list[str], first: int, last: int) -> Iterator[tuple[int, str]]:
    yield from ((number, lines[number - 1]) for number in range(first, last + 1))


def _matches(text: str, pattern: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that match; of long lines, what surrounds each match."""
    try:
        wanted = re2.compile(pattern)
    except re2.error as wrong:
        told = f"pattern {pattern!r} is no regular expression (RE2): {wrong}"
        raise RecallError("bad_request", told) from None
    for number, line in enumerate(text.split("\n"), start=1):
        if len(line) <= LONG_LINE_CHARACTERS:
            if wanted.search(line):
                yield number, line
        else:
            yield from ((number, part) for part in _excerpts(line, wanted))


def _excerpts(line: str, wanted: Any) -> Iterator[str]:
    end = -1
    for match in wanted.finditer(line):
        if match.start() < end:
            continue
        start = max(0, match.start() - AROUND_CHARACTERS)
        end = min(len(line), match.end() + AROUND_CHARACTERS)
        yield f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _fit(found: Iterable[tuple[int, str]], max_tokens: int) -> str:
    """Return the numbered lines that fit, and a note where some did not."""
    kept: list[str] = []
    left = max_tokens
    for number, line in found:
        shown = f"{number}: {line}"
        cost = tokens.count(shown) + 1
        if cost > left and not kept:
            kept.append(shown[: max(1, left * 3)])
            kept.append(f"(cut after {left} tokens; ask for a pattern or more max_tokens)")
            return "\n".join(kept)
        if cost > left:
            kept.append(f"(more from line {number} on; ask for lines=[{number}, …])")
            return "\n".join(kept)
        kept.append(shown)
        left -= cost
    if not kept:
        raise RecallError("no_match", "nothing in this content matches; try another pattern")
    return "\n".join(kept)
