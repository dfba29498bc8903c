"""Ranking: how much of a query a turn and its neighbours cover, and how near they are to it. Pure.

Both parts are absolute, so that neither words nor meaning drowns the other, and so that an
irrelevant row scores nothing. The numbers were chosen on conversations, each time leaving one out.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from hippocampus.facts.words import words
from hippocampus.storage.facts.rows import RankedRow

REACH = (-2, -1, 1, 2)
"""How far the turns are that count for one."""
NEIGHBOUR_SHARE = 0.4
"""How much a word counts that such a turn holds; an answer holds the words of its question."""
PARAGRAPH_CHARACTERS = 250
"""A text of more characters than this holds a word by chance: it counts by the root of its length."""
REPETITION_SHARE = 0.1
"""What a further turn that holds a word adds."""
NEIGHBOUR_COSINE = 0.2
"""How much the cosine of a turn counts for one at this distance."""
MIN_NEAR_COSINE = 0.1
"""Under this a cosine has no weight for the turns next to it."""
SINGLE_WORDS_POWER = 1.5
"""The power of the share of words in a memory that is no turn: nothing next to it holds the others."""
SINGLE_COSINE_SHARE = 1.5
"""The weight of the cosine of a memory that is no turn: nothing next to it comes near too."""
MIN_COSINE = 0.25
"""Under this, a memory without a word of the query has nothing to do with it."""
CONVERSATION_TURNS = 3
CONVERSATION_SHARE = 0.15
"""The share of the mean of the best scores in its conversation that a turn gets where there are no vectors."""
OTHERS_SHARE = 0.8
"""What a turn keeps of its score where the query names who speaks, and another one does; or where an assistant does, since it is the user's memory."""
QUESTION_SHARE = 0.85
"""The share of its score that a turn keeps which ends with a question."""


class Matches(NamedTuple):
    """What words and meaning find."""

    rows: dict[int, RankedRow]
    words: dict[int, set[int]]
    """Which of the query's words a row holds, by their number."""
    weights: list[float]
    """How rare each word is."""
    cosines: dict[int, float]
    distinct: dict[int, float]
    """The cosines without a share of the mean of all vectors."""


def relevance(found: Matches, asked: Collection[str]) -> dict[int, tuple[float, float]]:
    """Return for each row that has to do with a query its score, and the share of the query's words in it."""
    near = neighbours(found.rows.values())
    covered = window(found, near)
    others = by_others(found.rows.values(), asked)
    scores = {}
    for row, one in found.rows.items():
        own = found.cosines.get(row, 0.0)
        worded, keyword = covered.get(row, (0.0, 0.0))
        if not worded and own < MIN_COSINE:
            continue
        if one.is_turn:
            nearby = (found.cosines.get(other, 0.0) for other, _ in near[row])
            shared = NEIGHBOUR_COSINE * sum(value for value in nearby if value >= MIN_NEAR_COSINE)
            score = worded + max(0.0, own) + density_of(one) * shared
        elif not found.cosines:
            score = worded
        else:
            distinct = max(0.0, found.distinct.get(row, 0.0))
            score = worded**SINGLE_WORDS_POWER + SINGLE_COSINE_SHARE * distinct
        score *= (OTHERS_SHARE if row in others else 1.0) * (
            QUESTION_SHARE if one.ends_asking else 1
        )
        scores[row] = score, keyword
    if found.cosines:  # these bring the turns next to a hit by themselves
        return scores
    talks: dict[str, list[float]] = defaultdict(list)
    for row, (score, _) in scores.items():
        if found.rows[row].is_turn:
            talks[found.rows[row].session].append(score)
    for row, (score, keyword) in scores.items():
        if found.rows[row].is_turn:
            best = sorted(talks[found.rows[row].session])[-CONVERSATION_TURNS:]
            scores[row] = score + CONVERSATION_SHARE * sum(best) / CONVERSATION_TURNS, keyword
    return scores


def density_of(row: RankedRow) -> float:
    """Return what a word in a row counts: 1 in a text of a paragraph, less in a longer one."""
    return min(1.0, math.sqrt(PARAGRAPH_CHARACTERS / max(1, row.characters)))


def places(rows: Iterable[RankedRow]) -> set[tuple[str, int]]:
    """Return the places of the turns next to some rows."""
    return {
        (one.session, one.turn + step)
        for one in rows
        if one.session and one.turn is not None
        for step in REACH
        if one.turn + step >= 0
    }


def neighbours(rows: Collection[RankedRow]) -> dict[int, list[tuple[int, int]]]:
    """Return for each row those next to it in its conversation, with their distance."""
    talks: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for one in rows:
        if one.session and one.turn is not None:
            talks[one.session][one.turn].append(one.row)
    near: dict[int, list[tuple[int, int]]] = {one.row: [] for one in rows}
    for turns in talks.values():
        for turn, here in turns.items():
            nearby = [
                (row, step) for step in REACH if turn + step in turns for row in turns[turn + step]
            ]
            near |= dict.fromkeys(here, nearby)
    return near


def window(
    found: Matches, near: Mapping[int, Sequence[tuple[int, int]]]
) -> dict[int, tuple[float, float]]:
    """Return for each row how well it and those next to it cover a query, rare words counting for more.

    A long text holds a word by chance, and needs its neighbours less. The second number is the share of
    the query's words in the row itself, and in the question that it answers.
    """
    total = sum(found.weights) or 1.0
    held = {row: numbers for row, numbers in found.words.items() if row in found.rows}
    density = {row: density_of(one) for row, one in found.rows.items()}
    covered = {}
    for row, nearby in near.items():
        own = set(held.get(row, ()))
        shares: dict[int, float] = dict.fromkeys(own, density[row])
        several = sum(found.weights[number] * share for number, share in shares.items())
        for other, step in nearby:
            is_answer = step == -1 and found.rows[other].asks
            share = (1.0 if is_answer else NEIGHBOUR_SHARE) * density[row] * density[other]
            for number in held.get(other, ()):
                shares[number] = max(shares.get(number, 0.0), share)
                several += share * found.weights[number]
            own |= held.get(other, set()) if is_answer else set()
        if shares:
            best = sum(found.weights[number] * share for number, share in shares.items())
            itself = sum(found.weights[number] for number in own)
            covered[row] = (best + REPETITION_SHARE * several) / total, itself / total
    return covered


def speakers(candidates: Iterable[RankedRow]) -> set[str]:
    """Return who speaks in the candidates: the names that a turn opens with, and another one too.

    A word before a colon that occurs only once is a heading rather than a speaker.
    """
    often = Counter(one.speaker for one in candidates if one.turn is not None)
    return {name for name, count in often.items() if name and count > 1}


def named(speaking: Iterable[str], asked: Iterable[str]) -> set[str]:
    """Return those of the words asked for that name a speaker."""
    return set(words(" ".join(speaking))).intersection(asked)


def by_others(candidates: Collection[RankedRow], asked: Iterable[str]) -> set[int]:
    """Return the rows that another speaker said than the one whom the words asked for name, or the user."""
    speaking = speakers(candidates)
    meant = named(speaking, asked)
    others = {name for name in speaking if meant and meant.isdisjoint(words(name))}
    return {
        one.row
        for one in candidates
        if one.speaker in others or (one.speaker not in speaking and one.role == "assistant")
    }
