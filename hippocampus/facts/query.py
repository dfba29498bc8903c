"""Recalling: a query to candidates by words and by meaning, and the best of them as results.

Only reads, but for the count of accesses where the policy wants it.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hippocampus.facts import memories, triples
from hippocampus.facts.bounded import within
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import RANKINGS, Recalled, Score
from hippocampus.facts.ranking import Matches, RankedRow, named, places, relevance, speakers
from hippocampus.facts.recall_query import RecallQuery
from hippocampus.facts.strength import DAY_SECONDS, boosted, fading, recency
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words, query_terms, without

MATCHED = 60
"""How many of the best keyword hits are ranked."""
NEAREST = 40
"""How many of the nearest vectors are."""
SPREAD = 10
"""How many of each bring the turns next to them."""
COMMON = 0.5
"""The share of the mean of all vectors that is taken out of the cosine of a memory that is no turn."""
FADED = 0.005
"""What strength and recency add, each: they decide between equals."""
COMMON_SHARE, LEAST_COMMON_ROWS, MOST_COMMON_ROWS = 0.1, 1_000, 8_000
"""A word in more memories than this is left out of a query that has rarer ones."""
LEAST_COUNT = 200
"""How many memories a store counts as at least, so that in a small one a word is not common at once."""
FEW = 20_000
"""How many rows at most are looked through where a filter leaves few of the best."""
RERANKED = 4
"""How many times the limit is offered to the reranker."""
NAME_CHARACTERS = 40
RELEVANT_WORDS, RELEVANT_COSINE, RELEVANT_SHARE = 0.35, 0.38, 0.35
"""What a prompt calls for: these words or this cosine, and this share of the best score."""
RETRIEVE_SECONDS = 0.15
"""How long a prompt waits for an embedding."""
CHARACTERS_A_TOKEN = 4
RERANK_SECONDS = 20.0
log = logging.getLogger(__name__)

PLACE = "CASE role WHEN '' THEN turn WHEN 'user' THEN 2 * turn + 1 ELSE 2 * turn END"
"""The place of a memory in its session: an answer and the user's reply to it have one turn."""
LIGHT = (
    f"row, type, intensity, accesses, accessed, created, session, {PLACE},"
    " instr(content, '?') OR instr(content, '？'), rtrim(content) LIKE '%?',"
    f" substr(content, 1, max(0, instr(substr(content, 1, {NAME_CHARACTERS}), ': ') - 1))"
)


def recall(  # noqa: PLR0913 - each is one property of a recall
    tables: FactTables,
    text: str,
    query: RecallQuery,
    *,
    limit: int,
    budget: int | None = None,
    ranking: str = "ours",
    seconds: float = WRITING_SECONDS,
) -> list[Recalled]:
    """Return what best answers a query, best first; of an empty one, the strongest and newest."""
    if ranking not in RANKINGS:
        raise FactError(f"unknown preset {ranking!r}; known are {', '.join(RANKINGS)}")
    if limit == 0 or (query.scopes is not None and not query.scopes):
        return []
    most = None if limit < 0 else limit if budget is None else RERANKED * limit
    scores = (
        _scores(tables, text, query, ranking, seconds)
        if text.strip()
        else _strongest(tables, query)
    )
    found = _results(tables, scores[:most])
    if budget is not None:
        found = _fitting(tables, text, found, budget)
        found = found[:limit] if limit > 0 else found
    if tables.policy.reinforce == "returned":
        confirm(tables, [result.memory.id for result in found], query.now)
    return found


def relevant(
    tables: FactTables, prompt: str, query: RecallQuery, *, limit: int, budget: int
) -> list[Recalled]:
    """Return what a prompt calls for; nothing where nothing does."""
    found = recall(
        tables,
        prompt,
        replace(query, hearsay=False),
        limit=limit,
        budget=budget,
        ranking=tables.policy.preset,
        seconds=RETRIEVE_SECONDS,
    )
    best = max((each.score.total for each in found), default=0.0)
    return [
        each
        for each in found
        if (each.score.keyword >= RELEVANT_WORDS or each.score.vector >= RELEVANT_COSINE)
        and each.score.total >= RELEVANT_SHARE * best
    ]


