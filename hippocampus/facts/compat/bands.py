"""The bands, rankings and updates of hippo (cosine) and scriptling (Jaccard).

From a band on two texts are the same, but never where their numbers or denials differ. All of it holds
only where a policy's preset, or a verb of those stores, asks for it.
scriptling estimates Jaccard's index by MinHash; the few texts that are compared here are compared exactly.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hippocampus.facts import judge, memories
from hippocampus.facts.languages import language_of, pattern
from hippocampus.facts.models import Item, Memory, Score
from hippocampus.facts.ranking import Matches
from hippocampus.facts.strength import DAY_SECONDS, fading, recency
from hippocampus.facts.tables import FactTables
from hippocampus.facts.words import UNSPACED, match_of, normalised, words

if TYPE_CHECKING:
    from hippocampus.facts.tables import Matrix

SCRIPTLING_DAYS = 30.0
"""When scriptling's linear recency is 0."""
COMPARED = 50
MOST_ASKED = 50
SHINGLE, UNSPACED_SHINGLE = 3, 2
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_UNSPACED = re.compile(f"[{UNSPACED}]")


def features(text: str) -> set[str]:
    """Return the distinct words of a text, and its runs of three characters, marked by a space."""
    joined = re.sub(r"[\W_]+", " ", normalised(text)).strip()
    size = UNSPACED_SHINGLE if _UNSPACED.search(joined) else SHINGLE
    shingles = {f" {joined[i : i + size]}" for i in range(max(1, len(joined) - size + 1))}
    return shingles.union(words(text))


def jaccard(one: set[str], other: set[str]) -> float:
    """Return the share that two sets have in common."""
    return len(one & other) / len(one | other)


def similarities(text: str, others: Mapping[int, Memory]) -> dict[int, float]:
    """Return the share of words and shingles that a text has in common with each memory."""
    own = features(text)
    return {row: jaccard(own, features(memory.content)) for row, memory in others.items()}


def candidates(tables: FactTables, text: str, agent: str, scope: str) -> dict[int, Memory]:
    """Return the current memories that have most words of a text."""
    match, now = match_of(text), tables.clock()
    return memories.matching(tables.database, match, agent, scope, now, COMPARED)


def duplicate_of(  # noqa: PLR0913, PLR0917 - each is one property of the new text
    tables: FactTables,
    item: Item,
    type_name: str,
    vector: Matrix | None,
    agent: str,
    unwritten: Mapping[int, Matrix],
) -> int | None:
    """Return the current row of the same agent, scope and type that is the same by a band, or nothing."""
    policy = tables.policy
    likely: dict[int, float] = {}
    if vector is not None and policy.duplicate_cosine:
        near = tables.vectors.nearest(vector, policy.candidates) if tables.has_vectors else {}
        near |= {row: float(vector @ other) for row, other in unwritten.items()}
        likely = {row: value for row, value in near.items() if value > policy.duplicate_cosine}
    if policy.duplicate_minhash:
        alike = similarities(item.content, candidates(tables, item.content, agent, item.scope))
        likely |= {row: value for row, value in alike.items() if value >= policy.duplicate_minhash}
    kept = memories.by_row(tables.database, likely)
    wanted = (agent, item.scope, type_name, "fact", None, None)
    for row in sorted(kept, key=lambda row: -likely[row]):
        old = kept[row]
        found = (old.agent, old.scope, old.type, old.kind, old.known_until, old.removed)
        if found == wanted and not differ(old.content, item.content):
            return row
    return None


def differ(one: str, other: str) -> bool:
    """Return whether two texts differ in a number, a name or a denial.

    >>> differ("Ann has 2 cats", "Ann has 3 cats"), differ("Ann likes tea", "Ann likes tea!")
    (True, False)
    """
    return _marks(one) != _marks(other)


def _marks(text: str) -> tuple[Counter[str], frozenset[str], bool]:
    found = words(text)
    rules = language_of(text, found).rules
    denies = bool(rules and pattern(rules.negation).search(text.replace("\u2019", "'")))
    names = frozenset(word.casefold() for word in re.findall(r"(?<!^)\b[A-ZÀ-ÞА-ЯЁ][\w-]+", text))
    return Counter(_NUMBER.findall(text)), names, denies


def merged_by_model(tables: FactTables, kept: Mapping[int, Memory]) -> dict[int, int]:
    """Return which rows a model calls the same as an earlier one, of pairs between scriptling's bands."""
    assert tables.complete is not None
    policy = tables.policy
    said = {row: features(memory.content) for row, memory in kept.items()}
    unsure: list[tuple[int, int]] = []
    losers: dict[int, int] = {}
    for one, other in itertools.combinations(kept, 2):
        if _place(kept[one]) != _place(kept[other]):
            continue
        value = jaccard(said[one], said[other])
        if value < policy.new_minhash or differ(kept[one].content, kept[other].content):
            continue
        if value >= policy.duplicate_minhash:
            losers[other] = one
        else:
            unsure.append((one, other))
    asked = [pair for pair in unsure if pair[1] not in losers][:MOST_ASKED]
    if not asked:
        return losers
    known: dict[str, Any] = {f"k{n}": kept[one].content for n, (one, _) in enumerate(asked, 1)}
    answers = judge.decided(tables.complete, [kept[other].content for _, other in asked], known)
    for place, decision in answers.items():
        if decision.action == "same" and f"k{place + 1}" in decision.known:
            losers[asked[place][1]] = asked[place][0]
    return losers


def _place(memory: Memory) -> tuple[str, str, str]:
    return memory.agent, memory.scope, memory.type


def ranked_as(
    ranking: str, tables: FactTables, text: str, seen_from: float, found: Matches
) -> dict[int, Score]:
    """Return the scores of rows, at a time in seconds.

    hippo: 0.6 · cosine (the share of the query's words where there is no vector) + 0.3 · strength + 0.1 · recency;
    scriptling: 0.3 · words + 0.3 · Jaccard + 0.2 · importance + 0.2 · recency.
    """
    hippo = ranking == "hippo"
    strength = fading(tables.policy, seen_from)
    alike = {} if hippo else similarities(text, memories.by_row(tables.database, found.rows))
    total = sum(found.weights) or 1.0
    scores = {}
    for row, one in found.rows.items():
        keyword = sum(found.weights[number] for number in found.words.get(row, ())) / total
        cosine = found.cosines.get(row)
        left = strength(one.type, one.intensity, one.accesses, one.accessed)
        age = (seen_from - one.created) / DAY_SECONDS
        if left < tables.policy.hide_below or not (keyword or cosine):
            continue
        meaning = max(0.0, cosine or 0.0)
        shared = alike.get(row, 0.0)
        if hippo:
            recent = recency(age)
            value = 0.6 * (keyword if cosine is None else meaning) + 0.3 * left + 0.1 * recent
        else:
            recent = max(0.0, 1.0 - max(0.0, age) / SCRIPTLING_DAYS)
            value = 0.3 * keyword + 0.3 * shared + 0.2 * one.intensity + 0.2 * recent
        scores[row] = Score(value, keyword, meaning, shared, left, recent, one.intensity)
    return scores
