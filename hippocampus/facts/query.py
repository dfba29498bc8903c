"""Recalling: a query to candidates by words and by meaning, and the best as results.

Only reads, but for the count of accesses.
"""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from hippocampus.errors import StoreError
from hippocampus.facts.models import DAY_SECONDS, Recalled, Score
from hippocampus.facts.ranking import Matches, named, places, relevance, speakers
from hippocampus.facts.tables import WRITING_SECONDS, FactTables
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words, key, names, query_terms, without, words
from hippocampus.storage.deadline import bounded
from hippocampus.storage.facts import memories, search, triples
from hippocampus.storage.facts.rows import Memory, Origin, RankedRow
from hippocampus.storage.facts.search import RecallQuery

LIMIT = 10
"""How many results a recall returns at most, unless a caller names another number."""
MAX_MATCHED = 120
"""How many of the best keyword hits are ranked."""
MAX_NEAREST = 40
"""How many of the nearest vectors are."""
MAX_SPREAD = 10
"""How many of both bring the turns next to them."""
MEAN_SHARE = 0.5
"""The share of the mean of all vectors that is taken out of the cosine of a memory that is no turn."""
FADING_SHARE = 0.005
"""What strength and recency add, each: they decide between equals."""
COMMON_WORD_SHARE = 0.1
"""A word in more memories than this share, within both bounds, is left out of a query with rarer ones."""
MIN_COMMON_ROWS, MAX_COMMON_ROWS = 1_000, 4_000
MIN_COUNTED_MEMORIES = 200
"""How many memories a store counts as at least, so that in a small one a word is not common at once."""
MIN_PASSING = 0.25
"""Where a smaller share of the matches passes the filters, both searches begin again among the rows that pass."""
MAX_LOOKED_THROUGH = 20_000
"""How many rows at most are looked through where a filter leaves few of the best."""
RERANKED_FACTOR = 4
"""How many times the limit is offered to the reranker."""
RELEVANT_WORDS, RELEVANT_COSINE, RELEVANT_SHARE = 0.35, 0.38, 0.35
"""What a prompt calls for: these words or this cosine, and this share of the best score."""
RETRIEVE_SECONDS = 0.15
"""How long a prompt waits for an embedding."""
COUNTING_SECONDS = 0.25
"""How long a recall waits for a writer, to count its accesses."""
UNLOADED_ROLES = ("tool", "assistant")
"""Whose words no conversation starts with."""
CONTEXT_TOKENS = 2_000
"""What memory may add where a conversation starts, unless a caller or a policy names another budget."""
FRAME_TOKENS = 80
"""Of it, what goes to the lines around the memories; half of a small one."""
MAX_FITTING = 20
"""How many memories at most are there because they fit a prompt."""
TOKEN_CHARACTERS = 4
LINE_TOKENS = 12
"""About how many tokens the date and the type of a line have."""
RECENT_SECONDS = 100 * DAY_SECONDS
"""After these, the recency of a memory is 1 / e."""
SCRIPTLING_DAYS = 30.0
"""When scriptling's recency is 0."""
RERANK_SECONDS = 20.0


