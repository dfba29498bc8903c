"""The text of a digest: which tools were called, with which outcome, under which ids. Pure.

Which turns are old enough is decided in `planner` and `compaction`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hippocampus.formats.conversation import Message, Part
from hippocampus.indexing.frame import as_content, as_words
from hippocampus.indexing.shapes import identifiers
from hippocampus.models import tokens

CALL_CHARACTERS = 70
OUTCOME_CHARACTERS = 70
WORDS_CHARACTERS = 160
SHARE = 12
"""A digest has at most a twelfth of the tokens that it replaces."""
MIN_TOKENS = 120
MAX_TOKENS = 2_000
NAMES_SHARE = 0.4
"""The share of a digest for names that no other text of the view has."""


class Span(NamedTuple):
    """Messages in a row that one digest replaces."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Return whether another span lies inside this one."""
        return self.start <= other.start and other.end <= self.end


def spans_of(start: int, end: int, stays: Callable[[int], bool]) -> list[Span]:
    """Return the runs of messages between two numbers; those that stay stand between them."""
    spans: list[Span] = []
    at = start
    while at < end:
        if stays(at):
            at += 1
            continue
        stop = at
        while stop < end and not stays(stop):
            stop += 1
        spans.append(Span(at, stop))
        at = stop
    return spans


def is_said_by_user(message: Message) -> bool:
    """Return whether a message holds the user's own words, and no tool's results."""
    return message.role == "user" and all(part.kind != "result" for part in message.parts)


def boundaries(messages: Sequence[Message]) -> list[int]:
    """Return the numbers of the messages before which no tool call is open."""
    open_calls: Counter[str] = Counter()  # parallel calls may share an id
    found: list[int] = []
    for number, message in enumerate(messages):
        if not open_calls:
            found.append(number)
        for part in message.parts:
            if part.opens_call:
                open_calls[part.call_id] += 1
            elif part.closes_call and open_calls[part.call_id] > 1:
                open_calls[part.call_id] -= 1
            elif part.closes_call:
                del open_calls[part.call_id]
    return found


def opening_end(messages: Sequence[Message]) -> int:
    """Return how many leading messages stay: the system's and the first of the user."""
    for number, message in enumerate(messages):
        if message.role == "user":
            return number + 1
        if message.role != "system":
            return number
    return len(messages)


def budget_of(raw_tokens: int, most_tokens: int = MAX_TOKENS) -> int:
    """Return the budget, in tokens, of the lines of a digest of messages with `raw_tokens`."""
    return min(most_tokens, max(MIN_TOKENS, raw_tokens // SHARE))


def lines_of(
    messages: Sequence[Message],
    ids: Mapping[str, Sequence[str]],
    names: Iterable[str],
    budget_tokens: int,
) -> str:
    """Return the lines of a digest, within a budget in tokens.

    `ids` has the entries of a call id, and `names` the identifiers that would be lost, the worst
    loss first.
    """
    lines = [line for message in messages for line in _lines(message, ids)]
    chosen, left_tokens = _fitting(_by_worth(lines), int(budget_tokens * (1 - NAMES_SHARE)))
    kept = [line for line in lines if line in chosen]
    left = len(lines) - len(kept)
    if left:
        kept.append(f"… {left} more steps")
    shown = {name for line in kept for name in identifiers(line)}
    named, _ = _fitting(
        (name for name in names if name not in shown),
        left_tokens + int(budget_tokens * NAMES_SHARE),
    )
    if named:
        kept.append(f"named there: {' '.join(sorted(named))}")
    return "\n".join(kept)


def _fitting(texts: Iterable[str], budget_tokens: int) -> tuple[set[str], int]:
    """Return the leading texts that fit a budget, and the tokens that are left of it."""
    kept: set[str] = set()
    for text in texts:
        weight = tokens.count(text) + 1
        if weight > budget_tokens:
            break
        kept.add(text)
        budget_tokens -= weight
    return kept, budget_tokens


def _by_worth(lines: Sequence[str]) -> list[str]:
    """Return the lines in the order in which they are worth keeping: errors, words, then calls."""
    rank = {"!": 0, '"': 1}
    return sorted(dict.fromkeys(lines), key=lambda line: rank.get(line[:1], 2))


def _lines(message: Message, ids: Mapping[str, Sequence[str]]) -> list[str]:
    found = []
    for part in message.parts:
        if part.kind == "call":
            entries = " ".join(ids.get(part.call_id, ()))
            named = f" [{entries}]" if entries else ""
            found.append(f"{part.tool}({_cut(part.text, CALL_CHARACTERS)}){named}")
        elif part.kind == "result" and (part.is_error or part.call_id not in ids):
            mark = "! " if part.is_error else "  -> "
            found.append(mark + _cut(part.text, OUTCOME_CHARACTERS))
        elif part.kind == "text" and part.text.strip():
            found.append(_quoted(message, part))
    return [as_content(line) for line in found]


def _quoted(message: Message, part: Part) -> str:
    who = "user: " if message.role == "user" else ""
    return f'"{who}{_cut(part.text, WORDS_CHARACTERS)}"'


def _cut(text: str, most: int) -> str:
    line = " ".join(text[: 4 * most].split())
    return line if len(line) <= most else line[: most - 1] + "…"


def transcript(messages: Sequence[Message]) -> str:
    """Return messages as a text that can be searched and paged: every part whole."""
    lines = []
    for message in messages:
        for part in message.parts:
            head = f"{part.tool} {part.call_id}" if part.kind in ("call", "result") else ""
            lines.append(" ".join(f"--- {message.role} {part.kind} {head}".split()))
            lines.append(as_words(part.text))
    return "\n".join(lines)
