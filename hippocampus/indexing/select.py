"""Which lines of a extraction stand in the entry: those whose chance of use is worth their price.

Pure arithmetic over a extraction. Every signal comes from before the content arrived.
"""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterator, Sequence

from hippocampus import tokens
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.worth import Price

MOST_LINES = 6_000
"""Lines behind these are not looked at; a list that long is known by its counts."""
WORD = re.compile(r"\w{3,}")
CHARACTERS_PER_TOKEN = 3
"""For ranking; what is taken is counted."""
LINE_TOKENS = 5
"""What a line costs by being one; without it crumbs would win over sentences."""
MOST_RELEVANCE = 12.0
INHERITED = 0.5
"""The share of a heading's relevance that the lines below it have."""
MOST_CITED = 60

CHANCE = {
    "bias": 0.2,
    "weight": 1.0,
    "size": -0.4,
    "new": 0.8,
    "old": -2.5,
    "task": 0.3,
}
"""Coefficients of a logistic model of use, fitted on recordings with one server left out in turn:

- `weight`: logarithm of the extractor's weight of the line;
- `size`: logarithm of the whole content's tokens; of a larger content each line is needed less;
- `new`: logarithm of 1 and the identifiers in the line that the view does not show yet;
- `old`: 1 where the line names something and the view shows all of it already;
- `task`: BM25 of the line for the user's words, at most 12, divided by 4.

What each is worth is measured by `tests/bench/ablation.py`. BM25 for the call's arguments and for
the assistant's last words, position and the count of lines did not hold on servers left out.
"""

KIND = {"hits": -0.8, "listing": -1.2, "log": -0.4}
"""Of some kinds each line is needed less often than the others would have it; added to `bias`."""


