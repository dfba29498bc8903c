"""Ranking: how much of a query a turn and its neighbours cover, and how near they are to it. Pure.

Both parts are absolute, so that neither words nor meaning drowns the other, and so that what is
relevant to nothing scores nothing. The numbers were chosen on conversations, each time leaving one out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hippocampus.facts.words import words

NEAR: Mapping[int, float] = {-1: 0.7, -2: 0.5, 1: 0.4, 2: 0.2}
"""How much a word counts that a turn at this distance holds: those before it lead to it."""
ANSWER = 0.9
"""The same for the turn before, where that one asks."""
SEVERAL = 0.1
"""What each further turn that holds a word adds."""
NEAR_COSINES: Mapping[int, float] = {-2: 0.2, -1: 0.3, 1: 0.3, 2: 0.2}
NOISE_COSINE = 0.1
"""Under this a cosine says nothing of the turns next to it."""
LEAST_COSINE = 0.25
"""Under this, a memory without a word of the query has nothing to do with it."""
OTHERS = 0.8
"""What a turn keeps of its score where the query names who speaks, and another one does."""
ASKING = 0.85
"""What a turn keeps that ends with a question, which says little."""
FADED = 0.005
"""What strength and recency add, each: they decide between equals."""


class Candidate(NamedTuple):
    """What ranking knows of a row."""

    row: int
    type: str
    intensity: float
    accesses: int
    accessed: float
    created: float
    session: str
    turn: int | None
    asks: int
    """Whether its text holds a question."""
    ends_asking: int
    speaker: str = ""
    """What its text opens with before a colon, which may be who speaks."""


def places(rows: Iterable[Candidate]) -> set[tuple[str, int]]:
    """Return where the turns next to some rows stand."""
    return {
        (one.session, one.turn + step)
        for one in rows
        if one.session and one.turn is not None
        for step in NEAR
        if one.turn + step >= 0
    }


class Placed:
    """Some rows, and which of them stand next to which in their sessions."""

    def __init__(self, rows: Iterable[Candidate]) -> None:
        self.rows = list(rows)
        self._at: dict[tuple[str, int], list[int]] = defaultdict(list)
        for one in self.rows:
            if one.session and one.turn is not None:
                self._at[one.session, one.turn].append(one.row)

    def before(self, one: Candidate, step: int) -> Sequence[int]:
        """Return the rows from which a row is that many turns away."""
        return (
            self._at.get((one.session, one.turn - step), ())
            if one.session and one.turn is not None
            else ()
        )


def window(
    placed: Placed, held: Mapping[int, Collection[int]], weights: Sequence[float]
) -> dict[int, float]:
    """Return the share of a query's words that each turn and its neighbours hold, rare words counting for more."""
    total = sum(weights) or 1.0
    best: dict[int, dict[int, float]] = defaultdict(dict)
    sums: dict[int, float] = defaultdict(float)
    for one in placed.rows:
        numbers = held.get(one.row)
        if not numbers:
            continue
        weight = sum(weights[number] for number in numbers)
        reached = [(one.row, 1.0)]
        for step, share in NEAR.items():
            counts = ANSWER if step == -1 and one.asks else share
            reached += [(row, counts) for row in placed.before(one, step)]
        for row, share in reached:
            sums[row] += weight * share
            shares = best[row]
            for number in numbers:
                if shares.get(number, 0.0) < share:
                    shares[number] = share
    return {
        row: (sum(weights[number] * share for number, share in found.items()) + SEVERAL * sums[row])
        / total
        for row, found in best.items()
    }


def near_cosines(placed: Placed, cosines: Mapping[int, float]) -> dict[int, float]:
    """Return each row's cosine with shares of those of the turns next to it."""
    found: dict[int, float] = defaultdict(float)
    for one in placed.rows:
        value = cosines.get(one.row, 0.0)
        if value >= NOISE_COSINE:
            found[one.row] += value
            for step, share in NEAR_COSINES.items():
                for row in placed.before(one, step):
                    found[row] += share * value
    return found


def ranked(  # noqa: PLR0913 - each is one part of a score
    keyword: float, cosine: float, one: Candidate, *, other: bool, strength: float, recency: float
) -> float:
    """Return one score of all parts."""
    value = keyword + cosine
    value *= (OTHERS if other else 1.0) * (ASKING if one.ends_asking else 1.0)
    return value + FADED * (strength + recency)


def speakers(candidates: Iterable[Candidate]) -> set[str]:
    """Return who speaks in the candidates: the names that a turn opens with, and another one too.

    A word before a colon that stands but once is a heading rather than a speaker.
    """
    often = Counter(one.speaker for one in candidates if one.turn is not None)
    return {name for name, count in often.items() if name and count > 1}


def named(speaking: Iterable[str], asked: Iterable[str]) -> set[str]:
    """Return those of the words asked for that name a speaker."""
    return set(words(" ".join(speaking))).intersection(asked)


def by_others(candidates: Collection[Candidate], asked: Iterable[str]) -> set[int]:
    """Return the rows whose speaker the words asked for do not name, where they name another."""
    speaking = speakers(candidates)
    meant = named(speaking, asked)
    if not meant:
        return set()
    others = {name for name in speaking if meant.isdisjoint(words(name))}
    return {one.row for one in candidates if one.speaker in others}
