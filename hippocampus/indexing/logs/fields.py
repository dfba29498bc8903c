"""What the fields of alike log lines hold over all of them: counts of few values, ranges of numbers.

Pure and linear; a sample of the lines decides which fields are written.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

FEWEST_LINES = 20
MOST_LINES = 20_000
MOST_FIELDS = 30
MOST_VALUES = 8
"""Distinct values up to which a field is written as its values."""
MEASURE = re.compile(
    r"(?P<name>[A-Za-z_][\w.-]{0,30}=)?(?P<number>\d+(?:\.\d+)?)(?P<unit>[A-Za-z%]{1,3})"
)
"""A number with its unit."""
FIXED = re.compile(r"(?!(?:INFO|DEBUG|TRACE|NOTICE)\b)[A-Za-z]+")
"""A word that belongs to a form of lines; a level belongs to the single line."""
FIXED_SHARE = 0.9
SplitLine = tuple[list[str], int]
"""The fields of a line, and its number."""


def spread(lines: Sequence[str], numbers: Sequence[int]) -> Iterator[str]:
    """Yield how many lines are alike, and what each of their telling fields holds.

    `numbers` are the lines to look at, from 0; those of the most frequent form are taken.
    """
    rows = [(lines[number].split(), number) for number in numbers[:MOST_LINES]]
    rows = _alike(rows) if len(rows) >= FEWEST_LINES else []
    if len(rows) < FEWEST_LINES:
        return
    more = f" of the first {MOST_LINES:,}" if len(numbers) > MOST_LINES else ""
    yield f"{len(rows)} alike{more}"
    for values in zip(*(row for row, _ in rows), strict=True):
        rendered = _field(values, [number for _, number in rows])
        if rendered:
            yield rendered


def _alike(rows: Sequence[SplitLine]) -> list[SplitLine]:
    """Return the rows of the usual length that have the words that nearly all of them have."""
    width = Counter(len(row) for row, _ in rows).most_common(1)[0][0]
    kept = [each for each in rows if len(each[0]) == width]
    for column in range(min(width, MOST_FIELDS)):
        (word, count), *_ = Counter(row[column] for row, _ in kept).most_common(1)
        if FIXED_SHARE * len(kept) <= count < len(kept) and FIXED.fullmatch(word):
            kept = [each for each in kept if each[0][column] == word]
    return kept


def _field(values: Sequence[str], numbers: Sequence[int]) -> str:
    counts = Counter(values)
    if len(counts) == 1:
        return ""
    if len(counts) <= MOST_VALUES and len(set(counts.values())) == 1:
        return f"{min(counts)}..{max(counts)}={min(counts.values())} each"
    if len(counts) <= MOST_VALUES:
        return " ".join(f"{value}={count}" for value, count in counts.most_common())
    return _range(values, numbers) if MEASURE.fullmatch(values[0]) else ""


def _range(values: Sequence[str], numbers: Sequence[int]) -> str:
    """Return the least and the most of a measure, the most with its line."""
    found = [
        (float(match["number"]), value, at)
        for value, at in zip(values, numbers, strict=True)
        if (match := MEASURE.fullmatch(value))
    ]
    if len(found) < len(values):
        return ""
    least, most = min(found), max(found)
    return f"{least[1]}..{most[1]} (line {most[2] + 1})"
