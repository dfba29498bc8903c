"""Lines that differ in their numbers, ids and names only, as one pattern with a count.

Words with digits are variables, as in Drain (He et al. 2017). Linear. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

DIGITS = bytes.maketrans(b"123456789", b"000000000")
VARIABLE = "*"

T = TypeVar("T")


@dataclass(slots=True)
class Pattern:
    """Lines that read alike."""

    numbers: list[int]
    """Their numbers, from 0."""


def masked(text: str) -> list[str]:
    """Return the lines of a text with each digit as 0."""
    raw = text.encode("utf-8", "surrogatepass").translate(DIGITS)
    return raw.decode("utf-8", "surrogatepass").split("\n")


def alike(lines: Sequence[str]) -> list[tuple[str, int]]:
    """Return one of the lines that differ in their digits only, with how many they are."""
    masks = masked("\n".join(lines)) if lines else []
    examples = dict(zip(masks, lines, strict=True))
    return [(examples[mask], count) for mask, count in Counter(masks).items()]


def map_alike(lines: Sequence[str], describe: Callable[[str], T]) -> list[T]:
    """Return the value of each line; lines that differ in their digits only share one."""
    masks = masked("\n".join(lines)) if lines else []
    examples = dict(zip(masks, lines, strict=True))
    rendered = {mask: describe(line) for mask, line in examples.items()}
    return [rendered[mask] for mask in masks]


def patterns_of(
    lines: Sequence[str], numbers: Iterable[int], *, by_words: bool = True
) -> list[Pattern]:
    """Return the patterns among some masked lines, in the order of their first lines.

    Lines that differ in their digits only make one; by words, so do lines that differ in words with
    digits, such as ids.
    """
    found: dict[str, Pattern] = {}
    for number in numbers:
        found.setdefault(lines[number], Pattern([])).numbers.append(number)
    if not by_words:
        return list(found.values())
    alike: dict[tuple[str, ...], Pattern] = {}
    for line, pattern in found.items():
        words = tuple([_word(word) if "0" in word else word for word in line.split()])
        known = alike.setdefault(words, pattern)
        if known is not pattern:
            known.numbers += pattern.numbers
    for pattern in alike.values():
        pattern.numbers.sort()
    return list(alike.values())


def _word(word: str) -> str:
    name, equals, _ = word.partition("=")
    return name + "=*" if equals and "0" not in name else VARIABLE
