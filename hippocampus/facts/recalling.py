"""Recalling: a query to candidates by each channel, and the best of them as results.

Only reads, but for the count of accesses where the policy wants it.
"""

from __future__ import annotations

import contextlib
import heapq
import json
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hippocampus.errors import HippocampusError
from hippocampus.facts import minhash, search
from hippocampus.facts.claims import key
from hippocampus.facts.errors import FactError
from hippocampus.facts.fact_tables import Rooms
from hippocampus.facts.models import (
    EVERY_AGENT,
    PRESETS,
    Kind,
    Memory,
    Recalled,
    Rerank,
    Score,
    Weights,
)
from hippocampus.facts.strength import boosted
from hippocampus.facts.timestamps import day
from hippocampus.facts.words import content_words, match_terms, without, words

MATCHED = 120
"""How many of the best keyword hits are ranked."""
SPREAD = 20
"""How many of them lend their score to the turns beside them."""
NAME_CHARACTERS = 40
"""How long the name of a speaker may be, with the colon behind it."""
COMMON_SHARE, LEAST_COMMON_ROWS, MOST_COMMON_ROWS = 0.1, 1_000, 8_000
"""A word in more memories than this is left out of a query that has rarer ones."""
BESIDE = 80
"""How many turns beside hits are ranked."""
NEAREST = 80
RERANKED = 4
"""How many times the limit is offered to the reranker."""
FEW = 20_000
"""How many rows at most are looked through where a filter leaves few of the best."""
CHARACTERS_A_TOKEN = 4
log = logging.getLogger(__name__)

PLACE = "CASE role WHEN '' THEN turn WHEN 'user' THEN 2 * turn + 1 ELSE 2 * turn END"
"""Where a memory stands in its session: an answer and what the user says to it have one turn."""
LIGHT = (
    f"row, type, intensity, accesses, accessed, created, session, {PLACE},"
    " instr(content, '?') OR instr(content, '？'),"
    f" substr(content, 1, max(0, instr(substr(content, 1, {NAME_CHARACTERS}), ': ') - 1))"
)
Rows = dict[int, search.Candidate]


