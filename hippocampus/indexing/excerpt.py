"""A text as an excerpt: its own lines, whole and in order, with their numbers.

What every kind without a form of its own is read into; the reader of a kind adds what its lines are
worth. Nothing is rewritten, so that no line can mislead. Pure, linear.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from hippocampus.indexing.extraction import EntryLine
from hippocampus.indexing.shapes import identifiers

DIGITS = bytes.maketrans(b"123456789", b"000000000")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LineWeights:
    """What a line of a text is worth: chosen by reading, checked with one owner left out."""

    plain: float = 0.5
    first: float = 1.5
    """One of the first `head` lines, which identify a text."""
    last: float = 1.2
    """One of the last `tail` lines, where a run ends."""
    result: float = 0.7
    """Added for a total, a result, a label with a value."""
    failure: float = 2.0
    """Added for what failed: it is what a run is read for."""
    named: float = 1.5
    """Added for the logarithm of 1 and the identifiers that no line before has."""
    alike: float = 0.35
    """To the power of how often a line of the same form came before, at most `most_alike` times."""
    most_alike: int = 3
    bare: float = 0.02
    """Of a line without a letter or a digit."""
    head: int = 6
    tail: int = 4


WEIGHTS = LineWeights()
LINE_CHARACTERS = 400
"""A longer line is divided into sentences or pieces, and those are clipped to this."""
MAX_VALUE = 2_000
MIN_SENTENCE, MAX_PIECES = 30, 400
MAX_ROWS, TAIL_ROWS = 2_000, 400
"""Of more lines the first and the last are read, and the others counted only."""
WORDLESS = re.compile(r"[\W_]*")
RESULT = re.compile(
    r"=>|->\s|\b(?:total|result|summary|passed|passing|error|warning|exception|denied|not found|"
    r"exit|status|version|final|score|accuracy|loss|found|created|deleted|updated)\b|"
    r"^[\"']?[\w ./()@-]{1,48}[\"']?\s*[:=]\s+?\S",
    re.IGNORECASE,
)
FAILURE = re.compile(
    r"\b[A-Z]\w*(?:Error|Exception)\b|\b(?:[Ff]ail(?:ed|ing|ure)?|FAIL(?:ED)?)\b|[✗✘❌]"
)
FAILURE_SIGNS = ("rror", "xception", "ail", "FAIL", "✗", "✘", "❌")
"""Every failure has one of them: searching for these takes a tenth of the time."""
NOTICE = re.compile(
    r"(?i)\btruncated\b|\bshowing (?:lines? |results? )?\d|\boffset\s?[=:]|\bmore lines?\b|"
    r"\blines? (?:above|below|omitted|left)\b|\bomitted\b|\bend of file\b|\blines total\b|\btoo large\b|"
    r"\bpartial\b.{0,40}\bview\b|\boutput (?:limit|saved|was)\b"
)
NOTICE_CHARACTERS = 300
ENDS, END_CHARACTERS = 2, 120
"""A result in the last two lines, of up to 120 characters, shows how a run ended: it stays."""
HEADER = re.compile(r"\s*\S(?:[^\d\n]*\S)? {2,}\S[^\d\n]*")
"""A first line without a figure and with gaps names the columns of those below: it stays."""
END = re.compile(r"(?<=[.!?。！？;])\s+|(?<=[。！？])")


@dataclass(frozen=True, slots=True)
class TextRow:
    """One line of a text."""

    number: int
    """As the content numbers it, else its place in the content, from 1."""
    text: str


def rows_of(text: str) -> list[TextRow]:
    """Return the lines of a text with their numbers; empty lines are left out."""
    lines = text.split("\n")
    filled = ends_of([at for at, line in enumerate(lines) if line.strip()])
    return [TextRow(at + 1, lines[at]) for at in filled]


def ends_of(rows: list[T]) -> list[T]:
    """Return the first and the last rows, where there are more than an entry can need."""
    return rows if len(rows) <= MAX_ROWS else rows[: MAX_ROWS - TAIL_ROWS] + rows[-TAIL_ROWS:]


def is_notice(line: str) -> bool:
    """Return whether a line is a tool's own note that a part is missing."""
    return len(line) < NOTICE_CHARACTERS and NOTICE.search(line) is not None


def says_failure(text: str) -> bool:
    """Return whether a text names a failure."""
    return any(map(text.__contains__, FAILURE_SIGNS)) and FAILURE.search(text) is not None


def excerpt(
    rows: Sequence[TextRow], weigh: Callable[[TextRow], float] | None = None
) -> Iterator[EntryLine]:
    """Yield every line with its weight; `weigh` returns the weight where the kind knows better."""
    seen: set[str] = set()
    forms: dict[str, int] = {}
    # With each digit as 0: lines that differ in their digits have one form.
    raw = "\n".join(row.text for row in rows).encode("utf-8", "surrogatepass").translate(DIGITS)
    masks = raw.decode("utf-8", "surrogatepass").split("\n") if rows else []
    last = len(rows) - WEIGHTS.tail
    for at, (row, mask) in enumerate(zip(rows, masks, strict=True)):
        edge = at < WEIGHTS.head or at >= last
        if weigh:
            base = weigh(row)
        elif WORDLESS.fullmatch(row.text):
            base = WEIGHTS.bare
        else:
            base = WEIGHTS.first if at < WEIGHTS.head else WEIGHTS.last if edge else WEIGHTS.plain
            if says_failure(row.text[:LINE_CHARACTERS]):
                base += WEIGHTS.failure
            elif _is_result(row.text):
                base += WEIGHTS.result
        before = forms[mask] = forms.get(mask, -1) + 1
        alike = WEIGHTS.alike ** min(before, WEIGHTS.most_alike)
        for text in _pieces(row.text.rstrip()):
            names = identifiers(text)
            fresh = len(names - seen)
            seen |= names
            weight = base + (WEIGHTS.named * math.log1p(fresh) if base > WEIGHTS.bare else 0.0)
            weight *= alike
            ends = at >= len(rows) - ENDS and len(text) < END_CHARACTERS and _is_result(text)
            header = not at and HEADER.fullmatch(text) is not None
            keep = ends or header or (edge and is_notice(text))
            yield EntryLine(text, weight, keep, count=0, number=row.number)


def _is_result(text: str) -> bool:
    # Without the blanks before it: the pattern for a label would try every division of them.
    return RESULT.search(text[:LINE_CHARACTERS].lstrip()) is not None


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, or the sentences of a long one; one value without spaces stays whole."""
    if len(line) <= LINE_CHARACTERS or (len(line) <= MAX_VALUE and " " not in line.strip()):
        yield line
        return
    sentences = [""]
    for sentence in END.split(line):
        if len(sentences[-1]) >= MIN_SENTENCE:
            sentences.append("")
        # Short ones stay together: an initial or an abbreviation ends none.
        sentences[-1] = f"{sentences[-1]} {sentence}".strip()
    pieces: list[str] = []
    for sentence in sentences:
        start = 0
        while len(sentence) - start > LINE_CHARACTERS and len(pieces) < MAX_PIECES:
            # Cut where a word or a value ends.
            last = max(sentence.rfind(sign, start, start + LINE_CHARACTERS) for sign in " ,;}")
            end = last + 1 if last > start else start + LINE_CHARACTERS
            pieces.append(sentence[start:end].strip())
            start = end
        pieces += filter(None, [sentence[start:].strip()])
    yield from pieces[:MAX_PIECES]
