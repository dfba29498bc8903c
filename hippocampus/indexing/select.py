"""The entry of a text: the lines of its extraction with a chance of use that is worth their price.

Pure arithmetic over an extraction. Every signal comes from before the content arrived.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.entries.entry import Compression
from hippocampus.indexing.extraction import (
    EntryLine,
    Extraction,
    ExtractionContext,
    identifiers,
    with_lines_before,
)
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.kinds import KINDS, extraction_of
from hippocampus.indexing.plain import message_of
from hippocampus.models import tokens
from hippocampus.prices import Prices

EXCERPT_PART, ROWS_PART = 3, 2
"""The part of its content that an entry weighs at most: rows are looked up, so more of them are kept."""
MAX_LINES = 6_000
"""Further lines are not looked at; a list that long is known by its counts."""
WORD = re.compile(r"\w{3,}")
CHARACTERS_PER_TOKEN = 3
"""For ranking; the tokens of chosen lines are counted."""
LINE_TOKENS = 5
"""What a line costs by being one; without it crumbs would win over sentences."""
MAX_RELEVANCE = 12.0
MAX_CITED = 60


@dataclass(frozen=True, slots=True)
class ChanceModel:
    """Coefficients of a logistic model of use: is a value of this line needed later?

    Fitted on recordings with one server left out in turn; `python -m tests.bench.ablation FOLDER`
    measures each by setting it to 0. Position, the count of lines, and BM25 for the call's
    arguments or the assistant's last words did not hold on servers left out.
    """

    bias: float = 0.2
    weight: float = 1.0
    """Of the logarithm of the extractor's weight of the line."""
    size: float = -0.4
    """Of the logarithm of the whole content's tokens; of a larger content a line is needed less."""
    new: float = 0.8
    """Of the logarithm of 1 and the identifiers that neither the view nor a line before shows."""
    old: float = -2.5
    """Where the line has identifiers and the view shows all of them already."""
    task: float = 0.075
    """Of BM25 of the line for the user's words, at most 12."""
    cited: float = 2.0
    """Where the agent has used an identifier of the line already."""
    around_cited: float = 1.0
    """Of a line with a number, where it is two lines from such a line at most, or is one."""


CHANCE = ChanceModel()
AROUND_CITED = 2
"""Lines before and after a cited one that are needed to read it."""


@dataclass(frozen=True, slots=True)
class Index:
    """The entry of a text."""

    kind: str
    summary: str
    """One line that a person or a model can read."""
    key_data: dict[str, Any]
    lines: tuple[str, ...]
    """The lines in the view below the first."""
    selectors: tuple[str, ...] = ()
    """Selectors that make sense for a recall of it."""


