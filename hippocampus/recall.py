"""Slices of a stored content, and the tool by which a model asks for them. Pure text work.

Which content an id stands for is the session's to know.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import re2

from hippocampus import tokens
from hippocampus.errors import RecallError
from hippocampus.indexing import unwrap
from hippocampus.json_paths import at_path

TOOL_NAME = "recall"
DESCRIPTION = (
    "Get back content that was put away. Entries in this conversation that start with "
    "[<id> · …] stand for longer content that is kept in full; ask for the part you need by line "
    "numbers, by a regular expression or by a JSON path."
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
        "path": {
            "type": "string",
            "description": "Part of a JSON content, such as $.items[3].id; * stands for every one.",
        },
        "head": {"type": "integer", "description": "Return so many lines from the start."},
        "tail": {"type": "integer", "description": "Return so many lines from the end."},
        "max_tokens": {"type": "integer", "description": "Bound on what is returned."},
    },
    "required": ["entry_id"],
}
LONE_SURROGATES = re.compile("[\ud800-\udfff]")
LONG_LINE_CHARACTERS = 400
"""Of a longer line only the surroundings of a match are returned."""
AROUND_CHARACTERS = 150


@dataclass(frozen=True, slots=True)
class Request:
    """Which part of a content is wanted; without any selector, all of it or its start."""

    pattern: str | None = None
    lines: tuple[int, int] | None = None
    path: str | None = None
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

    JSON that stands on one line is paged: its lines are those of the same value, indented.

    Raises:
        RecallError: the pattern, path or range is not one, or nothing is there.

    """
    if request.path is not None:
        return _fit(_numbered(_at_path(text, request.path)), max_tokens)
    lines = pages(text)
    if request.pattern is not None:
        wanted = _compiled(request.pattern)
        found = itertools.chain(_matches(lines, wanted), _unpaged(text, lines, wanted))
        return _fit(found, max_tokens)
    first, last = _range(request, len(lines))
    if (first, last) == (1, len(lines)) and tokens.count(text) <= max_tokens:
        return text
    return _fit(_numbered(lines[first - 1 : last], first), max_tokens)


def pages(text: str) -> list[str]:
    """Return the lines of a text as a recall counts them; JSON on one line is indented first."""
    lines = text.split("\n")
    if len(lines) > 2 or len(text) < LONG_LINE_CHARACTERS or text.lstrip()[:1] not in ("{", "["):
        return lines
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False).split("\n")
    except (ValueError, RecursionError):
        return lines


def _at_path(text: str, path: str) -> list[str]:
    value = unwrap.json_value(text)
    if value is None:
        raise RecallError("bad_request", "this content is no JSON; ask by lines or by a pattern")
    try:
        found = at_path(value, path)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    shown = (
        each if isinstance(each, str) else json.dumps(each, indent=1, ensure_ascii=False)
        for each in found
    )
    return [line for each in shown for line in each.split("\n")]


def _unpaged(text: str, lines: list[str], wanted: Any) -> Iterator[tuple[int, str]]:
    """Yield what matches in the text as it is where nothing in its pages does."""
    if len(lines) > 2 and text.count("\n") < 2 and next(_matches(lines, wanted), None) is None:
        yield from _matches([text], wanted)


def _range(request: Request, count: int) -> tuple[int, int]:
    if request.lines is not None:
        first, last = request.lines
        if first > min(last, count) or last < 1:
            raise RecallError(
                "bad_request", f"lines {first} to {last} are no range; ask [1, {count}]"
            )
        return max(1, first), min(last, count)
    if request.head is not None:
        return 1, min(max(1, request.head), count)
    if request.tail is not None:
        return max(1, count - max(1, request.tail) + 1), count
    return 1, count


def _numbered(lines: Iterable[str], first: int = 1) -> Iterator[tuple[int, str]]:
    return enumerate(lines, start=first)


def _compiled(pattern: str) -> Any:
    try:
        return re2.compile(_searchable(pattern), _quietly())
    except re2.error as wrong:
        told = f"pattern {pattern!r} is no regular expression (RE2): {wrong}"
        raise RecallError("bad_request", told) from None


def _matches(lines: Iterable[str], wanted: Any) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that match; of long lines, what surrounds each match."""
    for number, line in enumerate(lines, start=1):
        if len(line) <= LONG_LINE_CHARACTERS:
            if wanted.search(_searchable(line)):
                yield number, line
        else:
            yield from ((number, part) for part in _excerpts(line, wanted))


def _searchable(text: str) -> str:
    """Return a text of the same length that RE2 takes: it knows no lone surrogates."""
    return LONE_SURROGATES.sub("\N{REPLACEMENT CHARACTER}", text)


def _quietly() -> re2.Options:
    options = re2.Options()
    options.log_errors = False
    return options


def _excerpts(line: str, wanted: Any) -> Iterator[str]:
    end = -1
    for match in wanted.finditer(_searchable(line)):
        if match.start() < end:
            continue
        start = max(0, match.start() - AROUND_CHARACTERS)
        end = min(len(line), match.end() + AROUND_CHARACTERS)
        yield f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _head(text: str, most_tokens: int) -> str:
    """Return the start of a text that weighs no more than so many tokens."""
    head = text[: most_tokens * 4]
    while head and (weight := tokens.count(head)) > most_tokens:
        head = head[: len(head) * most_tokens // weight]
    return head


def _fit(found: Iterable[tuple[int, str]], max_tokens: int) -> str:
    """Return the numbered lines that fit, and a note where some did not."""
    kept: list[str] = []
    left = max_tokens
    for number, line in found:
        shown = f"{number}: {line}"
        cost = tokens.count(shown) + 1
        if cost > left and not kept:
            kept.append(_head(shown, left))
            kept.append(f"(cut after {left} tokens; ask for a pattern or more max_tokens)")
            return "\n".join(kept)
        if cost > left:
            kept.append(f"(more from line {number} on; ask for lines=[{number}, …])")
            return "\n".join(kept)
        kept.append(shown)
        left -= cost
    if not kept:
        raise RecallError(
            "no_match", "nothing in this content matches; try another pattern or path"
        )
    return "\n".join(kept)