def confirm(tables: FactTables, ids: Iterable[str], at: float) -> int:
    """Count an access of each memory, and strengthen it a little; return how many exist."""
    with tables.database.transaction():
        found = memories.by_id(tables.database, ids)
        tables.database.run_many(
            "UPDATE memory SET accesses = accesses + 1, accessed = max(accessed, ?), intensity = ? WHERE row = ?",
            [(at, boosted(tables.policy, each.intensity), row) for row, each in found.values()],
        )
    return len(found)


# Finding


def _scores(
    tables: FactTables, text: str, query: RecallQuery, ranking: str, seconds: float
) -> list[tuple[int, Score]]:
    found = find(tables, text, query, whole=ranking == "hippo", seconds=seconds)
    if ranking != "ours":
        from hippocampus.facts.compat.rankings import ranked_as

        return ranked_as(ranking, tables, text, query, found)
    return _ours(tables, text, query, found)


def find(
    tables: FactTables, text: str, query: RecallQuery, *, whole: bool = False, seconds: float
) -> Matches:
    """Return the matches of words and meaning among the rows that pass the filters.

    Where the filters leave few of the best, both search again among the rows that pass. The vector is that of
    the `whole` text, or of the text without the names of who speaks, which a model takes for its subject.
    """
    terms = query_terms(text)
    having = _telling(tables, list(terms.values()))
    hits = _matched(tables, having)
    rows = _light(tables, hits, query)
    if len(hits) == MATCHED and _few(hits, rows):
        hits = _matched_among(tables, list(having), query)
        rows |= _light(tables, hits, query)
    cosines: dict[int, float] = {}
    distinct: dict[int, float] = {}
    if tables.embed is not None and tables.has_vectors:
        asked = text if whole else _without_speakers(text, rows)
        vectors = tables.embedded([asked], seconds)
        if vectors is not None:
            cosines = tables.vectors.nearest(vectors[0], NEAREST)
            rows |= _light(tables, cosines, query)
            if len(cosines) == NEAREST and _few(cosines, rows):
                cosines = _nearest_among(tables, vectors[0], query)
                rows |= _light(tables, cosines, query)
            rows |= _next_to(tables, [*list(hits)[:SPREAD], *list(cosines)[:SPREAD]], rows, query)
            near = tables.vectors.cosines(vectors[0], rows.keys() - cosines.keys())
            cosines = {row: value for row, value in (cosines | near).items() if row in rows}
            alone = [row for row in cosines if not rows[row].is_turn]
            distinct = tables.vectors.cosines(vectors[0], alone, without_mean=COMMON)
    if not cosines:
        rows |= _next_to(tables, list(hits)[:SPREAD], rows, query)
    held, weights = _held(tables, having, hits, rows)
    return Matches(rows, held, weights, cosines, distinct)


def _without_speakers(text: str, rows: dict[int, RankedRow]) -> str:
    asked = content_words(text)
    speaking = named(speakers(rows.values()), asked)
    return without(text, speaking) if 0 < len(speaking) < len(asked) else text