def index(text: str, context: ExtractionContext, price: Price) -> Index:
    """Return the entry of a text at a price, in at most half of its tokens."""
    extraction = extraction_of(text, context)
    if context.is_error:
        message = [EntryLine(line, keep=True, count=0) for line in message_of(text)]
        extraction = with_lines_before(extraction, message)
    part = EXCERPT_PART if KINDS[extraction.kind].is_excerpt else ROWS_PART
    room = replace(price, most_tokens=min(price.most_tokens, context.content_tokens // part))
    chosen = choose(extraction, context, room.without(tokens.count(extraction.summary)))
    lines = tuple(map(as_content, (extraction.summary, *chosen)))
    return Index(
        extraction.kind, extraction.summary, extraction.key_data, lines, extraction.selectors
    )


def choose(extraction: Extraction, context: ExtractionContext, price: Price) -> list[str]:
    """Return the lines that pay in content order, with counts of the lines left out.

    The best lines for their size are taken first. A line with a number shows it where it does not
    follow the line before.
    """
    lines = extraction.lines[:MAX_LINES]
    chances = chances_of(extraction, context)
    sizes = [size_of(line.text) for line in lines]
    worth = [chance / size for chance, size in zip(chances, sizes, strict=True)]
    order = sorted(range(len(lines)), key=worth.__getitem__, reverse=True)
    chosen = _Chosen(lines, price.most_tokens)
    for at, line in enumerate(lines):
        if line.keep:
            chosen.add(at)
    for at in order:
        pays = chances[at] * price.recall > sizes[at] * price.carry
        if pays or price.most_tokens - chosen.left < price.least_tokens:
            chosen.add(at)
    if order and not chosen.numbers:  # An entry shows more than counts.
        chosen.add(order[0])
    gaps: dict[int, list[str]] = {}
    missing = _gaps(lines, chosen.numbers).items()
    for (at, own), count in sorted(missing, key=lambda gap: -gap[1]):
        text = f"… {count} more {own or extraction.unit}"
        if not chosen.take([text]):  # the largest counts come first
            break
        gaps.setdefault(at, []).append(text)
    rendered, expected = gaps.pop(-1, []), None
    for at, line in enumerate(lines):
        if at in chosen.numbers:
            rendered.append(line.text if line.number == expected else line.numbered())
            expected = None if line.number is None else line.number + 1 + line.text.count("\n")
        rendered += gaps.get(at, ())  # after a group, how much of it was left out
    # What the agent has already taken from the content and no line shows.
    shown = "\n".join(rendered)
    unseen = sorted(value for value in context.cited if value not in shown)[:MAX_CITED]
    return [*rendered, f"used before: {', '.join(unseen)}"] if unseen else rendered


def size_of(line: str) -> int:
    """Return about how many tokens a line costs."""
    return LINE_TOKENS + len(line) // CHARACTERS_PER_TOKEN


class _Chosen:
    """The lines taken so far, with the lines that they need to be read, within a number of tokens."""

    def __init__(self, lines: Sequence[EntryLine], most_tokens: int) -> None:
        self._lines = lines
        self._texts: set[str] = set()
        self.numbers: set[int] = set()
        self.left = most_tokens

    def take(self, texts: Sequence[str]) -> bool:
        """Take lines where they fit together, and return whether they do."""
        # A text on one line has at least as many tokens as words: most that do not fit are not counted.
        least = len(texts)
        for text in texts:
            least += len(text.split()) * text.isprintable()
        if least > self.left:
            return False
        cost = len(texts) + sum(map(tokens.count, texts))
        if cost > self.left:
            return False
        self.left -= cost
        return True

    def add(self, number: int) -> None:
        """Take a line and its headings, where they fit together; a repeated text is not taken."""
        if self._lines[number].text in self._texts:
            return
        wanted: dict[int, str] = {}
        at: int | None = number
        while at is not None and at not in self.numbers and at not in wanted:
            line = self._lines[at]
            wanted[at] = line.numbered()
            at = line.parent
        if self.take([*wanted.values()]):
            self.numbers.update(wanted)
            self._texts.update([self._lines[at].text for at in wanted])


def _gaps(lines: Sequence[EntryLine], chosen: set[int]) -> dict[tuple[int, str], int]:
    """Return how much was left out after a line, by unit; after -1 where nothing was chosen.

    What has a unit of its own is counted where part of its list is shown.
    """
    left: Counter[tuple[int | None, str]] = Counter()
    last: dict[tuple[int | None, str], int] = {(None, ""): -1}
    for at, line in enumerate(lines):
        above = line.parent
        if at in chosen:  # the last line of each list that it is in
            inner: EntryLine | None = line
            while inner is not None:
                last[inner.parent, inner.unit] = last[inner.parent, ""] = at
                inner = None if inner.parent is None else lines[inner.parent]
        elif line.count:
            while above is not None and above not in chosen:
                above = lines[above].parent
            left[above, line.unit] += line.count
    gaps: Counter[tuple[int, str]] = Counter()
    for own, count in left.items():
        if own in last or not own[1]:
            at = last.get(own, -1 if own[0] is None else own[0])
            gaps[at, own[1]] += count
    return gaps


def chances_of(extraction: Extraction, context: ExtractionContext) -> list[float]:
    """Return the chances of the lines that a value in them is needed later."""
    lines = extraction.lines[:MAX_LINES]
    constant = CHANCE.bias + KINDS[extraction.kind].bias
    constant += CHANCE.size * math.log(max(context.content_tokens, 1))
    relevance = _relevance(lines, context.task)
    named = [identifiers(line.text) for line in lines]
    around = {
        at
        for line, found in zip(lines, named, strict=True)
        if line.number is not None and context.cited & found
        for at in range(line.number - AROUND_CITED, line.number + AROUND_CITED + 1)
    }
    known = context.known(set().union(*named))
    seen: set[str] = set()
    chances: list[float] = []
    for line, task, found in zip(lines, relevance, named, strict=True):
        unknown = found - known
        new = len(unknown - seen)
        seen |= unknown
        signals = constant + CHANCE.weight * math.log(max(line.weight, 0.01))
        signals += CHANCE.task * min(task, MAX_RELEVANCE) + CHANCE.new * math.log1p(new)
        signals += CHANCE.old if found and not unknown else 0.0
        if around:
            signals += CHANCE.around_cited if line.number in around else 0.0
            signals += CHANCE.cited if context.cited & found else 0.0
        chances.append(1 / (1 + math.exp(-signals)))
    return chances


def _relevance(lines: Sequence[EntryLine], words: str) -> list[float]:
    """Return the BM25 of the lines for some words (Robertson & Zaragoza 2009).

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
    # A set has another order in another process, where a plain sum would differ in its last bit.
    return [math.fsum(rarity[word] for word in shared) for shared in found]


# The price of a token of an entry and of a hidden value, after *Economics* in SPEC.md


SLICE_TOKENS = 400
"""What a recall is taken to return."""
MIN_CALLS_AHEAD = 8
"""The least number of calls that is assumed to follow; later as many as there were."""
MIN_VIEW_TOKENS = 6_000
"""A view that is still smaller will grow: a recall is priced as if it had."""
HIDING = 1.5
"""What a hidden value costs on top of its recall: a turn of waiting, and that a model may not think
of asking. Where price and visibility pull apart, visibility wins."""

BOUNDS = {"light": (300, 4_000), "normal": (150, 2_500), "aggressive": (350, 350)}
"""Least and most tokens of an entry's lines."""
FRAME_TOKENS = 45
"""What the first and the last line of an entry weigh, kept free of its bounds."""


@dataclass(frozen=True, slots=True)
class Price:
    """What an entry's tokens cost, in base input tokens, and its bounds."""

    carry: float
    """Writing a token once and reading it in every call still to come."""
    recall: float
    """A hidden value: the view read once more and a slice written, times `HIDING`."""
    least_tokens: int
    """Lines are taken up to here whatever their chance."""
    most_tokens: int

    def without(self, used_tokens: int) -> Price:
        """Return the price of an entry that has used some of its tokens."""
        most = max(0, self.most_tokens - used_tokens)
        return replace(self, least_tokens=min(self.least_tokens, most), most_tokens=most)


def price_of(
    kind: str, compression: Compression, prices: Prices, view_tokens: int, turn: int
) -> Price:
    """Return the price of an entry of a kind that is made at a turn.

    `carry = write + read x calls to come`; `recall = read x view + write x slice`.
    """
    ahead = max(MIN_CALLS_AHEAD, turn)
    missing = prices.recall_cost(max(view_tokens, MIN_VIEW_TOKENS), SLICE_TOKENS)
    if isinstance(compression, int):
        least, most = 0, compression
    else:
        least, most = BOUNDS[compression]
    if compression == "aggressive":
        most = KINDS.get(kind, KINDS["text"]).aggressive_tokens or most
    most = max(1, most - FRAME_TOKENS)
    return Price(
        carry=prices.write + prices.read * ahead,
        recall=HIDING * missing,
        least_tokens=min(least, most),
        most_tokens=most,
    )
