"""Searches all stored content: the best lines within a token budget, each with its line number.

The index finds passages; here their lines compete, so that few tokens contain the answer. Lines that
name nothing but what the view already has rank low.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hippocampus.errors import RecallError
from hippocampus.models import tokens
from hippocampus.recall.lines import NOTE_TOKENS, NumberedLine, fit, pages
from hippocampus.recall.slices import WORD, passages, spread, terms
from hippocampus.storage.search_index import Content, Passage, PassageHit, Passages

MAX_HITS = 50
PIECE = re.compile(r".{1,240}(?!\S)|.{1,240}")
"""A longer line competes in pieces of this size, cut at spaces."""
LINE_CHARACTERS = 120
"""A line of this length counts half of its words' score: short lines take fewer tokens."""
UNNAMED, REPEATED = 0.4, 0.05
"""The worth of a line without names, and of one whose names are all known."""
NAME = re.compile(r"\w(?:[\w./:@#-]*\w)?")
DISTINCTIVE = re.compile(r"[\d_/]|[a-z][A-Z]|\w\.\w")
NUMBERED = re.compile(r"^\s*\d+(?:→|\t|: )")
ABOUT_CHARACTERS = 400
LINE_TOKENS = 2
"""The least tokens of a line in addition to its text."""


class CandidateLine(NamedTuple):
    """A line that competes, or a piece of a long one."""

    hit: int
    """The index of its passage."""
    number: int
    text: str
    start: int = 0
    """Where it starts in its line."""
    worth: float = 1.0


def content(text: str, about: str) -> Content:
    """Return what the index has of an entry: its passages, and the start of its description."""
    lines = pages(text)
    spans = passages(lines)
    words = (spread("\n".join(lines[first - 1 : last])) for first, last in spans)
    found = [Passage(*span, each) for span, each in zip(spans, words, strict=True)]
    return Content(found, spread(about[:ABOUT_CHARACTERS]))


def search(  # noqa: PLR0913, PLR0917 - a search depends on all of these
    contents: Passages,
    query: str,
    max_tokens: int,
    entry_ids: Sequence[str],
    text: Callable[[str], str],
    known: AbstractSet[str] = frozenset(),
) -> str:
    """Return the best lines of all these entries for a query, within `max_tokens`.

    `text` returns that of an entry. `known` are the names in the view (see `names_in`): lines that
    name nothing beyond these and the query rank low.

    Raises:
        RecallError: no stored content contains a word of the query.
        StoreError: the index cannot be read or written.

    """
    hits = contents.search(terms(query), entry_ids, MAX_HITS)
    of = functools.cache(lambda entry_id: pages(text(entry_id)))
    lines = _distinct(hits, of, known | names_in(query))
    if not lines:
        problem = "no word of the query is in the stored content; try other words"
        raise RecallError("no_match", problem)
    # The score of a line: by its rare query words, its worth and its length.
    wanted = set(terms(query))
    found = [wanted.intersection(terms(line.text)) for line in lines]
    holding = Counter(term for each in found for term in each)
    scored = []
    for line, each in zip(lines, found, strict=True):
        rarity = sum(math.log(1 + len(lines) / holding[term]) for term in sorted(each))
        scored.append(line.worth * rarity * LINE_CHARACTERS / (LINE_CHARACTERS + len(line.text)))
    chosen: list[CandidateLine] = []
    budget_tokens = max_tokens - NOTE_TOKENS
    for at in sorted(range(len(lines)), key=lambda at: (-scored[at], at)):
        cost = tokens.count(str(NumberedLine(lines[at].number, lines[at].text))) + LINE_TOKENS
        if cost > budget_tokens and chosen:
            break
        budget_tokens -= cost
        chosen.append(lines[at])
    return fit(
        _rendered(chosen, hits),
        max_tokens,
        lambda *_: "(weaker lines are left out; ask with other words, or by entry_id)",
    )


def _distinct(
    hits: Sequence[PassageHit], of: Callable[[str], list[str]], known: AbstractSet[str]
) -> list[CandidateLine]:
    """Return the lines of the passages, each text once, with their worth for any query.

    A line is worth little where all of its names are known.
    """
    seen: set[str] = set()
    lines: list[CandidateLine] = []
    for at, hit in enumerate(hits):
        found = of(hit.entry_id)[hit.first - 1 : hit.last]
        for number, line in enumerate(found, start=hit.first):
            for piece in PIECE.finditer(line):
                words = " ".join(WORD.findall(NUMBERED.sub("", piece[0])))
                if words and words not in seen:
                    seen.add(words)
                    fresh = names_in(piece[0]) - known
                    is_distinctive = any(map(DISTINCTIVE.search, fresh))
                    worth = 1.0 if is_distinctive else UNNAMED if fresh else REPEATED
                    lines.append(CandidateLine(at, number, piece[0], piece.start(), worth))
    return lines


def names_in(text: str) -> set[str]:
    """Return the names in a text: its words, and compounds such as `a.b_c`."""
    return set(NAME.findall(text))


def _rendered(
    chosen: Sequence[CandidateLine], hits: Sequence[PassageHit]
) -> Iterator[NumberedLine]:
    """Yield the lines grouped under their entries' ids, the entry of the best passage first."""
    best: dict[str, int] = {}
    for line in chosen:
        entry_id = hits[line.hit].entry_id
        best[entry_id] = min(best.get(entry_id, line.hit), line.hit)
    ordered = sorted(
        chosen, key=lambda line: (best[hits[line.hit].entry_id], line.number, line.start)
    )
    for entry_id, group in itertools.groupby(ordered, key=lambda line: hits[line.hit].entry_id):
        yield NumberedLine(0, f"{entry_id}:")
        for line in group:
            yield NumberedLine(line.number, f"…{line.text}" if line.start else line.text)
