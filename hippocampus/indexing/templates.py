"""Lines that differ in their numbers, ids and names only, as one pattern with a count.

After Drain (He et al. 2017): words with digits are variables, then lines of equal length and first
word are merged by similarity. Linear, and bounded in memory. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

DIGITS = bytes.maketrans(b"123456789", b"000000000")
VARIABLE = "*"
MOST_PATTERNS = 6_000
"""Patterns behind these are not merged with others; equal lines still are."""
MOST_CANDIDATES = 6
"""Patterns of one length and first word that a line is compared with."""
SIMILAR = 0.6


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
    lines: Sequence[str], numbers: Iterable[int], *, merged: bool = True
) -> list[Pattern]:
    """Return the patterns among some masked lines, in the order of their first lines.

    Where they are not merged, only lines with the same words make a pattern: what an error names
    is the message.
    """
    found: dict[str, Pattern] = {}
    for number in numbers:
        pattern = found.get(lines[number])
        if pattern is None:
            found[lines[number]] = Pattern([number])
        else:
            pattern.numbers.append(number)
    alike = _by_words(found)
    patterns = _merged(alike) if merged else list(alike.values())
    for pattern in patterns:
        pattern.numbers.sort()
    return patterns


def _by_words(found: dict[str, Pattern]) -> dict[tuple[str, ...], Pattern]:
    """Merge lines whose words are equal, all words with digits being one."""
    alike: dict[tuple[str, ...], Pattern] = {}
    for line, pattern in found.items():
        words = tuple([_word(word) if "0" in word else word for word in line.split()])
        known = alike.setdefault(words, pattern)
        if known is not pattern:
            _join(known, pattern)
    return alike


def _word(word: str) -> str:
    name, equals, _ = word.partition("=")
    return name + "=*" if equals and "0" not in name else VARIABLE


def _join(into: Pattern, pattern: Pattern) -> None:
    into.numbers += pattern.numbers


def _merged(alike: dict[tuple[str, ...], Pattern]) -> list[Pattern]:
    """Merge patterns of equal length and first word that share most of their words."""
    leaves: dict[tuple[int, str], list[tuple[tuple[str, ...], Pattern]]] = {}
    kept: list[Pattern] = []
    for words, pattern in alike.items():
        leaf = leaves.setdefault((len(words), words[0] if words else ""), [])
        similar = _similar(words, leaf) if len(kept) < MOST_PATTERNS else None
        if similar is None:
            kept.append(pattern)
            if len(leaf) < MOST_CANDIDATES:
                leaf.append((words, pattern))
        else:
            _join(similar, pattern)
    return kept


def _similar(words: tuple[str, ...], leaf: list[tuple[tuple[str, ...], Pattern]]) -> Pattern | None:
    for known, pattern in leaf:
        same = sum(a == b for a, b in zip(words, known, strict=True))
        if same > 2 and same >= SIMILAR * len(words):
            return pattern
    return None
