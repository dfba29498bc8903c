"""Recalling: a query to candidates by words and by meaning, and the best of them as results.

Only reads, but for the count of accesses where the policy wants it.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.facts import memories, triples
from hippocampus.facts.bounded import within
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import HEARSAY, RANKINGS, Kind, Recalled, Score
from hippocampus.facts.ranking import Matches, RankedRow, named, places, relevance, speakers
from hippocampus.facts.strength import DAY_SECONDS, boosted, fading, recency
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words, query_terms, without

MATCHED = 120
"""How many of the best keyword hits are ranked."""
NEAREST = 40
"""How many of the nearest vectors are."""
SPREAD = 10
"""How many of each bring the turns next to them."""
COMMON = 0.5
"""The share of the mean of all vectors that is taken out of the cosine of a memory that is no turn."""
FADED = 0.005
"""What strength and recency add, each: they decide between equals."""
COMMON_SHARE, LEAST_COMMON_ROWS, MOST_COMMON_ROWS = 0.1, 1_000, 4_000
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
    " instr(content, '?') OR instr(content, '？'), rtrim(content) LIKE '%?', length(content), role,"
    f" substr(content, 1, max(0, instr(substr(content, 1, {NAME_CHARACTERS}), ': ') - 1))"
)
CONDITION = """
    removed IS NULL AND (:superseded OR (created <= :known AND valid_from <= :at
        AND (until IS NULL OR until > :at OR known_until > :known)))
    AND (:agent = '*' OR agent = :agent)
    AND (:scopes IS NULL OR scope IN (SELECT value FROM json_each(:scopes)))
    AND (:types IS NULL OR type IN (SELECT value FROM json_each(:types)))
    AND type NOT IN (SELECT value FROM json_each(:other_types))
    AND (:roles IS NULL OR role IN (SELECT value FROM json_each(:roles)))
    AND role NOT IN (SELECT value FROM json_each(:other_roles))
    AND (:kinds IS NULL OR kind IN (SELECT value FROM json_each(:kinds)))
    AND (:tags IS NULL OR NOT EXISTS (SELECT value FROM json_each(:tags) EXCEPT SELECT value FROM json_each(tags)))
    AND (:hearsay OR NOT EXISTS (SELECT 1 FROM json_each(tags) WHERE value = :reported))
    AND (:since IS NULL OR valid_from >= :since) AND (:until IS NULL OR valid_from < :until)