def _telling(tables: FactTables, terms: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows of each term that is not in a great many memories; of all, where every one is."""
    most = int(min(MOST_COMMON_ROWS, max(LEAST_COMMON_ROWS, COMMON_SHARE * _last_row(tables))))
    having = {term: _rows_with(tables, term, most) for term in terms}
    rare = {term: there for term, there in having.items() if len(there) < most}
    return rare or {term: [] for term in terms}


def _matched(tables: FactTables, having: Mapping[str, Sequence[int]]) -> dict[int, float]:
    """Return BM25 by row, of the best."""
    if not having:
        return {}
    joined = (
        " OR ".join(having)
        if any(having.values())
        else " AND ".join(f"({term})" for term in having)
    )
    sql = "SELECT rowid, -rank FROM memory_text WHERE memory_text MATCH ? ORDER BY rank LIMIT ?"
    return dict(tables.database.rows(sql, (joined, MATCHED)))


def _last_row(tables: FactTables) -> int:
    return int(tables.database.value("SELECT max(row) FROM memory") or 0)


def _rows_with(tables: FactTables, term: str, most: int) -> list[int]:
    found = tables.database.rows(
        "SELECT rowid FROM memory_text WHERE memory_text MATCH ? LIMIT ?", (term, most)
    )
    return [row for (row,) in found]


def _held(
    tables: FactTables,
    having: Mapping[str, Sequence[int]],
    hits: Collection[int],
    rows: Collection[int],
) -> tuple[dict[int, set[int]], list[float]]:
    """Return which of the query's words each row holds, by number, and how rare each word is."""
    count = max(LEAST_COUNT, _last_row(tables))
    if not any(having.values()):  # none is rare: what was matched holds them all
        return {row: set(range(len(having))) for row in hits if row in rows}, [1.0] * len(having)
    held: dict[int, set[int]] = {}
    weights = []
    for number, there in enumerate(having.values()):
        weights.append(math.log(1 + max(0.0, count - len(there) + 0.5) / (len(there) + 0.5)))
        for row in there:
            if row in rows:
                held.setdefault(row, set()).add(number)
    return held, weights


def _matched_among(
    tables: FactTables, terms: Sequence[str], query: RecallQuery
) -> dict[int, float]:
    """Return BM25 by row, of the best that pass the filters."""
    condition, values = query.condition()
    return dict(
        tables.database.rows(
            "SELECT memory_text.rowid, -bm25(memory_text) AS score FROM memory_text"  # noqa: S608 - names of ours
            " CROSS JOIN memory ON memory.row = memory_text.rowid"
            f" WHERE memory_text MATCH ? AND {condition} ORDER BY score DESC LIMIT ?",
            (" OR ".join(terms), *values, MATCHED),
        )
    )


def _nearest_among(tables: FactTables, vector: Any, query: RecallQuery) -> dict[int, float]:
    """Return cosines by row, of the nearest that pass the filters."""
    condition, values = query.condition()
    rows = tables.database.rows(
        f"SELECT row FROM memory WHERE {condition} ORDER BY row DESC LIMIT ?",  # noqa: S608 - names of ours
        (*values, FEW),
    )
    found = tables.vectors.cosines(vector, [row for (row,) in rows])
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:NEAREST])


def _light(tables: FactTables, rows: Iterable[int], query: RecallQuery) -> dict[int, RankedRow]:
    """Return what ranking needs of those rows that pass the filters."""
    condition, values = query.condition()
    found = tables.database.rows(
        "WITH wanted (number) AS (SELECT value FROM json_each(?))"  # noqa: S608 - names of ours
        f" SELECT {LIGHT} FROM wanted CROSS JOIN memory ON row = number WHERE {condition}",
        (memories.listed(rows), *values),
    )
    return {row[0]: RankedRow(*row) for row in found}


