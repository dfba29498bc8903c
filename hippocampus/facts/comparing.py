"""Which kept claims are close to one that is to be remembered, and what it is to each of them.

Only reads; what follows is done where things are remembered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hippocampus.facts import minhash
from hippocampus.facts.claims import Claim, Relation, parse
from hippocampus.facts.conflict import Closeness, Relationship, Verdict, compare, differences
from hippocampus.facts.fact_tables import Matrix, Rooms
from hippocampus.facts.models import UNTRUSTED, Item, Kind, Memory, Triple

OPPOSITES = 4
"""How many rows with the same words, denied or not, are compared whatever their closeness."""
SKETCHED = 32
"""How many rows that share a band are compared."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One text that is to be kept, with what is known of it before the file is asked."""

    item: Item
    kind: Kind
    type: str
    intensity: float
    raw: str
    claim: Claim
    relations: tuple[Relation, ...]
    signature: minhash.Signature | None = None
    bands: tuple[str, ...] = ()
    vector: Matrix | None = None


@dataclass(slots=True)
class Chunk:
    """What is written together, and seen by later items of the same chunk before it is indexed."""

    agent: str
    next_row: int
    hashes: set[int] = field(default_factory=set)
    """Of the contents that are there; what is not among them is not looked up."""
    rows: dict[int, Wanted] = field(default_factory=dict)
    by_band: dict[str, list[int]] = field(default_factory=dict)
    judged: dict[tuple[str, str], Relationship] | None = None
    open_pairs: list[tuple[str, str]] = field(default_factory=list)


class Comparing:
    """Compares claims with those that are kept; `asks` says that a model judges what is open."""

    def __init__(self, rooms: Rooms, *, asks: bool) -> None:
        self._rooms = rooms
        self._asks = asks

    def verdicts(self, wanted: Wanted, memory: Memory, chunk: Chunk) -> dict[int, Verdict]:
        """Return what a claim is to each row that is close to it, closest first."""
        rivals = [
            row
            for relation in wanted.relations
            for row in self._rooms.triples.rivals(memory, relation)
        ]
        close = self._close(wanted, chunk)
        rows = dict.fromkeys([*close, *rivals])
        found = self._rooms.memories.by_row(rows)
        verdicts = {}
        for row in rows:
            old = found.get(row)
            if old is None or not _comparable(old, memory):
                continue
            if row not in rivals and old.type != memory.type:
                continue
            verdict = self._verdict(wanted, row, old, close.get(row, Closeness(0.0)), chunk)
            verdicts[row] = _trusted(verdict, old, memory)
        return verdicts

    def _verdict(
        self, wanted: Wanted, row: int, old: Memory, closeness: Closeness, chunk: Chunk
    ) -> Verdict:
        claims = [
            replace(wanted.claim, relation=relation) for relation in wanted.relations or (None,)
        ]
        olds = [
            replace(parse(old.content), relation=relation) for relation in self._relations(row, old)
        ]
        policy = self._rooms.policy
        found = [compare(new, past, closeness, policy) for new in claims for past in olds]
        verdict = min(found, key=lambda verdict: _ORDER[verdict.relationship])
        if verdict.relationship is not Relationship.UNCLEAR or not self._asks:
            return verdict
        pair = (wanted.item.content, old.content)
        chunk.open_pairs.append(pair)
        said = (chunk.judged or {}).get(pair)
        if said is None or (said is Relationship.DUPLICATE and differences(*pair)):
            return verdict
        return Verdict(said, "the model says so")

    def _relations(self, row: int, old: Memory) -> Sequence[Relation | None]:
        """Return what a kept claim says, as its triples; `whole` is known from its text."""
        said = parse(old.content).relation
        kept = self._rooms.triples.of_rows([row]).get(row, ())
        return [
            _relation_of(triple, whole=said is None or said.whole)
            for triple in kept
            if triple.known_until is None
        ] or [None]

    def _close(self, wanted: Wanted, chunk: Chunk) -> dict[int, Closeness]:
        """Return the rows whose text is close to a claim, with how close, closest first."""
        if wanted.signature is None:
            return {}
        rows = self._rooms.memories.sketched(wanted.bands, SKETCHED)
        rows += [row for band in wanted.bands for row in chunk.by_band.get(band, ())[-4:]]
        alike = self._alike(wanted.signature, dict.fromkeys(rows), chunk)
        own = self._rooms.memories.sketched(wanted.bands[-1:], OPPOSITES)
        own += chunk.by_band.get(wanted.bands[-1], ())[-OPPOSITES:]
        alike = {**dict.fromkeys(own, 0.0), **alike}
        cosines = self._cosines(wanted, chunk)
        found = {
            row: Closeness(alike.get(row, 0.0), cosines.get(row)) for row in {**alike, **cosines}
        }
        return dict(
            sorted(found.items(), key=lambda pair: -max(pair[1].minhash, pair[1].cosine or 0))
        )

    def _alike(
        self, signature: minhash.Signature, rows: Iterable[int], chunk: Chunk
    ) -> dict[int, float]:
        own = {row: chunk.rows[row].signature for row in rows if row in chunk.rows}
        listed = {row: sign for row, sign in own.items() if sign is not None}
        missing = [row for row in rows if row not in own]
        if missing:
            listed |= self._rooms.signatures(missing)
        if not listed:
            return {}
        values = minhash.similarities(signature, np.stack(list(listed.values())))
        best = sorted(zip(listed, values.tolist(), strict=True), key=lambda pair: -pair[1])
        least = self._rooms.policy.new_minhash
        return {
            row: value for row, value in best[: self._rooms.policy.candidates * 2] if value >= least
        }

    def _cosines(self, wanted: Wanted, chunk: Chunk) -> dict[int, float]:
        if wanted.vector is None:
            return {}
        found = self._rooms.vectors.nearest(wanted.vector, 64)
        for row, other in chunk.rows.items():
            if other.vector is not None and other.kind == "fact":
                found[row] = float(wanted.vector @ other.vector)
        best = sorted(found.items(), key=lambda pair: -pair[1])[: self._rooms.policy.candidates]
        return {row: value for row, value in best if value >= self._rooms.policy.new_cosine}


_ORDER = {
    Relationship.SUPERSEDES: 0,
    Relationship.DUPLICATE: 1,
    Relationship.EXTENDS: 2,
    Relationship.UNCLEAR: 3,
    Relationship.DISTINCT: 4,
}


def _trusted(verdict: Verdict, old: Memory, new: Memory) -> Verdict:
    """Let a tool's claim end or reword nothing that somebody else said: content is data."""
    ends = verdict.relationship in {Relationship.SUPERSEDES, Relationship.EXTENDS}
    if ends and new.origin.role == UNTRUSTED and old.origin.role != UNTRUSTED:
        return Verdict(Relationship.UNCLEAR, "a tool says otherwise, which ends nothing")
    return verdict


def _comparable(old: Memory, new: Memory) -> bool:
    return (
        old.kind == "fact"
        and old.agent == new.agent
        and old.scope == new.scope
        and old.known_until is None
        and old.removed is None
    )


def _relation_of(triple: Triple, *, whole: bool) -> Relation:
    return Relation(triple.subject, triple.predicate, triple.object, triple.negated, whole=whole)
