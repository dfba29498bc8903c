"""Takes off what content comes wrapped in, so that one extractor serves all wrappings. Pure.

JSON inside a JSON string, blocks of text, code fences, numbered file dumps, terminal colours and
progress bars.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Sequence
from typing import Any

from hippocampus.formats import json_text

ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
PROGRESS = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
FENCE = re.compile(r"\A\s*```[\w+-]*\n(.*)\n```\s*\Z", re.DOTALL)
NUMBERED = re.compile(r"^ {0,8}(\d{1,7})(?:\t|→|: |\| ?|:(?=\S))(.*)$")
NUMBERED_SHARE = 0.9
BANNER_LINES = 6
"""So many lines may stand above the numbered ones: the file's name, how much is left out."""
SAMPLE_LINES = 60
DECODER = json.JSONDecoder()
QUOTE = re.compile(r"\s*\"")
CONTAINER = re.compile(r"[\[{](?=\s*[\[{\"\d\]}tfn-])")
LONGEST_PREFACE = 2_000
"""JSON may stand behind some words, as results of query tools often do."""
JSON_SHARE = 0.7
"""The share of a text that must be its JSON value."""
NOTHING: Any = object()
CONTAINERS = (dict, list)
BLOCK_KEYS = {"type", "text", "annotations", "meta", "_meta"}
MOST_LAYERS = 8
SMALLEST_INNER = 40


def plain(text: str) -> str:
    """Return a text without terminal colours, overwritten progress lines and an outer fence."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\r" in text:
        text = PROGRESS.sub("", text)
    fenced = FENCE.match(text) if text.lstrip()[:3] == "```" else None
    return fenced.group(1) if fenced else text


def numbered_dump(text: str) -> tuple[str, int] | None:
    """Return the file in a line-numbered dump and the number of its first line, or nothing."""
    found = _numbered(text.split("\n", BANNER_LINES + SAMPLE_LINES)[: BANNER_LINES + SAMPLE_LINES])
    numbers = [int(match.group(1)) for match in found]
    if len(found) < 2 or any(after != before + 1 for before, after in itertools.pairwise(numbers)):
        return None
    lines = text.split("\n")
    stripped = [match.group(2) if (match := NUMBERED.match(line)) else line for line in lines]
    return "\n".join(stripped), numbers[0]


def _numbered(lines: Sequence[str]) -> list[re.Match[str]]:
    """Return the numbered lines of a sample, or nothing as soon as too many others are in it."""
    start = next((at for at, line in enumerate(lines[:BANNER_LINES]) if NUMBERED.match(line)), 0)
    sample = [line for line in lines[start : start + SAMPLE_LINES] if line.strip()]
    found: list[re.Match[str]] = []
    for at, line in enumerate(sample):
        if match := NUMBERED.match(line):
            found.append(match)
        elif len(sample) - (at + 1 - len(found)) < NUMBERED_SHARE * len(sample):
            return []
    return found


def json_value(text: str) -> Any:
    """Return the JSON value that a text is, with the JSON in its strings read too, or nothing.

    Words before and behind it are no hindrance where the value is most of the text.
    """
    found = _embedded(text)
    return None if found is NOTHING else _inner(found, 0)


def _embedded(text: str) -> Any:
    head = text[:LONGEST_PREFACE]
    start = QUOTE.match(head) or CONTAINER.search(head)
    if start is None:
        return NOTHING
    try:
        value, end = DECODER.raw_decode(text, start.start())
    except json_text.UNREADABLE:
        return NOTHING
    if not isinstance(value, dict | list | str) or end - start.start() < JSON_SHARE * len(text):
        return NOTHING
    return value


def _inner(value: Any, layers: int) -> Any:
    """Replace strings that hold JSON by what they hold, and text blocks by their text."""
    if layers > MOST_LAYERS:
        return value
    if isinstance(value, dict):
        if isinstance(value.get("text"), str) and value.keys() <= BLOCK_KEYS:
            return _inner(value["text"], layers + 1)
        read = [
            (key, _inner(inner, layers + 1)) for key, inner in value.items() if _may_hold(inner)
        ]
        return {**value, **dict(read)} if read else value
    if isinstance(value, list):
        inner = [_inner(each, layers + 1) if _may_hold(each) else each for each in value]
        alone = len(inner) == 1 and isinstance(value[0], dict) and not isinstance(inner[0], dict)
        return inner[0] if alone else inner
    if isinstance(value, str) and _may_hold(value):
        found = _embedded(value)
        return value if found is NOTHING else _inner(found, layers + 1)
    return value


def _may_hold(value: Any) -> bool:
    """Return whether a value can have others in it; fast, since most of a large one cannot."""
    if isinstance(value, str):
        return len(value) >= SMALLEST_INNER and ("{" in value or "[" in value or '"' in value)
    return isinstance(value, CONTAINERS)
