"""The rankings of hippo and of scriptling, over what words and meaning find."""

from __future__ import annotations

from hippocampus.facts import memories
from hippocampus.facts.compat.bands import similarities
from hippocampus.facts.models import Score
from hippocampus.facts.query import RecallQuery
from hippocampus.facts.ranking import Matches
from hippocampus.facts.strength import DAY_SECONDS, fading, recency
from hippocampus.facts.tables import FactTables

SCRIPTLING_DAYS = 30.0
"""When scriptling's linear recency is 0."""


def ranked_as(
    ranking: str, tables: FactTables, text: str, query: RecallQuery, found: Matches
) -> dict[int, Score]:
    """Return the scores of rows.

    hippo: 0.6 · cosine (the share of the query's words where there is no vector) + 0.3 · strength + 0.1 · recency;
    scriptling: 0.3 · words + 0.3 · Jaccard + 0.2 · importance + 0.2 · recency.
    """
    hippo = ranking == "hippo"
    strength = fading(tables.policy, query.seen_from)
    alike = {} if hippo else similarities(text, memories.by_row(tables.database, found.rows))
    total = sum(found.weights) or 1.0
    scores = {}
    for row, one in found.rows.items():
        keyword = sum(found.weights[number] for number in found.words.get(row, ())) / total
        cosine = found.cosines.get(row)
        left = strength(one.type, one.intensity, one.accesses, one.accessed)
        age = (query.seen_from - one.created) / DAY_SECONDS
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