@dataclass(frozen=True, slots=True)
class Asked:
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

    @property
    def seen_from(self) -> float:
        """Return from when strength and recency count: as of a date, nothing has faded since."""
        return min(self.now, self.at, self.known)

    def condition(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on rows of `memory`, with its values."""
        parts = ["removed IS NULL"]
        values: list[Any] = []
        if not self.include_superseded:
            parts.append(
                "created <= ? AND valid_from <= ? AND (until IS NULL OR until > ?"
                " OR (known_until IS NOT NULL AND known_until > ?))"
            )
            values += [self.known, self.at, self.at, self.known]
        for sql, value in self._optional():
            parts.append(sql)
            values.append(value)
        return " AND ".join(parts), values

    def _optional(self) -> Iterable[tuple[str, Any]]:
        within = "IN (SELECT value FROM json_each(?))"
        if self.agent != EVERY_AGENT:
            yield "agent = ?", self.agent
        if self.scopes is not None:
            yield f"scope {within}", json.dumps(list(self.scopes))
        for column, names in (("type", self.types), ("role", self.roles)):
            wanted = [name for name in names if not name.startswith("!")]
            unwanted = [name[1:] for name in names if name.startswith("!")]
            if wanted:
                yield f"{column} {within}", json.dumps(wanted)
            if unwanted:
                yield f"{column} NOT {within}", json.dumps(unwanted)
        if self.kinds:
            yield f"kind {within}", json.dumps(list(self.kinds))
        for tag in self.tags:
            yield "EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", tag
        if self.since is not None:
            yield "valid_from >= ?", self.since
        if self.until is not None:
            yield "valid_from < ?", self.until


class Recalling:
    """Answers queries."""

    def __init__(self, rooms: Rooms, rerank: Rerank | None) -> None:
        self._rooms = rooms
        self._rerank = rerank
        self._common: dict[str, tuple[int, bool]] = {}
        self._last: tuple[str, Any] | None = None

    def recall(
        self, query: str, asked: Asked, *, limit: int, budget: int | None, weights: Weights
    ) -> list[Recalled]:
        """Return what best answers a query, best first."""
        if limit == 0 or (asked.scopes is not None and not asked.scopes):
            return []
        most = None if limit < 0 else limit if budget is None else RERANKED * limit
        if query.strip():
            scores = self.scores(query, asked, weights, most)
        else:
            scores = self._all(asked, weights, most)
        found = self._results(scores)
        if budget is not None:
            found = self._fitting(query, found, budget)
            found = found[:limit] if limit > 0 else found
        if self._rooms.policy.reinforce == "returned":
            self.confirm([result.memory for result in found], asked.now)
        return found

    def confirm(self, memories: Iterable[Memory], at: float) -> int:
        """Count an access of each memory, and strengthen it a little."""
        ids = {memory.id: memory for memory in memories}
        with self._rooms.database.transaction():
            rows = self._rooms.memories.by_id(ids)
            touched = [
                (row, boosted(self._rooms.policy, memory.intensity))
                for row, memory in rows.values()
            ]
            self._rooms.memories.touch(touched, at)
        return len(touched)

    def scores(
        self, query: str, asked: Asked, weights: Weights, most: int | None = None
    ) -> list[tuple[int, Score]]:
        """Return rows with scores, best first, of all that a channel finds."""
        channels, rows = self._found(query, asked, whole=weights.by_others == 1)
        if channels.vector and weights.one_similarity:
            channels.vector |= self.cosines(query, channels.rows())
        crowding = self._rooms.vectors.crowding(channels.vector)
        search.calibrate(channels, weights, crowding)
        weights = search.shared(weights, channels)
        if weights.neighbour:
            similar = search.similarities(channels, weights)
            channels.neighbour = self._neighbours(similar, rows, asked)
        if weights.minhash:
            channels.minhash = self._minhashes(query, rows)
        if weights.by_others < 1:
            channels.by_others = search.by_others(rows.values(), content_words(query))
        return search.ranked(
            rows.values(), channels, weights, self._rooms.policy, asked.seen_from, most
        )

    def candidates(self, query: str, asked: Asked) -> dict[int, Memory]:
        """Return all that a channel finds and the filters let pass, by row."""
        return self._rooms.memories.by_row(self._found(query, asked, whole=True)[1])

    def cosines(self, query: str, rows: Iterable[int]) -> dict[int, float]:
        """Return the cosine of a query with each row that has a vector."""
        vector = self._embedded(query)
        return {} if vector is None else self._rooms.vectors.cosines(vector, rows)

    # Channels -----------------------------------------------------------------------------------

    def _found(self, query: str, asked: Asked, *, whole: bool) -> tuple[search.Channels, Rows]:
        """Return what each channel finds, and the rows of it that pass the filters.

        Where the filters leave few of the best, the channels look again among what passes. The
        vector is that of the `whole` query, or of the query without the names of who speaks.
        """
        match = " OR ".join(self._telling(match_terms(query)))
        channels = search.Channels(triple=self._by_entity(query, asked))
        channels.keyword = self._keywords(match) if match else {}
        rows = self._light(channels.rows(), asked)
        if len(channels.keyword) == MATCHED and _few(channels.keyword, rows):
            channels.keyword = self._keywords_among(match, asked)
            rows |= self._light(channels.keyword, asked)
        vector = self._embedded(query if whole else self._meant(query, rows))
        if vector is None:
            return channels, rows
        channels.vector = self._nearest(vector)
        rows |= self._light(channels.vector.keys() - rows.keys(), asked)
        if len(channels.vector) == NEAREST and _few(channels.vector, rows):
            channels.vector = self._nearest_among(vector, asked)
            rows |= self._light(channels.vector, asked)
        return channels, rows

    def _meant(self, query: str, rows: Rows) -> str:
        """Return a query without the names of who speaks in rows, which are weighed by themselves.

        To a model such a name is most of a question, and near to all that only says the name.
        """
        asked = content_words(query)
        named = search.named(search.speakers(rows.values()), asked)
        return without(query, named) if 0 < len(named) < len(asked) else query

    def _embedded(self, query: str) -> Any:
        """Return the vector of a query; asked for again at once, the model is not called twice."""
        if not self._rooms.vectors.dimensions:
            return None
        if self._last is None or self._last[0] != query:
            vectors = self._rooms.embedded([query])
            if vectors is None:
                return None
            self._last = (query, vectors[0])
        return self._last[1]

    def _keywords(self, match: str) -> dict[int, float]:
        """Return BM25 by row, of the best."""
        return dict(
            self._rooms.database.rows(
                "SELECT rowid, -rank FROM memory_text WHERE memory_text MATCH ?"
                " ORDER BY rank LIMIT ?",
                (match, MATCHED),
            )
        )

    def _keywords_among(self, match: str, asked: Asked) -> dict[int, float]:
        """Return BM25 by row, of the best that pass the filters."""
        condition, values = asked.condition()
        return dict(
            self._rooms.database.rows(
                "SELECT memory_text.rowid, -bm25(memory_text) AS score FROM memory_text"  # noqa: S608 - names of ours
                " CROSS JOIN memory ON memory.row = memory_text.rowid"
                f" WHERE memory_text MATCH ? AND {condition} ORDER BY score DESC LIMIT ?",
                (match, *values, MATCHED),
            )
        )

    def _telling(self, terms: list[str]) -> list[str]:
        """Return the terms that are not in a great many memories; the rarest where all are."""
        last = self._rooms.database.value("SELECT max(row) FROM memory") or 0
        most = int(min(MOST_COMMON_ROWS, max(LEAST_COMMON_ROWS, COMMON_SHARE * last)))
        if last <= most or len(terms) < 2:
            return terms
        rare = [term for term in terms if not self._is_common(term, most)]
        return rare or [" AND ".join(terms)]

    def _is_common(self, term: str, most: int) -> bool:
        """Say whether a term is in so many memories; asked again when the store has grown by half."""
        known = self._common.get(term)
        if known is None or not known[0] <= most <= 1.5 * known[0]:
            count = self._rooms.database.value(
                "SELECT count(*) FROM (SELECT 1 FROM memory_text WHERE memory_text MATCH ? LIMIT ?)",
                (term, most),
            )
            known = self._common[term] = (most, count >= most)
        return known[1]

    def _nearest(self, vector: Any) -> dict[int, float]:
        """Return cosines by row, of the nearest."""
        found = self._rooms.vectors.nearest(vector)
        return dict(sorted(found.items(), key=lambda pair: -pair[1])[:NEAREST])

    def _nearest_among(self, vector: Any, asked: Asked) -> dict[int, float]:
        """Return cosines by row, of the nearest that pass the filters."""
        condition, values = asked.condition()
        rows = self._rooms.database.rows(
            f"SELECT row FROM memory WHERE {condition} ORDER BY row DESC LIMIT ?",  # noqa: S608 - names of ours
            (*values, FEW),
        )
        found = self._rooms.vectors.cosines(vector, [row for (row,) in rows])
        return dict(sorted(found.items(), key=lambda pair: -pair[1])[:NEAREST])

    def _by_entity(self, query: str, asked: Asked) -> dict[int, float]:
        """Return rows whose triples name an entity of the query, by how much of the query they say."""
        listed = words(query)
        names = {
            key(" ".join(listed[start : start + size]))
            for size in (1, 2, 3)
            for start in range(len(listed) - size + 1)
        } | {key(part) for part in re.findall(r"[\u3040-\u9fff\uac00-\ud7af]{2,4}", query)}
        rows = self._rooms.triples.named(asked.agent, names, MATCHED)
        if not rows:
            return {}
        wanted = content_words(query)
        found = self._rooms.database.rows(
            "SELECT triple.memory, s.name || ' ' || replace(triple.predicate, '_', ' ') || ' ' || o.name"
            " FROM triple JOIN entity s ON s.id = subject JOIN entity o ON o.id = object"
            " WHERE triple.memory IN (SELECT value FROM json_each(?))",
            (f"[{','.join(map(str, rows))}]",),
        )
        return {row: search.coverage(wanted, words(text)) ** 2 for row, text in found}

    def _light(self, rows: Iterable[int], asked: Asked) -> Rows:
        """Return what ranking needs of those rows that pass the filters."""
        if not rows:
            return {}
        condition, values = asked.condition()
        found = self._rooms.database.rows(
            "WITH wanted (number) AS (SELECT value FROM json_each(?))"  # noqa: S608 - names of ours
            f" SELECT {LIGHT} FROM wanted CROSS JOIN memory ON row = number WHERE {condition}",
            (f"[{','.join(map(str, rows))}]", *values),
        )
        return {row[0]: search.Candidate(*row) for row in found}

    def _neighbours(self, similar: dict[int, float], rows: Rows, asked: Asked) -> dict[int, float]:
        """Let the turns beside a hit share its score, and add those that no channel found."""
        placed: dict[tuple[str, int], float] = {}
        asking = set()
        for row in heapq.nlargest(SPREAD, similar, key=similar.__getitem__):
            one = rows.get(row)
            if one is not None and one.session and one.turn is not None:
                placed[one.session, one.turn] = similar[row]
                if one.asks:
                    asking.add((one.session, one.turn))
        near = search.spread(placed, asking)
        best = heapq.nlargest(BESIDE, near, key=near.__getitem__)
        return self._placed({place: near[place] for place in best}, rows, asked) if best else {}

    def _placed(
        self, near: dict[tuple[str, int], float], rows: Rows, asked: Asked
    ) -> dict[int, float]:
        """Return scores by row, and read the rows at places into `rows`."""
        condition, values = asked.condition()
        turns = [(session, turn, at) for session, at in near for turn in {at, at // 2}]
        found = self._rooms.database.rows(
            "WITH place AS (SELECT value ->> 0 AS s, value ->> 1 AS t, value ->> 2 AS p"  # noqa: S608 - names of ours
            f" FROM json_each(?)) SELECT {LIGHT} FROM place CROSS JOIN memory"
            f" ON session = s AND turn = t WHERE {PLACE} = p AND {condition}",
            (json.dumps(turns), *values),
        )
        beside = [search.Candidate(*row) for row in found]
        rows.update({one.row: one for one in beside})
        return {one.row: near[one.session, one.turn or 0] for one in beside}

    def _minhashes(self, query: str, candidates: Rows) -> dict[int, float]:
        """Return the estimated similarity of each candidate."""
        found = self._rooms.signatures(candidates)
        if not found:
            return {}
        matrix = np.stack(list(found.values()))
        values = minhash.similarities(minhash.signatures([query])[0], matrix)
        return dict(zip(found, values.tolist(), strict=True))

    # Results --------------------------------------------------------------------------------------

    def _all(self, asked: Asked, weights: Weights, most: int | None) -> list[tuple[int, Score]]:
        """Return every row that passes the filters, strongest and newest first."""
        condition, values = asked.condition()
        rows = self._rooms.database.rows(f"SELECT {LIGHT} FROM memory WHERE {condition}", values)  # noqa: S608 - names of ours
        plain = Weights(
            strength=1.0,
            recency=0.5,
            recency_days=weights.recency_days,
            recency_linear=weights.recency_linear,
        )
        found = [search.Candidate(*row) for row in rows]
        return search.ranked(
            found, search.Channels(), plain, self._rooms.policy, asked.seen_from, most
        )

    def _results(self, scores: list[tuple[int, Score]]) -> list[Recalled]:
        memories = self._rooms.memories.by_row(row for row, _ in scores)
        triples = self._rooms.triples.of_rows([row for row, _ in scores])
        return [
            Recalled(memories[row], score, day(memories[row].valid_from), triples.get(row, ()))
            for row, score in scores
            if row in memories
        ]

    def _fitting(self, query: str, found: list[Recalled], budget: int) -> list[Recalled]:
        """Return what fits a budget of tokens, chosen by the reranker where all does not fit."""
        sizes = [tokens_of(result.memory.content) for result in found]
        if sum(sizes) > budget and self._rerank is not None and query.strip():
            found = self._reranked(query, found)
            sizes = [tokens_of(result.memory.content) for result in found]
        return [found[place] for place in search.within_budget(sizes, budget)]

    def _reranked(self, query: str, found: list[Recalled]) -> list[Recalled]:
        """Order results by the reranker; where it fails, the order of scores stays."""
        if self._rerank is None:
            return found
        with contextlib.suppress(HippocampusError, OSError, TimeoutError, ValueError):
            values = list(self._rerank(query, [result.memory.content for result in found]))
            if len(values) == len(found):
                order = sorted(range(len(found)), key=lambda place: -values[place])
                return [found[place] for place in order]
        log.warning("reranking failed; the order of scores stays")
        return found


def _few(found: dict[int, float], rows: Rows) -> bool:
    """Say whether filters let pass less than a quarter of what was found."""
    return sum(row in rows for row in found) < len(found) // 4


def weights_of(preset: str | Weights) -> Weights:
    """Return the weights of a preset's name, or weights as they are.

    Raises:
        FactError: there is no preset of that name.

    """
    if isinstance(preset, Weights):
        return preset
    if preset not in PRESETS:
        raise FactError(f"unknown preset {preset!r}; known are {', '.join(PRESETS)}")
    return PRESETS[preset]


def tokens_of(text: str) -> int:
    """Return about how many tokens a line of memory weighs: characters by four, wide ones each."""
    wide = 0 if text.isascii() else sum(sign > "\u2fff" for sign in text)
    return 8 + wide + (len(text) - wide) // CHARACTERS_A_TOKEN