def recall(  # noqa: PLR0913 - each is one property of a recall
    tables: FactTables,
    text: str,
    query: RecallQuery,
    *,
    limit: int,
    budget: int | None = None,
    weights: Mapping[str, float] | None = None,
    seconds: float = WRITING_SECONDS,
) -> list[Recalled]:
    """Return what best answers a query, best first; of an empty one, the strongest and newest.

    `weights` replace those of the policy.
    """
    if limit == 0 or (query.scopes is not None and not query.scopes):
        return []
    weights = tables.policy.weights if weights is None else weights
    scores = _scores(tables, text, query, weights, seconds)
    best = sorted(scores, key=lambda row: (-scores[row].total, -row))
    if limit > 0:  # a budget is filled from more than the limit: long memories may not fit
        best = best[: limit if budget is None else RERANKED_FACTOR * limit]
    kept = memories.by_row(tables.database, best)
    related = triples.of_rows(tables.database, best)
    found = [
        Recalled(kept[row], scores[row], day(kept[row].valid_from), related.get(row, ()))
        for row in best
        if row in kept
    ]
    if budget is not None:
        if tables.rerank is not None and text.strip() and sum(map(_tokens, found)) > budget:
            from hippocampus.models.bounded import within

            texts = [result.memory.content for result in found]
            values = within(RERANK_SECONDS, tables.rerank, text, texts)
            if values is not None and len(list(values)) == len(found):
                order = sorted(range(len(found)), key=lambda place: -values[place])
                found = [found[place] for place in order]
        found = within_budget(found, budget)
        found = found[:limit] if limit > 0 else found
    return found


def _scores(
    tables: FactTables, text: str, query: RecallQuery, weights: Mapping[str, float], seconds: float
) -> dict[int, Score]:
    """Return the scores of the rows that are not too weak to be returned."""
    if not text.strip():
        rows = search.passing(tables.database, query)
        return {
            row: score._replace(total=score.strength + 0.5 * score.recency)
            for row, score in _strong(tables, query, rows.values()).items()
        }
    found = find(tables, text, query, whole=bool(weights), seconds=seconds)
    if weights:
        return _by_formula(tables, text, query, found, weights)
    scores = relevance(found, content_words(text))
    kept = _strong(tables, query, (found.rows[row] for row in scores))
    for row, faded in kept.items():
        value, keyword = scores[row]
        own = max(0.0, found.cosines.get(row, 0.0))
        total = value + FADING_SHARE * (faded.strength + faded.recency)
        kept[row] = faded._replace(total=total, keyword=keyword, vector=own)
    return kept


def _by_formula(
    tables: FactTables, text: str, query: RecallQuery, found: Matches, formula: Mapping[str, float]
) -> dict[int, Score]:
    """Return the scores of another store: the weighted parts, where a row has a word or a cosine.

    Without a vector the share of words counts for the cosine; scriptling's recency is linear.
    """
    total = sum(found.weights) or 1.0
    words = {
        row: sum(found.weights[at] for at in held) / total for row, held in found.words.items()
    }
    rows = [one for one in found.rows.values() if words.get(one.row) or found.cosines.get(one.row)]
    kept = _strong(tables, query, rows)
    from hippocampus.facts.topics import similarities

    # Likeness is computed for the rows that have a word or a cosine only: it reads their whole texts.
    is_linear = "minhash" in formula
    alike = similarities(text, memories.by_row(tables.database, kept)) if is_linear else {}
    for row, faded in kept.items():
        share = words.get(row, 0.0)
        parts = faded._replace(
            keyword=share,
            vector=max(0.0, found.cosines.get(row, share)),
            minhash=alike.get(row, 0.0),
        )
        if is_linear:
            age_days = (query.seen_from - found.rows[row].created) / DAY_SECONDS
            recent = max(0.0, 1.0 - max(0.0, age_days) / SCRIPTLING_DAYS)
            parts = parts._replace(recency=recent)
        value = sum(weight * getattr(parts, name) for name, weight in formula.items())
        kept[row] = parts._replace(total=value)
    return kept


def _strong(tables: FactTables, query: RecallQuery, rows: Iterable[RankedRow]) -> dict[int, Score]:
    """Return strength, recency and importance of the rows that are not too weak to be returned."""
    policy, at = tables.policy, query.seen_from
    kept = {}
    for one in rows:
        left = policy.strength(one.type, one.intensity, one.accesses, at - one.accessed)
        if left >= policy.hide_below:
            recent = math.exp(-max(0.0, at - one.created) / RECENT_SECONDS)
            kept[one.row] = Score(0.0, strength=left, recency=recent, importance=one.intensity)
    return kept


