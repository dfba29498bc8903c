"""Takes off what content comes wrapped in, so that one extractor serves all wrappings. Pure.

JSON inside a JSON string, blocks of text, the envelope of MCP, code
fences, terminal colours and progress bars.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

from hippocampus.formats import json_text
from hippocampus.formats.json_text import NOTHING
from hippocampus.secrets.encodings import ANSI

PROGRESS = re.compile(r"^[^\n]*\r(?!\n)", re.MULTILINE)
FENCE = re.compile(r"\A\s*```[\w+-]*\n(.*)\n```\s*\Z", re.DOTALL)
DECODER = json.JSONDecoder()
QUOTE = re.compile(r"\s*\"")
CONTAINER = re.compile(r"[\[{](?=\s*[\[{\"\d\]}tfn-])")
NEXT_BLOCK = re.compile(r"[ \t\r]*\n\s*(?=[\[{])")
MAX_BLOCKS = 8
"""More JSON values, one after the other, are the lines of a log."""
MAX_PREFACE = 2_000
"""JSON may follow some words, as in results of query tools."""
MAX_AROUND = 1_500
"""Words around JSON up to here are a note of the tool, whatever the size of the JSON."""
MIN_NOTED = 120
"""A shorter JSON value is the content only where the note around it is no longer."""
JSON_SHARE = 0.7
"""The share of a text that must be its JSON value where more words surround it."""
CONTAINERS = (dict, list)
BLOCK_KEYS = {"type", "text", "annotations", "meta", "_meta"}
ENVELOPE_KEYS = {"meta", "_meta", "content", "structuredContent", "isError"}
ONLY_RESULT = {"result"}
MAX_LAYERS = 8
K = TypeVar("K")
MIN_INNER = 24
DOMINANT_CHARACTERS = 1_500
"""From this length on a text that is half of a JSON document is read by its own kind."""


def plain(text: str) -> str:
    """Return a text without terminal colours, carriage returns, overwritten progress lines and an outer fence."""
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\r" in text:
        text = PROGRESS.sub("", text.replace("\r\n", "\n"))
    fenced = FENCE.match(text) if text.lstrip()[:3] == "```" else None
    return fenced.group(1) if fenced else text


def json_and_words(text: str) -> tuple[Any, list[str]]:
    """Return the JSON value in a text, or nothing, and the words around it and inside envelopes.

    The JSON in its strings is read too. Words around it are no hindrance where they are few.
    """
    words: list[str] = []
    found = _embedded(text, words)
    value = None if found is NOTHING or json_text.is_deep(found) else _inner(found, 0, words)
    return (None, []) if value is None or json_text.is_deep(value) else (value, words)


class Parted(NamedTuple):
    """A text that is most of a JSON value."""

    text: str
    """Empty for none."""
    rest: Any
    """The value without it."""
    place: tuple[str | int, ...] = ()
    """The keys and indices that lead to it."""


def parted(value: Any, characters: int) -> Parted:
    """Return the text that is half of a JSON value; `characters` is the length of its JSON."""
    min_characters = max(DOMINANT_CHARACTERS, characters // 2)
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:  # in the order of the text; no call a value, since a large one has thousands
        place, found = waiting.pop()
        if isinstance(found, str) and len(found) >= min_characters:
            return Parted(found, _without(value, place), place)
        if isinstance(found, CONTAINERS):
            inside = []
            for key, inner in found.items() if isinstance(found, dict) else enumerate(found):
                is_long = isinstance(inner, str) and len(inner) >= min_characters
                if is_long or isinstance(inner, CONTAINERS):
                    inside.append(((*place, key), inner))
            waiting += inside[::-1]
    return Parted("", value)


def _without(value: Any, place: Sequence[str | int]) -> Any:
    """Return a value with an empty text at a place."""
    if not place:
        return ""
    around = value.copy()
    around[place[0]] = _without(value[place[0]], place[1:])
    return around


def _embedded(text: str, words: list[str]) -> Any:
    """Return the value that a text holds; the text around it is added to the words."""
    head = text[:MAX_PREFACE]
    start = QUOTE.match(head) or CONTAINER.search(head)
    if start is None:
        return NOTHING
    first = start.start()
    try:
        value, end = DECODER.raw_decode(text, first)
    except json_text.UNREADABLE:
        return NOTHING
    value, end = _with_later_blocks(text, value, end)
    pieces, size = (text[:first].strip(), text[end:].strip()), end - first
    around = sum(map(len, pieces))
    if isinstance(value, str) or around > MAX_AROUND:
        is_found = size >= JSON_SHARE * len(text)
    else:
        is_found = around <= size or (bool(value) and size > MIN_NOTED)
    if not is_found:
        return NOTHING
    words += filter(None, pieces)
    return value


def _with_later_blocks(text: str, value: Any, end: int) -> tuple[Any, int]:
    """Return the list of the JSON blocks of one result, as MCP servers return them, and their end."""
    values, last = [value], end
    while isinstance(values[-1], CONTAINERS) and (next_line := NEXT_BLOCK.match(text, last)):
        try:
            following, last = DECODER.raw_decode(text, next_line.end())
        except json_text.UNREADABLE:
            break
        values.append(following)
        if len(values) > MAX_BLOCKS:
            return value, end
    return (value, end) if len(values) == 1 else (values, last)


def _inner(value: Any, layers: int, words: list[str]) -> Any:
    """Replace strings that hold JSON by their value, and envelopes by their content."""
    if layers > MAX_LAYERS:
        return value
    if isinstance(value, dict):
        return _inner_of_object(value, layers, words)
    if isinstance(value, list):
        inner = list(value)
        for at in _holding(enumerate(value)):
            inner[at] = _inner(value[at], layers + 1, words)
        is_layer = len(inner) == 1 and isinstance(value[0], dict) and not isinstance(inner[0], dict)
        return inner[0] if is_layer else inner
    if isinstance(value, str) and _holding([(0, value)]):
        found = _embedded(value, words if layers < 4 else [])
        return value if found is NOTHING else _inner(found, layers + 1, words)
    return value


def _inner_of_object(value: dict[str, Any], layers: int, words: list[str]) -> Any:
    is_block = value.get("type") == "text" and isinstance(value.get("text"), str)
    if is_block and value.keys() <= BLOCK_KEYS:
        return _inner(value["text"], layers + 1, words)
    blocks = value.get("content")
    if not isinstance(blocks, list) or not ENVELOPE_KEYS >= value.keys() != {"content"}:
        read = {key: _inner(value[key], layers + 1, words) for key in _holding(value.items())}
        return {**value, **read} if read else value
    # The content of an MCP result, once where its structured form is the same.
    inner = [_inner(block, layers + 1, words) for block in blocks]
    content = inner[0] if len(inner) == 1 else inner
    structured = value.get("structuredContent")
    if structured not in (None, {}):
        structured = _inner(structured, layers + 1, [])
        one, other = _bare(content), _bare(structured)
        if one != other and not (isinstance(one, str) and one == json.dumps(other)):
            content = {"content": content, "structuredContent": structured}
    if value.get("isError"):
        words.append("isError=true")
    return content


def _bare(value: Any) -> Any:
    while (isinstance(value, list) and len(value) == 1) or (
        isinstance(value, dict) and value.keys() == ONLY_RESULT
    ):
        value = value[0] if isinstance(value, list) else value["result"]
    return value


def _holding(values: Iterable[tuple[K, Any]]) -> list[K]:
    """Return the keys of the values that can have others in them; fast, since most of a large one cannot."""
    found = []
    for key, value in values:
        # A list may have thousands of records, most of them flat: none is a block of text.
        is_record = isinstance(value, dict) and value.get("type") != "text"
        for inner in value.values() if is_record else (value,):
            if isinstance(inner, CONTAINERS) or (
                isinstance(inner, str)
                and len(inner) >= MIN_INNER
                and ("{" in inner or "[" in inner or '"' in inner)
            ):
                found.append(key)
                break
    return found
