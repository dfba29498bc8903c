"""Numbered lines within a bound of tokens, with a note of what was left out. Pure text work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from hippocampus import tokens
from hippocampus.errors import RecallError

NOTE_TOKENS = 32
"""What the note of what was left out may weigh; it is part of the bound."""
LEAST_TOKENS = 2 * NOTE_TOKENS
"""Under this bound nothing of use fits beside the note."""
LONGEST_TOKEN_CHARACTERS = 128
"""No token of the vocabularies that are counted with has more."""
GAP = "--"
"""Stands between lines that do not follow each other, where context lines are shown."""


class Shown(NamedTuple):
    """One line of an answer."""

    number: int
    text: str
    mark: str = ":"
    """Stands behind the number: `:`, or `-` for a line that is shown beside a match."""

    def __str__(self) -> str:
        """Return the line as the model reads it; without a number it is said by us."""
        return f"{self.number}{self.mark} {self.text}" if self.number else self.text


Note = Callable[[int, int, int], str]
"""Says what was left out: from how many lines are shown, how many of those found so far are not,
and the number of the first of them."""


def numbered(lines: Iterable[str], first: int = 1) -> Iterator[Shown]:
    """Yield lines with their numbers."""
    for number, line in enumerate(lines, start=first):
        yield Shown(number, line)


def fit(found: Iterable[Shown], max_tokens: int, note: Note) -> str:
    """Return the lines that fit, and a note where some did not; both within `max_tokens`.

    Raises:
        RecallError: nothing was found, or the bound is too small for anything.

    """
    kept: list[str] = []
    costs: list[int] = []
    lines: list[Shown] = []
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
    """Return what a line weighs; of one that does not fit, no more than that is counted."""
    usual = 8 * max_tokens
    weight = tokens.count(line[:usual])
    if len(line) <= usual or weight > max_tokens:
        return weight
    return tokens.count(line[: LONGEST_TOKEN_CHARACTERS * (max_tokens + 1)])


def _cut(kept: list[str], costs: list[int], lines: list[Shown], max_tokens: int, note: Note) -> str:
    if max_tokens < LEAST_TOKENS:
        told = f"max_tokens={max_tokens} is too small for it; ask for {LEAST_TOKENS} or more"
        raise RecallError("too_large", told)
    room = max_tokens - NOTE_TOKENS
    whole, used = 0, costs[0]
    while used <= room:
        whole += 1
        used += costs[whole]
    if not whole:
        cut = f"(line {lines[0].number} is cut after {room} tokens; ask for a pattern)"
        return f"{start_of(kept[0], room)}\n{cut}"
    while whole > 1 and lines[whole - 1].text == GAP:
        whole -= 1
    return "\n".join([*kept[:whole], note(whole, len(lines) - whole, lines[whole].number)])


def start_of(text: str, most_tokens: int) -> str:
    """Return the start of a text that weighs no more than so many tokens."""
    head = text[: most_tokens * 4]
    while head and (weight := tokens.count(head)) > most_tokens:
        head = head[: len(head) * most_tokens // weight]
    return head