def relevant(found: Sequence[Recalled], prompt: str) -> list[Recalled]:
    """Return the recalled memories that a prompt calls for: by words, by meaning, or by naming their subject.

    The subject is that of a triple, or a name with which one of the texts begins: a correction may name it later.
    """
    best = max((result.score.total for result in found), default=0.0)
    asked = set(content_words(prompt))
    texts = {result.memory.id: content_words(result.memory.content) for result in found}
    first = {word for text in texts.values() for word in text[:1]}
    subjects = asked & names(prompt) & first
    return [
        result
        for result in found
        if result.score.total >= RELEVANT_SHARE * best
        and (
            result.score.keyword >= RELEVANT_WORDS
            or result.score.vector >= RELEVANT_COSINE
            or any(asked.issuperset(words(key(triple.subject))) for triple in result.triples)
            or not subjects.isdisjoint(texts[result.memory.id])
        )
    ]


def confirm(tables: FactTables, ids: Iterable[str], at: float) -> None:
    """Count an access of memories, which strengthens them a little."""
    db = tables.database
    with db.transaction():
        for row, memory in memories.by_id(db, ids).values():
            boosted = max(memory.intensity, min(1.0, memory.intensity + tables.policy.boost))
            accesses, accessed = memory.accesses + 1, max(memory.accessed, at)
            memories.update(db, [row], intensity=boosted, accesses=accesses, accessed=accessed)


def count_accesses(tables: FactTables, found: Sequence[Recalled], at: float) -> None:
    """Confirm the results of a recall; a store that cannot be written, or not soon, counts nothing."""
    if found:
        with contextlib.suppress(StoreError), bounded(COUNTING_SECONDS):
            confirm(tables, [result.memory.id for result in found], at)


# Finding


def find(
    tables: FactTables, text: str, query: RecallQuery, *, whole: bool = False, seconds: float
) -> Matches:
    """Return the matches of words and meaning among the rows that pass the filters.

    Where the filters leave few of the best, both search again among the rows that pass. The vector is that of
    the `whole` text, or of the text without the names of who speaks, which a model takes for its subject.
    """
    db = tables.database
    terms = list(query_terms(text).values())
    most = int(min(MAX_COMMON_ROWS, max(MIN_COMMON_ROWS, COMMON_WORD_SHARE * db.memories())))
    rare = {
        term: there for term, there in search.having(db, terms, most).items() if len(there) < most
    }
    having = rare or {term: [] for term in terms}
    is_any = any(having.values())  # of any of the rare words; of all, where none is rare
    match = " OR ".join(having) if is_any else " AND ".join(f"({term})" for term in having)
    hits = search.matched(db, match, MAX_MATCHED) if having else []
    rows = search.passing(db, query, hits)
    if len(hits) == MAX_MATCHED and _are_few(hits, rows):
        hits = search.matched(db, " OR ".join(having), MAX_MATCHED, query)
        rows |= search.passing(db, query, hits)
    cosines: dict[int, float] = {}
    distinct: dict[int, float] = {}
    vectors = None
    if tables.embed is not None and tables.has_vectors:
        asked = content_words(text)
        speaking = named(speakers(rows.values()), asked)
        is_about = not whole and 0 < len(speaking) < len(asked)
        vectors = tables.embedded([without(text, speaking) if is_about else text], seconds)
    if vectors is not None:
        cosines = tables.vectors.nearest(vectors[0], MAX_NEAREST)
        rows |= search.passing(db, query, cosines)
        if len(cosines) == MAX_NEAREST and _are_few(cosines, rows):
            passing = search.newest_passing(db, query, MAX_LOOKED_THROUGH)
            among = tables.vectors.cosines(vectors[0], passing)
            cosines = dict(sorted(among.items(), key=lambda pair: -pair[1])[:MAX_NEAREST])
            rows |= search.passing(db, query, cosines)
    best = [*hits[:MAX_SPREAD], *list(cosines)[:MAX_SPREAD]]
    rows |= search.standing_at(db, places(rows[row] for row in best if row in rows), query)
    if vectors is not None:
        near = tables.vectors.cosines(vectors[0], rows.keys() - cosines.keys())
        cosines = {row: value for row, value in (cosines | near).items() if row in rows}
        single = [row for row in cosines if not rows[row].is_turn]
        distinct = tables.vectors.cosines(vectors[0], single, without_mean=MEAN_SHARE)
    held, weights = _words_held(tables, having, hits, rows)
    return Matches(rows, held, weights, cosines, distinct)


