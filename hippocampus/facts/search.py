"""Ranking: the channels' raw scores to one calibrated score with parts. Pure.

Each channel is brought to 0..1 by what its best hit could score, then weighted; ranks are never fused.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hippocampus.facts.models import FactPolicy, Score, Weights
from hippocampus.facts.strength import DAY_SECONDS, fading, recency
from hippocampus.facts.words import words

NEAR_SHARES: Mapping[int, float] = {-2: 0.3, -1: 0.5, 1: 0.5, 2: 0.3}
"""What a turn gets of the score of the turn at that distance from it."""
ANSWER_SHARE = 0.75
"""What a turn gets of the turn before it, where that one asks."""
NOISE_COSINE_RANK = 0.5
CROWDING = 0.5
"""What a cosine loses of the mean cosine of its row to the rows nearest to it (local scaling)."""
LEAST_STEM = 4
NO_SCORE = Score(0.0)


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
    speaker: str = ""
    """What its text opens with before a colon, which may be who speaks."""


@dataclass(slots=True)
class Channels:
    """The scores by row."""

    keyword: dict[int, float] = field(default_factory=dict)
    """BM25, higher is better; its share of the best once calibrated."""
    neighbour: dict[int, float] = field(default_factory=dict)
    """The similarities of the turns beside it, at their shares."""
    vector: dict[int, float] = field(default_factory=dict)
    """Cosines; calibrated as keywords are."""
    triple: dict[int, float] = field(default_factory=dict)
    """Share of the named entities and words that a triple has."""
    minhash: dict[int, float] = field(default_factory=dict)
    by_others: AbstractSet[int] = frozenset()
    """The rows whose speaker the query does not name, where it names another."""

    def parts(self, row: int) -> tuple[float, float, float, float, float]:
        """Return the scores of a row: keyword, neighbour, vector, triple, minhash."""
        return (
            self.keyword.get(row, 0.0),
            self.neighbour.get(row, 0.0),
            self.vector.get(row, 0.0),
            self.triple.get(row, 0.0),
            self.minhash.get(row, 0.0),
        )

    def rows(self) -> set[int]:
        """Return every row that any channel knows."""
        return {*self.keyword, *self.neighbour, *self.vector, *self.triple}


def ranked(  # noqa: PLR0913, PLR0917 - each is one thing to say
    candidates: Iterable[Candidate],
    channels: Channels,
    weights: Weights,
    policy: FactPolicy,
    now: float,
    most: int | None = None,
) -> list[tuple[int, Score]]:
    """Return rows with their scores, best first; those weaker than `hide_below` are left out.

    `most` bounds how many; none is all. What similarity alone cannot lift among them is not scored.
    """
    found = sorted(
        ((similar(channels, weights, one.row), one) for one in candidates),
        key=lambda pair: pair[0],
        reverse=True,
    )
    strength = fading(policy, now)
    bonus = (weights.strength + weights.importance) * max(
        (one.intensity for _, one in found), default=0.0
    ) + weights.recency
    scored: list[tuple[float, int, Parts]] = []
    floor = -math.inf
    for likeness, one in found:
        if likeness + bonus < floor:
            break
        left = strength(one.type, one.intensity, one.accesses, one.accessed)
        if left < policy.hide_below:
            continue
        recent = recency(weights, (now - one.created) / DAY_SECONDS)
        faded = weights.strength * left + weights.recency * recent
        value = likeness + faded + weights.importance * one.intensity
        scored.append((value, one.row, (left, recent, one.intensity)))
        if most is not None and len(scored) == most > 0:
            floor = min(each[0] for each in scored)
    scored.sort(reverse=True)
    return [
        (row, Score(value, *channels.parts(row), *parts)) for value, row, parts in scored[:most]
    ]


Parts = tuple[float, float, float]
"""strength, recency, importance."""


def similar(channels: Channels, weights: Weights, row: int) -> float:
    """Return the weighted sum of what the channels say of a row, or its share where others speak."""
    keyword, neighbour, vector, triple, alike = channels.parts(row)
    share = weights.by_others if row in channels.by_others else 1.0
    return share * (
        weights.keyword * keyword
        + weights.neighbour * neighbour
        + weights.vector * vector
        + weights.triple * triple
        + weights.minhash * alike
    )


def shared(weights: Weights, channels: Channels) -> Weights:
    """Return weights under which words and meaning together weigh what the heavier one does.

    Without vectors, and where a preset knows one similarity alone, they stay as they are.
    """
    both = weights.keyword + weights.vector
    if not channels.vector or weights.one_similarity or not both:
        return weights
    scale = max(weights.keyword, weights.vector) / both
    return replace(weights, keyword=scale * weights.keyword, vector=scale * weights.vector)


def calibrate(channels: Channels, weights: Weights, crowding: Mapping[int, float]) -> None:
    """Bring keyword and vector scores to 0..1, in place; once, before neighbours share them."""
    channels.keyword = calibrated_keywords(channels.keyword)
    if weights.one_similarity:
        channels.vector = {row: max(0.0, value) for row, value in channels.vector.items()}
        words = channels.keyword
        channels.keyword = {row: words[row] for row in words.keys() - channels.vector.keys()}
    else:
        channels.vector = calibrated_cosines(channels.vector, crowding)


def similarities(channels: Channels, weights: Weights) -> dict[int, float]:
    """Return how similar each row itself is to the query, by words and meaning."""
    return {
        row: weights.keyword * channels.keyword.get(row, 0.0)
        + weights.vector * channels.vector.get(row, 0.0)
        for row in {*channels.keyword, *channels.vector}
    }


def calibrated_keywords(scores: Mapping[int, float]) -> dict[int, float]:
    """Return BM25 scores as shares of the best."""
    best = max(scores.values(), default=0.0)
    if best <= 0:
        return dict.fromkeys(scores, 0.0)
    return {row: max(0.0, value) / best for row, value in scores.items()}


def calibrated_cosines(
    cosines: Mapping[int, float], crowding: Mapping[int, float]
) -> dict[int, float]:
    """Return cosines as shares of the way from the middle of those found to the best one.

    `crowding` says how close a row's own neighbours are to it: what is close to everything, such
    as small talk, is close to the query for no reason, and loses a half of that.
    """
    if not cosines:
        return {}
    apart = {row: value - CROWDING * crowding.get(row, 0.0) for row, value in cosines.items()}
    best = max(apart.values())
    ordered = sorted(apart.values())
    middle = ordered[int(len(ordered) * NOISE_COSINE_RANK)] if len(ordered) > 20 else 0.0
    span = max(best - middle, 1e-6)
    share = max(0.0, min(1.0, max(cosines.values())))
    return {
        row: min(1.0, max(0.0, (value - middle) / span)) * share for row, value in apart.items()
    }


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


def spread(
    scores: Mapping[tuple[str, int], float], asks: Container[tuple[str, int]] = ()
) -> dict[tuple[str, int], float]:
    """Return what each turn gets of the scores of the turns beside it in its session."""
    near: dict[tuple[str, int], float] = {}
    for (session, turn), score in scores.items():
        for step, share in NEAR_SHARES.items():
            place = (session, turn - step)
            part = ANSWER_SHARE if step == -1 and (session, turn) in asks else share
            near[place] = near.get(place, 0.0) + part * score
    return near


def within_budget(sizes: Sequence[int], budget: int) -> list[int]:
    """Return the places, in order, of what fits a budget when taken best first."""
    taken, left = [], budget
    for place, size in enumerate(sizes):
        if size <= left:
            taken.append(place)
            left -= size
    return taken


def coverage(wanted: Sequence[str], present: Iterable[str]) -> float:
    """Return the share of words that a text has, longer words counting for more.

    >>> round(coverage(["lives", "berlin"], ["user", "lives", "in", "berlin"]), 2)
    1.0
    """
    if not wanted:
        return 0.0
    there = {word.removesuffix("'s") for word in present}
    weights = [1 + math.log(len(word)) for word in wanted]
    found = sum(w for word, w in zip(wanted, weights, strict=True) if _has(there, word))
    return found / sum(weights)


def _has(there: set[str], word: str) -> bool:
    if word in there:
        return True
    stem = word[: max(LEAST_STEM, len(word) - 2)]
    return len(word) >= LEAST_STEM and any(other.startswith(stem) for other in there)
