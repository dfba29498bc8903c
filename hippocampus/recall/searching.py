"""The best lines of everything that was put away, within a bound, each with where it stands.

The index finds passages; here their lines compete, so that few tokens hold what is asked for.
Lines whose every name stands in the view already are no answer.
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

from hippocampus import tokens
from hippocampus.errors import RecallError
from hippocampus.recall.fitting import GAP, NOTE_TOKENS, Shown, fit
from hippocampus.recall.paging import pages
from hippocampus.recall.passages import Hit, Passages
from hippocampus.recall.ranking import Embed, reordered
from hippocampus.recall.words import WORD, terms

Text = Callable[[str], str]
"""Returns an entry's text."""
Pages = Callable[[str], list[str]]
"""Returns an entry's lines."""
MOST_HITS = 50
PIECE_CHARACTERS = 240
"""A longer line competes in pieces of this size."""
LINE_CHARACTERS = 120
"""A line of this length counts half of what its words score: a short one takes less room."""
BESIDE = 0.5
"""What a line counts of the score of each of its neighbours."""
RANK_SHARE = 0.5
"""How much of a line's score goes with its passage's."""
UNNAMED, REPEATED = 0.4, 0.05
"""What a line is worth that names nothing, and one that names only what is known."""
NAME = re.compile(r"\w(?:[\w./:@#-]*\w)?")
TELLING = re.compile(r"[\d_/]|[a-z][A-Z]|\w\.\w")
NUMBERED = re.compile(r"^\s*\d+(?:→|\t|: )")
LINE_TOKENS = 2
"""What a line weighs beside its text, at the least."""


class Line(NamedTuple):
    """A line that competes, or a piece of a long one."""

    hit: int
    """The number of the passage that it stands in."""
    number: int
    text: str
    piece: int = 0
    worth: float = 1.0


def search(  # noqa: PLR0913, PLR0917 - what a search is made of
    contents: Passages,
    query: str,
    max_tokens: int,
    entry_ids: Sequence[str],
    text: Text,
    known: AbstractSet[str] = frozenset(),
    embed: Embed | None = None,
) -> str:
    """Return the best lines of all these entries for a query, within `max_tokens`.

    `known` are the names that stand in the view (see `names_in`): a line that names no other one, nor one that
    the query lacks, is no answer.

    Raises:
        RecallError: no word of the query stands in anything that was put away.
        StoreError: the index cannot be read or written.

    """
    hits = contents.search(query, entry_ids, MOST_HITS)
    of = functools.cache(lambda entry_id: pages(text(entry_id)))
    if embed is not None and hits:
        hits = _reordered(hits, query, of, embed)
    lines = _distinct(hits, of, known | names_in(query))
    if not lines:
        told = "no word of the query stands in what was put away and is not shown; try other words"
        raise RecallError("no_match", told)
    scored = _scores(lines, hits, set(terms(query)))
    chosen = _chosen(lines, scored, max_tokens - NOTE_TOKENS)
    return fit(_told(chosen, hits), max_tokens, _note)


def _note(_shown: int, _left: int, _number: int) -> str:
    return "(weaker lines are left out; ask with other words, or by entry_id)"


def _reordered(hits: Sequence[Hit], query: str, of: Pages, embed: Embed) -> list[Hit]:
    texts = ["\n".join(_lines(hit, of)) for hit in hits]
    order = reordered(query, texts, [hit.score for hit in hits], embed)
    top = max(hit.score for hit in hits)
    return [hits[at]._replace(score=top / (1 + rank)) for rank, at in enumerate(order)]


def _lines(hit: Hit, of: Pages) -> list[str]:
    return of(hit.entry_id)[hit.span.first - 1 : hit.span.last]


def _distinct(hits: Sequence[Hit], of: Pages, known: AbstractSet[str]) -> list[Line]:
    """Return the lines of the passages that say more than is known, each text once."""
    seen: set[str] = set()
    lines: list[Line] = []
    for at, hit in enumerate(hits):
        for number, line in enumerate(_lines(hit, of), start=hit.span.first):
            for piece, part in enumerate(_pieces(line)):
                said = " ".join(WORD.findall(NUMBERED.sub("", part)))
                if said and said not in seen:
                    seen.add(said)
                    lines.append(Line(at, number, part, piece, _worth(part, known)))
    return lines


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, or the pieces of a long one, cut at spaces."""
    while len(line) > PIECE_CHARACTERS:
        end = line.rfind(" ", PIECE_CHARACTERS // 2, PIECE_CHARACTERS)
        end = PIECE_CHARACTERS if end < 0 else end
        yield line[:end]
        line = line[end:]
    yield line


def names_in(text: str) -> set[str]:
    """Return what a text names: the words of it, and what is written together, such as `a.b_c`."""
    return set(NAME.findall(text))


def _worth(line: str, known: AbstractSet[str]) -> float:
    """Return what a line is worth before a query: little where all that it names is known."""
    fresh = names_in(line) - known
    if any(TELLING.search(name) for name in fresh):
        return 1.0
    return UNNAMED if fresh else REPEATED


def _scores(lines: Sequence[Line], hits: Sequence[Hit], wanted: set[str]) -> list[float]:
    """Return what each line scores: its rare words of the query, its neighbours, its passage."""
    found = [wanted.intersection(terms(line.text)) for line in lines]
    holding = Counter(term for each in found for term in each)
    own = [sum(math.log(1 + len(lines) / holding[term]) for term in sorted(each)) for each in found]
    top = max(hit.score for hit in hits) or 1.0
    return [
        line.worth
        * LINE_CHARACTERS
        / (LINE_CHARACTERS + len(line.text))
        * (own[at] + BESIDE * (_beside(lines, own, at, -1) + _beside(lines, own, at, 1)))
        * (1 - RANK_SHARE + RANK_SHARE * hits[line.hit].score / top)
        for at, line in enumerate(lines)
    ]


def _beside(lines: Sequence[Line], own: Sequence[float], at: int, step: int) -> float:
    other = at + step
    near = 0 <= other < len(lines) and lines[other].hit == lines[at].hit
    return own[other] if near else 0.0


def _chosen(lines: Sequence[Line], scored: Sequence[float], room: int) -> list[Line]:
    """Return the best lines that fit."""
    chosen: list[Line] = []
    for at in sorted(range(len(lines)), key=lambda at: (-scored[at], at)):
        cost = tokens.count(str(Shown(lines[at].number, lines[at].text))) + LINE_TOKENS
        if cost > room and chosen:
            break
        room -= cost
        chosen.append(lines[at])
    return chosen


def _told(chosen: Sequence[Line], hits: Sequence[Hit]) -> Iterator[Shown]:
    """Yield the lines under their entries' ids, the best passage's entry first."""
    best: dict[str, int] = {}
    for line in chosen:
        entry_id = hits[line.hit].entry_id
        best[entry_id] = min(best.get(entry_id, line.hit), line.hit)
    ordered = sorted(
        chosen, key=lambda line: (best[hits[line.hit].entry_id], line.number, line.piece)
    )
    for entry_id, group in itertools.groupby(ordered, key=lambda line: hits[line.hit].entry_id):
        yield Shown(0, f"{entry_id}:")
        before = 0
        for line in group:
            if before and line.number > before + 1:
                yield Shown(0, GAP)
            before = line.number
            yield Shown(line.number, f"…{line.text}" if line.piece else line.text)
