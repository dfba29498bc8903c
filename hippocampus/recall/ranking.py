"""Splits text into words and content into passages, and ranks these for a query by BM25. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from hippocampus.errors import RecallError
from hippocampus.recall.fitting import GAP, NumberedLine, fit

CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
WORD = re.compile(r"[^\W_]+")
ESCAPED = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}")
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does done "  # noqa: SIM905 - reads better so
    "for from get had has have here how i if in into is it its just let like ll may me more most "
    "my need next no not now of on one only or other our out over perfect please s same see should "
    "so some such t than that the their them then there these they this those to too true false "
    "null none up us use used using very want was we were what when where which while who why will "
    "with would you your".split()
)
K1, B = 1.2, 0.75
"""BM25's usual constants (Robertson and Zaragoza 2009, section 3.2)."""
MIN_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS = 240, 700
"""From the first size on a passage ends where a block starts; at the second it ends anywhere."""
# A block starts with a record, a paragraph or a lower indentation.
OPENINGS = ("{", "- ", "* ", "#", "<h", "<tr", "<li", "def ", "class ", "function ", "export ")


def spread(text: str) -> str:
    """Return a text with its names split: `getUserName` into three words, each Han character alone."""
    if "\\" in text:
        text = ESCAPED.sub(" ", text)
    if not text.isascii():
        text = CJK.sub(r" \1 ", text)
    return CAMEL.sub(" ", text)


def terms(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without stop words."""
    return [word for word in WORD.findall(spread(text).lower()) if word not in STOP_WORDS]


class LineSpan(NamedTuple):
    """A range of lines, counted from 1, both ends included."""

    first: int
    last: int


def passages(lines: Sequence[str]) -> list[LineSpan]:
    """Return the passages of a text: records, paragraphs, blocks, of bounded size."""
    spans: list[LineSpan] = []
    first, size, indent = 1, 0, 0
    for number, line in enumerate(lines, start=1):
        bare = line.lstrip()
        own_indent = len(line) - len(bare)
        opens = not bare or bare.startswith(OPENINGS) or own_indent < indent
        if size >= MAX_PASSAGE_CHARACTERS or (size >= MIN_PASSAGE_CHARACTERS and opens):
            spans.append(LineSpan(first, number - 1))
            first, size = number, 0
        if not size:
            indent = own_indent
        size += len(line) + 1
    if size:
        spans.append(LineSpan(first, len(lines)))
    return spans


def best_of(lines: Sequence[str], query: str, max_tokens: int) -> str:
    """Return the passages that match a query best, the best first, within `max_tokens`.

    Raises:
        RecallError: no passage contains a word of the query, or nothing fits.

    """
    spans = passages(lines)
    texts = ["\n".join(lines[span.first - 1 : span.last]) for span in spans]
    scored = scores(terms(query), texts)
    found = [at for at, score in enumerate(scored) if score > 0]
    ranked = sorted(found, key=lambda at: (-scored[at], at))
    if not ranked:
        text = "no word of the query is in this content; try other words or a pattern"
        raise RecallError("no_match", text)
    shown: list[NumberedLine] = []
    for first, last in (spans[at] for at in ranked):
        shown += [NumberedLine(0, GAP)] if shown else []
        numbered = enumerate(lines[first - 1 : last], start=first)
        shown += [NumberedLine(number, line) for number, line in numbered if line.strip()]
    return fit(
        shown,
        max_tokens,
        lambda *_: "(weaker passages are left out; ask with fewer words or by lines)",
    )


def scores(wanted: Sequence[str], texts: Sequence[str]) -> list[float]:
    """Return the BM25 score of each text for some words; 0 where it has none of them."""
    counted = [Counter(terms(text)) for text in texts]
    sizes = [counts.total() for counts in counted]
    mean = sum(sizes) / max(1, len(sizes)) or 1.0
    holding = {term: sum(term in each for each in counted) for term in wanted}
    worth = {
        term: math.log(1 + (len(texts) - held + 0.5) / (held + 0.5))
        for term, held in holding.items()
    }
    return [
        sum(
            worth[term] * counts[term] * (K1 + 1)
            / (counts[term] + K1 * (1 - B + B * size / mean))
            for term in worth
            if term in counts
        )
        for counts, size in zip(counted, sizes, strict=True)
    ]  # fmt: skip