def choose(extraction: Extraction, context: ExtractionContext, price: Price) -> list[str]:
    """Return the lines that pay, the best for their size first, in content order, with its gaps."""
    lines = extraction.lines[:MOST_LINES]
    chances = chances_of(extraction, context)
    sizes = [LINE_TOKENS + len(line.text) // CHARACTERS_PER_TOKEN for line in lines]
    order = sorted(range(len(lines)), key=lambda at: (-chances[at] / sizes[at], at))
    chosen = _Chosen(lines, price.most_tokens)
    for at, line in enumerate(lines):
        if line.keep:
            chosen.add(at)
    for at in order:
        pays = chances[at] * price.recall > sizes[at] * price.carry
        if pays or chosen.room.spent_under(price.least_tokens):
            chosen.add(at)
    gaps = _fitting(_gaps(lines, chosen.numbers), extraction.unit, chosen.room)
    rendered = list(_render(lines, chosen.numbers, gaps))
    return rendered + _cited(rendered, context.cited)


class _Room:
    """What is left of a number of tokens; texts are counted only where their number decides.

    A text has at most as many tokens as bytes, and on one line at least as many as words.
    """

    def __init__(self, most_tokens: int) -> None:
        self._most = most_tokens
        self._spent = 0
        self._uncounted: list[str] = []
        self._at_least = 0
        self._at_most = 0

    def take(self, texts: Sequence[str]) -> bool:
        """Take lines where they fit together, and return whether they do."""
        at_most = sum(len(text.encode("utf-8", "surrogatepass")) + 1 for text in texts)
        at_least = sum(_words(text) + 1 for text in texts)
        if self._spent + self._at_most + at_most <= self._most:
            self._uncounted += texts
            self._at_most += at_most
            self._at_least += at_least
            return True
        if self._spent + self._at_least + at_least > self._most:
            return False
        self._count()
        cost = sum(tokens.count(text) + 1 for text in texts)
        if self._spent + cost > self._most:
            return False
        self._spent += cost
        return True

    def spent_under(self, bound: int) -> bool:
        """Return whether fewer tokens than a bound were taken."""
        if self._spent + self._at_least >= bound:
            return False
        if self._spent + self._at_most >= bound:
            self._count()
        return self._spent + self._at_most < bound

    def _count(self) -> None:
        self._spent += sum(tokens.count(text) + 1 for text in self._uncounted)
        self._uncounted, self._at_least, self._at_most = [], 0, 0


def _words(text: str) -> int:
    return len(text.split()) if text.isprintable() else 0


class _Chosen:
    """The lines taken so far, with the lines that they need to be read."""

    def __init__(self, lines: Sequence[EntryLine], most_tokens: int) -> None:
        self._lines = lines
        self._texts: set[str] = set()
        self.numbers: set[int] = set()
        self.room = _Room(most_tokens)

    def add(self, number: int) -> None:
        """Take a line and its headings, where they fit together; a repeated text is not taken."""
        if self._lines[number].text in self._texts:
            return
        wanted: list[int] = []
        at: int | None = number
        while at is not None and at not in self.numbers and at not in wanted:
            wanted.append(at)
            at = self._lines[at].parent
        texts = [self._lines[each].text for each in wanted]
        if self.room.take(texts):
            self.numbers.update(wanted)
            self._texts.update(texts)


def _render(lines: Sequence[EntryLine], chosen: set[int], gaps: dict[int, str]) -> Iterator[str]:
    """Yield the chosen lines, and behind each group how much of it was left out."""
    if -1 in gaps:
        yield gaps[-1]
    for at, line in enumerate(lines):
        if at in chosen:
            yield line.text
        if at in gaps:
            yield gaps[at]


def _fitting(gaps: dict[int, int], unit: str, room: _Room) -> dict[int, str]:
    """Return the text of the gaps, the largest first, while they fit."""
    rendered: dict[int, str] = {}
    for at, count in sorted(gaps.items(), key=lambda gap: -gap[1]):
        text = f"… {count} more {unit}"
        if not room.take([text]):
            break
        rendered[at] = text
    return rendered


def _gaps(lines: Sequence[EntryLine], chosen: set[int]) -> dict[int, int]:
    """Return how much was left out behind each line; behind -1 where nothing was chosen."""
    left: dict[int | None, int] = {}
    last: dict[int | None, int] = {None: -1}
    for at, line in enumerate(lines):
        if at in chosen:
            last[line.parent] = at
        elif line.count and (line.parent is None or line.parent in chosen):
            left[line.parent] = left.get(line.parent, 0) + line.count
    gaps: dict[int, int] = {}
    for parent, count in left.items():
        at = last.get(parent, -1 if parent is None else parent)
        gaps[at] = gaps.get(at, 0) + count
    return gaps


def _cited(rendered: Sequence[str], cited: frozenset[str] | set[str]) -> list[str]:
    """Return a line with what the agent has already taken from the content and no line shows."""
    shown = "\n".join(rendered)
    missing = sorted(value for value in cited if value not in shown)[:MOST_CITED]
    return [f"used before: {', '.join(missing)}"] if missing else []


def chances_of(extraction: Extraction, context: ExtractionContext) -> list[float]:
    """Return for each line how likely it is that a value in it is needed later."""
    lines = extraction.lines[:MOST_LINES]
    bias = CHANCE["bias"] + KIND.get(extraction.kind, 0.0)
    relevance = _relevance(lines, context.task)
    size = math.log(max(context.content_tokens, 1))
    return [
        _chance(
            bias,
            CHANCE["weight"] * math.log(max(line.weight, 0.01))
            + CHANCE["size"] * size
            + CHANCE["task"] * (min(task, MOST_RELEVANCE) / 4),
            identifiers(line.text),
            context.known,
        )
        for line, task in zip(lines, relevance, strict=True)
    ]


def _chance(bias: float, signals: float, found: frozenset[str], known: Container[str]) -> float:
    """Return the chance from the sum of a line's other signals and from what it names."""
    new = len([name for name in found if name not in known])
    signals += CHANCE["new"] * math.log1p(new)
    if found and not new:
        signals += CHANCE["old"]
    return 1 / (1 + math.exp(-(bias + signals)))


def _relevance(lines: Sequence[EntryLine], words: str) -> list[float]:
    """Return the BM25 of each line for some words (Robertson & Zaragoza 2009).

    A line is a document. Lines are short and repeat no word, so neither length nor frequency is
    weighed: what remains is the rarity of the words that they share with the question.
    """
    texts = [line.text.lower() for line in lines]
    whole = "\n".join(texts)
    wanted = {word for word in set(WORD.findall(words.lower())) if word in whole}
    if not wanted:
        return [0.0] * len(lines)
    found = [wanted.intersection(WORD.findall(text)) for text in texts]
    counts: dict[str, int] = {}
    for shared in found:
        for word in shared:
            counts[word] = counts.get(word, 0) + 1
    total = len(lines)
    rarity = {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
    own = [sum(rarity[word] for word in shared) for shared in found]
    above = (own[line.parent] if line.parent is not None else 0.0 for line in lines)
    return [each + INHERITED * parent for each, parent in zip(own, above, strict=True)]