"""
"""Which rows of `memory` a `RecallQuery` is about; its values are `RecallQuery.values`."""


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """What a recall asks for, besides its words."""

    agent: str
    at: float
    known: float
    now: float
    scopes: Sequence[str] | None = None
    types: Sequence[str] = ()
    tags: Sequence[str] = ()
    kinds: Sequence[Kind] = ()
    roles: Sequence[str] = ()
    since: float | None = None
    until: float | None = None
    include_superseded: bool = False
    hearsay: bool = True
    """Whether what the user reports of others, or supposes, is returned too."""

    @property
    def seen_from(self) -> float:
        """Return from when strength and recency count: as of a date, nothing has faded since."""
        return min(self.now, self.at, self.known)

    def values(self, **others: Any) -> dict[str, Any]:
        """Return the values of `CONDITION`, and others."""

        def listed(names: Sequence[str]) -> str | None:
            return json.dumps(list(names)) if names else None

        found = {
            "superseded": self.include_superseded,
            "known": self.known,
            "at": self.at,
            "agent": self.agent,
            "scopes": None if self.scopes is None else json.dumps(list(self.scopes)),
            "kinds": listed(self.kinds),
            "tags": listed(self.tags),
            "hearsay": self.hearsay,
            "reported": HEARSAY,
            "since": self.since,
            "until": self.until,
        }
        for column, names in (("types", self.types), ("roles", self.roles)):
            found[column] = listed([name for name in names if not name.startswith("!")])
            unwanted = [name[1:] for name in names if name.startswith("!")]
            found[f"other_{column}"] = json.dumps(unwanted)
        return found | others


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
    scores = _scores(tables, text, query, ranking, seconds)
    best = sorted(scores, key=lambda row: (-scores[row].total, -row))
    if limit > 0:
        best = best[: limit if budget is None else RERANKED * limit]
    kept = memories.by_row(tables.database, best)
    related = triples.of_rows(tables.database, best)
    found = [
        Recalled(kept[row], scores[row], day(kept[row].valid_from), related.get(row, ()))
        for row in best
        if row in kept
    ]
    if budget is not None:
        if tables.rerank is not None and text.strip() and sum(map(_tokens, found)) > budget:
            found = _reranked(tables, text, found)
        found = within_budget(found, budget)
        found = found[:limit] if limit > 0 else found
    if tables.policy.reinforce == "returned":
        confirm(tables, [result.memory.id for result in found], query.now)
    return found


def _scores(
    tables: FactTables, text: str, query: RecallQuery, ranking: str, seconds: float
) -> dict[int, Score]:
    """Return the scores of the rows that are not too weak to be returned."""
    if not text.strip():
        rows = _rows(tables, f"FROM memory WHERE {CONDITION}", query.values())
        return {
            row: replace(each, total=each.strength + 0.5 * each.recency)
            for row, each in _unfaded(tables, query, rows.values()).items()
        }
    found = find(tables, text, query, whole=ranking == "hippo", seconds=seconds)
    if ranking != "ours":
        from hippocampus.facts.compat.bands import ranked_as

        return ranked_as(ranking, tables, text, query.seen_from, found)
    scores = relevance(found, content_words(text))
    kept = _unfaded(tables, query, (found.rows[row] for row in scores))
    for row, faded in kept.items():
        value, keyword = scores[row]
        own = max(0.0, found.cosines.get(row, 0.0))
        total = value + FADED * (faded.strength + faded.recency)
        kept[row] = replace(faded, total=total, keyword=keyword, vector=own)
    return kept


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


def relevant(tables: FactTables, found: Sequence[Recalled], prompt: str) -> list[Recalled]:
    """Return the recalled memories that a prompt calls for: by words, by meaning, or by naming an entity."""
    best = max((each.score.total for each in found), default=0.0)
    asked = set(content_words(prompt))
    subjects = triples.named_in(tables.database, asked, found)
    return [
        each
        for each in found
        if each.score.total >= RELEVANT_SHARE * best
        and (
            each.score.keyword >= RELEVANT_WORDS
            or each.score.vector >= RELEVANT_COSINE
            or any(triple.id in subjects for triple in each.triples)
        )
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


def find(
    tables: FactTables, text: str, query: RecallQuery, *, whole: bool = False, seconds: float
) -> Matches:
    """Return the matches of words and meaning among the rows that pass the filters.

    Where the filters leave few of the best, both search again among the rows that pass. The vector is that of
    the `whole` text, or of the text without the names of who speaks, which a model takes for its subject.
    """
    having = _telling(tables, list(query_terms(text).values()))
    hits = _matched(tables, having)
    rows = _light(tables, hits, query)
    if len(hits) == MATCHED and _few(hits, rows):
        hits = _matched_among(tables, list(having), query)
        rows |= _light(tables, hits, query)
    cosines: dict[int, float] = {}
    distinct: dict[int, float] = {}
    vectors = None
    if tables.embed is not None and tables.has_vectors:
        asked = content_words(text)
        speaking = named(speakers(rows.values()), asked)
        is_about = not whole and 0 < len(speaking) < len(asked)
        vectors = tables.embedded([without(text, speaking) if is_about else text], seconds)
    if vectors is None:
        rows |= _next_to(tables, hits[:SPREAD], rows, query)
    else:
        cosines = tables.vectors.nearest(vectors[0], NEAREST)
        rows |= _light(tables, cosines, query)
        if len(cosines) == NEAREST and _few(cosines, rows):
            cosines = _nearest_among(tables, vectors[0], query)
            rows |= _light(tables, cosines, query)
        rows |= _next_to(tables, [*hits[:SPREAD], *list(cosines)[:SPREAD]], rows, query)
        near = tables.vectors.cosines(vectors[0], rows.keys() - cosines.keys())
        cosines = {row: value for row, value in (cosines | near).items() if row in rows}
        alone = [row for row in cosines if not rows[row].is_turn]
        distinct = tables.vectors.cosines(vectors[0], alone, without_mean=COMMON)
    held, weights = _held(tables, having, hits, rows)
    return Matches(rows, held, weights, cosines, distinct)


def _telling(tables: FactTables, terms: Sequence[str]) -> dict[str, list[int]]:
    """Return the rows of each term that is not in a great many memories; of all, where every one is."""
    most = int(min(MOST_COMMON_ROWS, max(LEAST_COMMON_ROWS, COMMON_SHARE * _last_row(tables))))
    with_term = "SELECT rowid FROM memory_text WHERE memory_text MATCH ? LIMIT ?"
    having = {
        term: [row for (row,) in tables.database.rows(with_term, (term, most))] for term in terms
    }
    rare = {term: there for term, there in having.items() if len(there) < most}
    return rare or {term: [] for term in terms}


def _last_row(tables: FactTables) -> int:
    return int(tables.database.value("SELECT max(row) FROM memory") or 0)


def _matched(tables: FactTables, having: Mapping[str, Sequence[int]]) -> list[int]:
    """Return the best rows by BM25."""
    if not having:
        return []
    joined = (
        " OR ".join(having)
        if any(having.values())
        else " AND ".join(f"({term})" for term in having)
    )
    best = "SELECT rowid FROM memory_text WHERE memory_text MATCH ? ORDER BY rank LIMIT ?"
    return [row for (row,) in tables.database.rows(best, (joined, MATCHED))]


def _matched_among(tables: FactTables, terms: Sequence[str], query: RecallQuery) -> list[int]:
    """Return the best rows by BM25 of those that pass the filters."""
    found = tables.database.rows(
        "SELECT memory_text.rowid FROM memory_text CROSS JOIN memory ON memory.row = memory_text.rowid"  # noqa: S608 - names of ours
        f" WHERE memory_text MATCH :match AND {CONDITION} ORDER BY bm25(memory_text) LIMIT :most",
        query.values(match=" OR ".join(terms), most=MATCHED),
    )
    return [row for (row,) in found]


def _nearest_among(tables: FactTables, vector: Any, query: RecallQuery) -> dict[int, float]:
    """Return cosines by row, of the nearest that pass the filters."""
    rows = tables.database.rows(
        f"SELECT row FROM memory WHERE {CONDITION} ORDER BY row DESC LIMIT :most",  # noqa: S608 - names of ours
        query.values(most=FEW),
    )
    found = tables.vectors.cosines(vector, [row for (row,) in rows])
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:NEAREST])


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


def _rows(tables: FactTables, rest: str, values: Mapping[str, Any]) -> dict[int, RankedRow]:
    """Return what ranking needs of the rows that the rest of a SELECT names."""
    found = tables.database.rows(f"SELECT {LIGHT} {rest}", values)
    return {row[0]: RankedRow(*row) for row in found}


def _light(tables: FactTables, rows: Iterable[int], query: RecallQuery) -> dict[int, RankedRow]:
    """Return what ranking needs of those rows that pass the filters."""
    among = "FROM (SELECT value AS number FROM json_each(:rows)) CROSS JOIN memory ON row = number"
    values = query.values(rows=memories.listed(rows))
    return _rows(tables, f"{among} WHERE {CONDITION}", values)


def _next_to(
    tables: FactTables, hits: Iterable[int], rows: dict[int, RankedRow], query: RecallQuery
) -> dict[int, RankedRow]:
    """Return the turns next to the best hits."""
    wanted = places(rows[row] for row in hits if row in rows)
    if not wanted:
        return {}
    turns = [(session, turn, at) for session, at in wanted for turn in {at, at // 2}]
    place = "SELECT value ->> 0 AS s, value ->> 1 AS t, value ->> 2 AS p FROM json_each(:turns)"
    among = f"FROM ({place}) CROSS JOIN memory ON session = s AND turn = t WHERE {PLACE} = p AND {CONDITION}"
    return _rows(tables, among, query.values(turns=json.dumps(turns)))


def _few(found: Collection[int], rows: Collection[int]) -> bool:
    """Return whether less than a quarter of the matches pass the filters."""
    return sum(row in rows for row in found) < len(found) // 4


# Results


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