def _next_to(
    tables: FactTables, hits: Iterable[int], rows: dict[int, RankedRow], query: RecallQuery
) -> dict[int, RankedRow]:
    """Return the turns next to the best hits."""
    wanted = places(rows[row] for row in hits if row in rows)
    if not wanted:
        return {}
    condition, values = query.condition()
    turns = [(session, turn, at) for session, at in wanted for turn in {at, at // 2}]
    found = tables.database.rows(
        "WITH place AS (SELECT value ->> 0 AS s, value ->> 1 AS t, value ->> 2 AS p"  # noqa: S608 - names of ours
        f" FROM json_each(?)) SELECT {LIGHT} FROM place CROSS JOIN memory"
        f" ON session = s AND turn = t WHERE {PLACE} = p AND {condition}",
        (json.dumps(turns), *values),
    )
    return {row[0]: RankedRow(*row) for row in found}


def _few(found: Collection[int], rows: Collection[int]) -> bool:
    """Return whether less than a quarter of the matches pass the filters."""
    return sum(row in rows for row in found) < len(found) // 4


# Ranking


def _ours(
    tables: FactTables, text: str, query: RecallQuery, found: Matches
) -> list[tuple[int, Score]]:
    scores = relevance(found, content_words(text))
    kept = _unfaded(tables, query, (found.rows[row] for row in scores))
    for row, faded in kept.items():
        value, keyword = scores[row]
        own = max(0.0, found.cosines.get(row, 0.0))
        total = value + FADED * (faded.strength + faded.recency)
        kept[row] = replace(faded, total=total, keyword=keyword, vector=own)
    return _best_first(kept)


def _strongest(tables: FactTables, query: RecallQuery) -> list[tuple[int, Score]]:
    """Return every row that passes the filters, strongest and newest first."""
    condition, values = query.condition()
    found = tables.database.rows(f"SELECT {LIGHT} FROM memory WHERE {condition}", values)  # noqa: S608 - names of ours
    kept = _unfaded(tables, query, (RankedRow(*row) for row in found))
    return _best_first(
        {row: replace(each, total=each.strength + 0.5 * each.recency) for row, each in kept.items()}
    )


def _unfaded(tables: FactTables, query: RecallQuery, rows: Iterable[RankedRow]) -> dict[int, Score]:
    """Return strength, recency and importance of the rows that are not too weak to be returned."""
    strength = fading(tables.policy, query.seen_from)
    kept = {}
    for one in rows:
        left = strength(one.type, one.intensity, one.accesses, one.accessed)
        if left >= tables.policy.hide_below:
            recent = recency((query.seen_from - one.created) / DAY_SECONDS)
            kept[one.row] = Score(0.0, strength=left, recency=recent, importance=one.intensity)
    return kept


def _best_first(scores: dict[int, Score]) -> list[tuple[int, Score]]:
    return sorted(scores.items(), key=lambda each: (-each[1].total, -each[0]))


# Results


def _results(tables: FactTables, scores: Sequence[tuple[int, Score]]) -> list[Recalled]:
    kept = memories.by_row(tables.database, (row for row, _ in scores))
    related = triples.of_rows(tables.database, [row for row, _ in scores])
    return [
        Recalled(kept[row], score, day(kept[row].valid_from), related.get(row, ()))
        for row, score in scores
        if row in kept
    ]


def _fitting(tables: FactTables, text: str, found: list[Recalled], budget: int) -> list[Recalled]:
    """Return what fits a budget of tokens, chosen by the reranker where all does not fit."""
    if tables.rerank is not None and text.strip() and sum(map(_tokens, found)) > budget:
        found = _reranked(tables, text, found)
    return within_budget(found, budget)


def within_budget(found: Sequence[Recalled], budget: int) -> list[Recalled]:
    """Return what fits a budget of tokens when taken best first."""
    taken = []
    for each in found:
        if (size := _tokens(each)) <= budget:
            taken.append(each)
            budget -= size
    return taken


def _tokens(result: Recalled) -> int:
    """Return about how many tokens a line of memory weighs: characters by four, wide ones each."""
    text = result.memory.content
    wide = 0 if text.isascii() else sum(sign > "\u2fff" for sign in text)
    return 8 + wide + (len(text) - wide) // CHARACTERS_A_TOKEN


def _reranked(tables: FactTables, text: str, found: list[Recalled]) -> list[Recalled]:
    """Order results by the reranker; where it fails, the order of scores stays."""
    assert tables.rerank is not None
    values = within(
        RERANK_SECONDS, tables.rerank, text, [result.memory.content for result in found]
    )
    if values is None or len(list(values)) != len(found):
        log.warning("reranking failed; the order of scores stays")
        return found
    return [found[place] for place in sorted(range(len(found)), key=lambda place: -values[place])]