def _words_held(
    tables: FactTables,
    having: Mapping[str, Sequence[int]],
    hits: Collection[int],
    rows: Collection[int],
) -> tuple[dict[int, set[int]], list[float]]:
    """Return which of the query's words each row holds, by number, and how rare each word is."""
    count = max(MIN_COUNTED_MEMORIES, tables.database.memories())
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


def _are_few(found: Collection[int], rows: Collection[int]) -> bool:
    """Return whether so few of the matches pass the filters that it is worth to search again."""
    return sum(row in rows for row in found) < MIN_PASSING * len(found)


# Results


def load(  # noqa: PLR0913 - each is one filter
    tables: FactTables,
    prompt: str = "",
    *,
    token_budget: int = CONTEXT_TOKENS,
    limit: int | None = None,
    agent: str | None = None,
    scopes: Sequence[str] | None = None,
) -> tuple[list[Recalled], int]:
    """Return what a conversation starts with, within a budget, and the number of all preferences.

    It is what fits a prompt, the preferences, and the `limit` strongest others. Preferences get half
    of the budget before the others, and what these leave. Of a message and a statement taken out of it,
    the one that fits better is shown. Every door has this selection.
    """
    now = tables.clock()
    limit = LIMIT if limit is None else limit
    whose, times = agent or tables.agent, (now, now, now)
    query = RecallQuery(whose, *times, scopes, other_roles=UNLOADED_ROLES, hearsay=False)
    budget = token_budget - min(FRAME_TOKENS, token_budget // 2)
    # The score of another store has strength and recency too, which fit any prompt.
    fitting = recall(tables, prompt, query, limit=MAX_FITTING, weights={}) if prompt.strip() else []
    best = max((result.score.total for result in fitting), default=0.0)
    fitting = [result for result in fitting if result.score.total >= RELEVANT_SHARE * best]
    strongest = recall(tables, "", query, limit=-1)
    preferences = [result for result in strongest if result.memory.type == "preference"]
    others = [result for result in strongest if result.memory.type != "preference"]
    first = [result for result in [*fitting, *preferences] if result.memory.type == "preference"]
    once, shown = [], defaultdict[Origin, list[Memory]](list)
    for result in [*fitting, *(others if limit < 0 else others[:limit])]:
        memory = result.memory
        if not any(
            other.kind != memory.kind
            and (other.content in memory.content or memory.content in other.content)
            for other in shown[memory.origin]
        ):
            shown[memory.origin].append(memory)
            once.append(result)
    chosen = [*within_budget(first, budget // 2), *once, *preferences]
    return within_budget(chosen, budget), len(preferences)


def within_budget(found: Sequence[Recalled], budget: int) -> list[Recalled]:
    """Return what fits a budget of tokens when taken best first, no memory twice."""
    taken: dict[str, Recalled] = {}
    for result in found:
        if result.memory.id not in taken and (size := _tokens(result)) <= budget:
            taken[result.memory.id] = result
            budget -= size
    return list(taken.values())


def _tokens(result: Recalled) -> int:
    """Return about how many tokens a line of memory weighs: four characters or a wide one a token."""
    text = result.memory.content
    wide = 0 if text.isascii() else sum(sign > "\u2fff" for sign in text)
    return LINE_TOKENS + wide + (len(text) - wide) // TOKEN_CHARACTERS
