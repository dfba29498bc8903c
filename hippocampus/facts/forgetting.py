"""Deleting, replacing and taking in memories as they are: the changes that ask no rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from hippocampus.facts import minhash, search
from hippocampus.facts.claims import parse
from hippocampus.facts.conflict import likeness
from hippocampus.facts.errors import FactError
from hippocampus.facts.fact_tables import Matrix, Rooms
from hippocampus.facts.models import Action, Memory, Outcome, Recalled
from hippocampus.facts.recalling import Asked, Recalling
from hippocampus.facts.timestamps import day, optional_seconds, within_dates
from hippocampus.facts.words import content_words, words


class Forgetting:
    """Changes memories by id or by meaning."""

    def __init__(self, rooms: Rooms, recalling: Recalling) -> None:
        self._rooms = rooms
        self._recalling = recalling

    def delete(self, ids: Iterable[str]) -> list[Memory]:
        """Delete for good, and bring back what these had superseded."""
        with self._rooms.database.transaction():
            gone = dict(self._rooms.memories.by_id(ids).values())
            self._rooms.delete(gone)
        return list(gone.values())

    def forget(
        self, query: str, asked: Asked, threshold: float, most: int, *, dry_run: bool
    ) -> list[Recalled]:
        """Delete the memory of an id, or what a query means, closest first."""
        if most < 0:
            raise FactError(f"max_deleted is {most}; it is 0 or more")
        named = self._rooms.memories.by_id([query.strip()])
        found = [Recalled(m, search.NO_SCORE, day(m.valid_from)) for _, m in named.values()]
        if not named:
            found = self._matching(query, asked, threshold)[:most]
        if not dry_run:
            self.delete([result.memory.id for result in found])
        return found

    def _matching(self, query: str, asked: Asked, threshold: float) -> list[Recalled]:
        """Return what is at least as close to a query as the threshold, closest first."""
        if not query.strip():
            return []
        candidates = self._recalling.candidates(query, asked)
        cosines = self._recalling.cosines(query, candidates)
        wanted = content_words(query)
        close = {
            row: cosines[row] if row in cosines else search.coverage(wanted, words(memory.content))
            for row, memory in candidates.items()
        }
        ordered = sorted((row for row in close if close[row] >= threshold), key=lambda r: -close[r])
        return [
            Recalled(
                candidates[row],
                replace(search.NO_SCORE, total=close[row]),
                day(candidates[row].valid_from),
            )
            for row in ordered
        ]

    def update(self, memory_id: str, content: str) -> Memory:
        """Put another content in a memory's place."""
        if why := self._rooms.refusal(content):
            raise FactError(f"the new content cannot be kept: {why}")
        vectors = self._rooms.embedded([content])
        with self._rooms.database.transaction():
            found = self._rooms.memories.by_id([memory_id])
            if not found:
                raise FactError(f"there is no memory {memory_id!r}")
            row, old = found[memory_id]
            self._sketch_anew(row, old, content)
            self._rooms.vectors.drop([row])
            if vectors is not None:
                self._rooms.put_vectors({row: vectors[0]})
                self._rooms.memories.embedded([row], self._rooms.embed_model)
            self._retell(row, self._rooms.memories.by_row([row])[row])
            return self._rooms.memories.by_row([row])[row]

    def _sketch_anew(self, row: int, old: Memory, content: str) -> None:
        """Write a content with its signature, and for a fact the bands by which it is compared."""
        before, after = minhash.signatures([old.content, content])
        memories = self._rooms.memories
        memories.rewrite(row, old, content, minhash.packed(after))
        if old.kind == "fact":
            memories.unsketch([(row, _bands(before, old))])
            memories.sketch([(row, _bands(after, old))])

    def _retell(self, row: int, memory: Memory) -> None:
        """Write the triple of a fact's text anew."""
        self._rooms.triples.delete([row])
        relation = parse(memory.content).relation if memory.kind == "fact" else None
        if relation is not None:
            self._rooms.triples.add(row, memory, relation)

    def take_in(
        self, memories: Iterable[Memory], embeddings: Mapping[str, Matrix], model: str | None
    ) -> list[Outcome]:
        """Write memories as they are; those whose id is there, or whose dates are none, are refused."""
        listed = list(memories)
        with self._rooms.database.transaction():
            known = set(self._rooms.memories.by_id(memory.id for memory in listed))
            row = self._rooms.memories.next_row()
            outcomes: list[Outcome] = []
            new: dict[int, Memory] = {}
            for memory in listed:
                if reason := _unfit(memory, known):
                    outcomes.append(Outcome(Action.REFUSED, reason, memory))
                    continue
                known.add(memory.id)
                new[row + len(new)] = memory
                outcomes.append(Outcome(Action.ADDED, "taken in", memory))
            self._write(new, embeddings, model)
        return outcomes

    def _write(
        self, new: dict[int, Memory], embeddings: Mapping[str, Matrix], model: str | None
    ) -> None:
        rooms = self._rooms
        held = rooms.database.meta("embedding_model")
        model = model or held or rooms.embed_model
        vectors = {row: embeddings[m.id] for row, m in new.items() if m.id in embeddings}
        signs = dict(zip(new, minhash.signatures([m.content for m in new.values()]), strict=True))
        rooms.memories.insert(
            [
                (
                    row,
                    replace(m, embedding_model=model if row in vectors else None),
                    minhash.packed(signs[row]),
                )
                for row, m in new.items()
            ]
        )
        facts = {row: memory for row, memory in new.items() if memory.kind == "fact"}
        rooms.memories.sketch((row, _bands(signs[row], fact)) for row, fact in facts.items())
        rooms.memories.index((row, memory.content) for row, memory in new.items())
        for row, memory in new.items():
            self._retell(row, memory)
        if vectors and model is not None:
            rooms.vectors.lock(model, len(next(iter(vectors.values()))))
            rooms.vectors.put(vectors)


def _unfit(memory: Memory, known: Collection[str]) -> str:
    """Return why a memory cannot be taken in, or nothing."""
    if memory.id in known:
        return "that id is there already"
    try:
        for at in (memory.created, memory.accessed, memory.valid_from):
            within_dates(at)
        optional_seconds(memory.valid_until)
    except FactError as wrong:
        return str(wrong)
    return ""


def _bands(signature: minhash.Signature, memory: Memory) -> str:
    return " ".join(
        minhash.bands_in(signature, memory.agent, memory.scope, likeness(parse(memory.content)))
    )
