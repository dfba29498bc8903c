"""The lines that a recall counts, numbered and within a token budget, with a note about the rest. Pure.

JSON on one line is broken into many.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from hippocampus.entries.text import storable
from hippocampus.errors import RecallError
from hippocampus.indexing import unwrap
from hippocampus.models import tokens

LONG_LINE_CHARACTERS = 400
"""Of a longer line, a pattern returns only the text around a match; JSON on one is broken."""
CACHED_TEXTS = 4
"""How many paged texts are cached: a model recalls the same one several times."""
NOTE_TOKENS = 32
"""The most tokens of the note; they are part of the budget."""
MIN_TOKENS = 2 * NOTE_TOKENS
"""Under this budget nothing useful fits next to the note."""
MAX_TOKEN_CHARACTERS = 128
"""The length of the longest token of the vocabularies."""
GAP = "--"
"""Separates lines that are not consecutive, where context lines are included."""
NEWLINE = re.compile(r"(?<!\\)((?:\\\\)*)\\n")
"""The line break of a JSON string, as it is written there."""


class NumberedLine(NamedTuple):
    """One line of an answer."""

    number: int
    text: str
    mark: str = ":"
    """Follows the number: `:`, or `-` for a context line of a match."""

    def __str__(self) -> str:
        """Return the line as the model reads it; our own lines have no number (0)."""
        return f"{self.number}{self.mark} {self.text}" if self.number else self.text


Note = Callable[[int, int, int], str]
"""Returns the note about left-out lines, from the number of lines that are returned, the number of
found lines that are not, and the line number of the first of these."""


def numbered(lines: Iterable[str], first: int = 1) -> Iterator[NumberedLine]:
    """Yield lines with their numbers."""
    for number, line in enumerate(lines, start=first):
        yield NumberedLine(number, line)


def fit(found: Iterable[NumberedLine], max_tokens: int, note: Note) -> str:
    """Return the lines that fit, and a note if some do not, both within `max_tokens`.

    Raises:
        RecallError: nothing was found, or the budget is too small for any line.

    """
    kept: list[str] = []
    costs: list[int] = []
    lines: list[NumberedLine] = []
    total = -1
    for line in found:
        lines.append(line)
        kept.append(str(line))
        costs.append(_cost(kept[-1], max_tokens) + 1)
        total += costs[-1]
        if total > max_tokens:
            return _cut(kept, costs, lines, max_tokens, note)
    if not kept:
        raise RecallError(
            "no_match", "nothing in this content matches; try another pattern, path or query"
        )
    return "\n".join(kept)


def _cost(line: str, max_tokens: int) -> int:
    """Return the tokens of a line; for one that does not fit, some number over the budget."""
    usual = 8 * max_tokens
    cost = tokens.count(line[:usual])
    if len(line) <= usual or cost > max_tokens:
        return cost
    return tokens.count(line[: MAX_TOKEN_CHARACTERS * (max_tokens + 1)])


def _cut(
    kept: list[str], costs: list[int], lines: list[NumberedLine], max_tokens: int, note: Note
) -> str:
    if max_tokens < MIN_TOKENS:
        text = f"max_tokens={max_tokens} is too small for it; ask for {MIN_TOKENS} or more"
        raise RecallError("too_large", text)
    budget_tokens = max_tokens - NOTE_TOKENS
    whole, used = 0, costs[0]
    while used <= budget_tokens:
        whole += 1
        used += costs[whole]
    if not whole:
        cut = f"(line {lines[0].number} is cut after {budget_tokens} tokens; ask for a pattern)"
        return f"{start_of(kept[0], budget_tokens)}\n{cut}"
    while whole > 1 and lines[whole - 1].text == GAP:
        whole -= 1
    return "\n".join([*kept[:whole], note(whole, len(lines) - whole, lines[whole].number)])


def start_of(text: str, max_tokens: int) -> str:
    """Return the start of a text, of at most `max_tokens` tokens."""
    head = text[: max_tokens * 4]
    while head and (count := tokens.count(head)) > max_tokens:
        head = head[: len(head) * max_tokens // count]
    return head


def pages(text: str) -> list[str]:
    """Return the lines of a text as a recall counts them; JSON on one line is broken first."""
    return paged(text).split("\n")


@functools.lru_cache(maxsize=CACHED_TEXTS)
def paged(text: str) -> str:
    """Return a text with lines to page: the text itself, or its JSON with one item a line.

    Lines of strings inside the JSON are lines too, and the words around it come last.
    """
    if text.count("\n", 0, -1) > 1 or len(text) < LONG_LINE_CHARACTERS:
        return text
    value, words = _read(text)
    if isinstance(value, dict | list):
        dumped = json.dumps(value, ensure_ascii=False, separators=(",\n", ": "))
        value = NEWLINE.sub(r"\1\n", dumped)
    return storable("\n".join((value, *words))) if isinstance(value, str) else text


def decoded(text: str) -> Any:
    """Return the value of a JSON text, with JSON inside its strings decoded too, or None.

    The value is cached and shared: callers must not change it.
    """
    return _read(text)[0]


@functools.lru_cache(maxsize=CACHED_TEXTS)
def _read(text: str) -> tuple[Any, list[str]]:
    """Return the value of a JSON text, or None, and the words around it."""
    return unwrap.json_and_words(text)
