"""Keeping house: what compaction takes away, what can come back, what goes for good, and counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from hippocampus.errors import ProviderError
from hippocampus.facts import llm_judge, minhash
from hippocampus.facts.claims import parse
from hippocampus.facts.conflict import Closeness, Relationship, compare, differences
from hippocampus.facts.errors import FactError
from hippocampus.facts.fact_tables import Rooms
from hippocampus.facts.memories import COLUMNS, for_agent, memory_of
from hippocampus.facts.models import Compaction, Complete, Kind, Memory, Stats
from hippocampus.facts.strength import due_for_pruning

CURRENT = "removed IS NULL AND known_until IS NULL AND (until IS NULL OR until > ?)"
LARGEST_BUCKET = 24
MOST_JUDGED = 50
EMBEDDED_AT_ONCE = 256
REMADE = "reembedding"


class Upkeep:
    """Compaction, purge, restoring, listing."""

    def __init__(self, rooms: Rooms, complete: Complete | None) -> None:
        self._rooms = rooms
        self._db = rooms.database
        self._complete = complete

    def compact(self, agent: str, *, dry_run: bool, keep: Collection[str] = ()) -> Compaction:
        """Take away what has faded and what another says too; it stays restorable until `purge`.

        The ids in `keep` do not fade.
        """
        now = self._rooms.clock()
        current = self._current(agent, now)
        due = self._due(current, now)
        pruned = {row: reason for row, reason in due.items() if current[row].id not in keep}
        kept = {row: memory for row, memory in current.items() if row not in pruned}
        merged = self._twins(kept)
        if not dry_run:
            with self._db.transaction():
                gone: list[tuple[int, str, str | None]] = [
                    (row, reason, None) for row, reason in pruned.items()
                ]
                gone += [(row, "merged", kept[winner].id) for row, winner in merged.items()]
                self._rooms.memories.remove(gone, now)
                for row in merged:
                    self._rooms.triples.end(row, kept[row].valid_from, now)
        return Compaction(
            tuple(current[row].id for row in pruned),
            tuple(kept[row].id for row in merged),
            len(current) - len(pruned) - len(merged),
            dry_run,
        )

    def _current(self, agent: str, now: float) -> dict[int, Memory]:
        condition, values = for_agent(agent)
        rows = self._db.rows(
            f"SELECT {COLUMNS} FROM memory WHERE {CURRENT} AND {condition} ORDER BY row",  # noqa: S608 - names of ours
            (now, *values),
        )
        return {row[0]: memory_of(row) for row in rows}

    def _due(self, current: dict[int, Memory], now: float) -> dict[int, str]:
        policy = self._rooms.policy
        reasons = {
            row: due_for_pruning(policy, m.type, m.intensity, m.accesses, m.accessed, now)
            for row, m in current.items()
        }
        return {row: reason for row, reason in reasons.items() if reason is not None}

    def _twins(self, kept: dict[int, Memory]) -> dict[int, int]:
        """Return which rows say what another row says, with that row."""
        losers: dict[int, int] = {}
        open_pairs: list[tuple[int, int]] = []
        for one, other, closeness in self._pairs(kept):
            if one in losers or other in losers:
                continue
            new, old = parse(kept[other].content), parse(kept[one].content)
            said = compare(new, old, closeness, self._rooms.policy).relationship
            if said is Relationship.DUPLICATE:
                losers[other] = one
            elif said is Relationship.EXTENDS:
                losers[one] = other
            elif said is Relationship.UNCLEAR and not differences(new.text, old.text):
                open_pairs.append((one, other))
        return losers | self._judged(open_pairs, kept, losers)

    def _pairs(self, kept: dict[int, Memory]) -> Iterator[tuple[int, int, Closeness]]:
        """Return pairs of rows of one agent, scope, kind and type that share a band, once each."""
        rows = list(kept)
        signs = dict(zip(rows, minhash.signatures([kept[r].content for r in rows]), strict=True))
        buckets: dict[tuple[str, ...], list[int]] = {}
        for row, sign in signs.items():
            memory = kept[row]
            for band in minhash.bands(sign, 0):
                same = (band, memory.agent, memory.scope, memory.kind, memory.type)
                buckets.setdefault(same, []).append(row)
        seen = set()
        for bucket in buckets.values():
            for place, one in enumerate(bucket[:LARGEST_BUCKET]):
                for other in bucket[place + 1 : LARGEST_BUCKET]:
                    if (one, other) not in seen:
                        seen.add((one, other))
                        alike = minhash.similarities(signs[one], signs[other][None])[0]
                        yield one, other, Closeness(float(alike))

    def _judged(
        self, pairs: list[tuple[int, int]], kept: dict[int, Memory], losers: dict[int, int]
    ) -> dict[int, int]:
        asked = pairs[:MOST_JUDGED]
        if self._complete is None or not asked:
            return {}
        texts = [(kept[other].content, kept[one].content) for one, other in asked]
        answer = llm_judge.asked(self._complete, llm_judge.question(texts))
        answers = llm_judge.verdicts(answer, len(asked))
        return {
            other: one
            for (one, other), said in zip(asked, answers, strict=True)
            if said is Relationship.DUPLICATE and other not in losers and one not in losers
        }

    # Back and away ------------------------------------------------------------------------------

    def restore(self, ids: Iterable[str]) -> list[Memory]:
        """Bring back what was superseded or removed."""
        with self._db.transaction():
            found = self._rooms.memories.by_id(ids)
            rows = [row for row, memory in found.values() if memory.superseded_by or memory.removed]
            self._rooms.reopen(rows)
            return list(self._rooms.memories.by_row(rows).values())

    def purge(self, agent: str, before: float | None, *, dry_run: bool) -> list[Memory]:
        """Delete for good what is superseded or removed, and return it."""
        condition, values = for_agent(agent)
        sql = (
            f"SELECT {COLUMNS} FROM memory WHERE (superseded_by IS NOT NULL OR removed IS NOT NULL)"  # noqa: S608 - names of ours
            f" AND {condition} AND (? OR created < ?)"
        )
        with self._db.transaction():
            rows = self._db.rows(sql, (*values, before is None, before or 0.0))
            gone = {row[0]: memory_of(row) for row in rows}
            if not dry_run:
                self._rooms.delete(gone)
        return list(gone.values())

    # Looking ------------------------------------------------------------------------------------

    def memories(  # noqa: PLR0913 - each is one thing to say
        self,
        agent: str,
        *,
        kind: Kind | None,
        superseded: bool,
        removed: bool,
        before: float | None,
        limit: int,
        containing: str = "",
    ) -> list[Memory]:
        """List memories, newest first."""
        condition, values = for_agent(agent)
        parts = [condition, "(? IS NULL OR kind = ?)", "(? IS NULL OR created < ?)"]
        if not superseded:
            parts.append("(known_until IS NULL OR removed IS NOT NULL)")
        if not removed:
            parts.append("removed IS NULL")
        if containing:
            self._fold()
            parts.append("instr(folded(content), folded(?)) > 0")
        rows = self._db.rows(
            f"SELECT {COLUMNS} FROM memory WHERE {' AND '.join(parts)}"  # noqa: S608 - names of ours
            " ORDER BY created DESC, row DESC LIMIT ?",
            (*values, kind, kind, before, before, *([containing] if containing else []), limit),
        )
        return [memory_of(row) for row in rows]

    def _fold(self) -> None:
        """Give SQL a function that folds the case of every script; its own knows ASCII only."""
        with self._db.guarded():
            self._db.connection.create_function("folded", 1, str.casefold, deterministic=True)

    def history(self, memory_id: str) -> list[Memory]:
        """Return a memory and all that it superseded, newest first."""
        rows = self._db.rows(
            "WITH RECURSIVE past(id) AS (SELECT ? UNION SELECT memory.id FROM memory JOIN past"  # noqa: S608 - names of ours
            f" ON superseded_by = past.id) SELECT {COLUMNS} FROM memory WHERE id IN past"
            " ORDER BY valid_from DESC, row DESC",
            (memory_id,),
        )
        return [memory_of(row) for row in rows]

    def agents(self) -> dict[str, int]:
        """Return how many memories each agent has, superseded ones too; 0 where it has blocks alone."""
        sql = (
            "SELECT agent, sum(n) FROM (SELECT agent, count(*) AS n FROM memory GROUP BY agent"
            " UNION ALL SELECT DISTINCT agent, 0 FROM block) GROUP BY agent ORDER BY agent"
        )
        return dict(self._db.rows(sql))

    def count(self, agent: str) -> int:
        """Return how many current memories an agent has."""
        condition, values = for_agent(agent)
        sql = f"SELECT count(*) FROM memory WHERE {CURRENT} AND {condition}"  # noqa: S608 - names of ours
        return int(self._db.value(sql, (self._rooms.clock(), *values)))

    def stats(self, blocks: int) -> Stats:
        """Return how much is kept."""
        now = self._rooms.clock()
        current = self._db.rows(
            f"SELECT kind, count(*) FROM memory WHERE {CURRENT} GROUP BY kind ORDER BY kind",  # noqa: S608 - names of ours
            (now,),
        )
        pages, size = (self._db.value(f"PRAGMA {name}") for name in ("page_count", "page_size"))
        return Stats(
            current=dict(current),
            superseded=self._db.value(
                "SELECT count(*) FROM memory WHERE superseded_by IS NOT NULL AND removed IS NULL"
            ),
            removed=self._db.value("SELECT count(*) FROM memory WHERE removed IS NOT NULL"),
            triples=self._db.value("SELECT count(*) FROM triple"),
            blocks=blocks,
            agents=self.agents(),
            embedding_model=self._db.meta("embedding_model"),
            bytes=pages * size,
        )

    # Embedding anew -----------------------------------------------------------------------------

    def reembed(self) -> Iterator[tuple[int, int]]:
        """Embed all with the model given, yielding (done, all); a stopped run goes on where it was."""
        model = self._rooms.embed_model
        if model is None:
            raise FactError("there is no embedding model to embed with")
        if self._db.meta(REMADE) != model and self._db.meta("embedding_model") != model:
            self._rooms.vectors.clear()
            self._db.run("UPDATE memory SET embedding_model = NULL")
            self._db.set_meta(REMADE, model)
        total = int(self._db.value("SELECT count(*) FROM memory"))
        while rows := self._without_vector():
            self._embed(rows, model)
            left = self._db.value("SELECT count(*) FROM memory WHERE embedding_model IS NULL")
            yield total - left, total
        self._db.run("DELETE FROM meta WHERE key = ?", (REMADE,))

    def _without_vector(self) -> dict[int, str]:
        return dict(
            self._db.rows(
                "SELECT row, content FROM memory WHERE embedding_model IS NULL ORDER BY row LIMIT ?",
                (EMBEDDED_AT_ONCE,),
            )
        )

    def _embed(self, rows: dict[int, str], model: str) -> None:
        vectors = self._rooms.embedded(list(rows.values()))
        if vectors is None:
            raise ProviderError("the embedding model failed; run it again to go on from here")
        with self._db.transaction():
            self._rooms.put_vectors(dict(zip(rows, vectors, strict=True)))
            self._rooms.memories.embedded(rows, model)
