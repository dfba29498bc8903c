"""A question about a content and what an entry must say to answer it. Knows no kind of content."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

REACH = 240
"""How many characters apart, within one line, a label and its value may stand."""
THOUSANDS = re.compile(r"(?<![\w.])(?<!\w,)\d{1,3}(?:,\d{3})+(?!\w|,\w|\.\d)")
"""`1,284`, but not two neighbours of a row such as `a,1,284,b`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `|` separates spellings that count as the same, `*` ends a prefix."""

    text: str
    expected: tuple[str, ...] = ()
    """All of these stand in the entry."""
    together: tuple[tuple[str, str], ...] = ()
    """Each label stands in the same line as its value."""

    def answers(self, entry: str) -> bool:
        """Whether the entry alone answers the question."""
        lines = THOUSANDS.sub(lambda match: match[0].replace(",", ""), entry).splitlines()
        return all(any(_find(word, line) for line in lines) for word in self.expected) and all(
            any(_stand_together(*pair, line) for line in lines) for pair in self.together
        )


def says(text: str, *expected: object) -> Question:
    """A question that is answered by these words."""
    return Question(text, expected=tuple(map(str, expected)))


def beside(text: str, label: str, *values: object) -> Question:
    """A question that is answered by these values, each beside the label."""
    return Question(text, together=tuple((label, str(value)) for value in values))


def _stand_together(label: str, value: str, line: str) -> bool:
    values = _find(value, line)
    if not values:
        return False
    labels = [place for place in _find(label, line) if place not in values or label == value]
    return any(_gap(one, other) <= REACH for one in labels for other in values)


def _gap(one: tuple[int, int], other: tuple[int, int]) -> int:
    first, second = sorted((one, other))
    return second[0] - first[1]


def _find(words: str, line: str) -> list[tuple[int, int]]:
    return [match.span() for match in _pattern(words).finditer(line)]


@cache
def _pattern(words: str) -> re.Pattern[str]:
    return re.compile("|".join(map(_spelling, words.split("|"))), re.IGNORECASE)


def _spelling(word: str) -> str:
    """A whole word or number: `8` is neither in `18`, nor in `8.5`, nor in `8,000`."""
    text = word.removesuffix("*")
    before = r"(?<![\w])" if text[0].isalnum() or text[0] == "_" else ""
    after = "" if text != word or not re.match(r"\w", text[-1]) else r"(?!\w)"
    if text.isdigit():
        before += r"(?<!\d[.])"
        after += r"(?![.]\d)"
    return before + re.escape(text) + after
