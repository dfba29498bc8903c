"""Looking into a fact store: lists, counts, histories and checks; nothing here ranks or changes.

How each is done is in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from hippocampus.facts.claims import name_of
from hippocampus.facts.models import EVERY_AGENT, Kind, Memory, Stats, Triple
from hippocampus.facts.predicates import said_as
from hippocampus.facts.timestamps import Moment, optional_seconds, seconds

if TYPE_CHECKING:
    from hippocampus.facts.blocks import Blocks
    from hippocampus.facts.fact_tables import Matrix, Rooms
    from hippocampus.facts.upkeep import Upkeep


class Looking:
    """What a store says of itself and of what it holds."""

    agent: str
    blocks: Blocks
    _rooms: Rooms
    _upkeep: Upkeep

    def triples(  # noqa: PLR0913 - each is one thing to say
        self,
        entity: str = "",
        *,
        predicate: str = "",
        agent: str | None = None,
        as_of: Moment | None = None,
        known_as_of: Moment | None = None,
        history: bool = False,
    ) -> list[Triple]:
        """Return the relations of an entity, newest first; of every entity where none is named."""
        now = self._rooms.clock()
        found = self._rooms.triples.find(
            agent or self.agent,
            entity,
            name_of(predicate) if predicate else "",
            at=now if as_of is None else seconds(as_of),
            known=now if known_as_of is None else seconds(known_as_of),
            history=history,
        )
        return [replace(each, predicate=said_as(each.predicate)) for each in found]

    def get(self, memory_id: str) -> Memory | None:
        """Return the memory of an id, superseded or removed ones too."""
        found = self._rooms.memories.by_id([memory_id])
        return found[memory_id][1] if found else None

    def memories(  # noqa: PLR0913 - each is one thing to say
        self,
        *,
        agent: str | None = None,
        kind: Kind | None = None,
        superseded: bool = False,
        removed: bool = False,
        before: Moment | None = None,
        limit: int = -1,
    ) -> list[Memory]:
        """List memories, newest first; `superseded` and `removed` add those."""
        return self._upkeep.memories(
            agent or self.agent,
            kind=kind,
            superseded=superseded,
            removed=removed,
            before=optional_seconds(before),
            limit=limit,
        )

    def search(
        self,
        text: str,
        *,
        kind: Kind | None = None,
        agent: str = EVERY_AGENT,
        superseded: bool = False,
        limit: int = -1,
    ) -> list[Memory]:
        """Return the memories that contain a text, whatever its case, of all agents."""
        return self._upkeep.memories(
            agent,
            kind=kind,
            superseded=superseded,
            removed=False,
            before=None,
            limit=limit,
            containing=text,
        )

    def history(self, memory_id: str) -> list[Memory]:
        """Return a memory and all that it superseded, newest first."""
        return self._upkeep.history(memory_id)

    def returning(self, memory_ids: Iterable[str]) -> list[Memory]:
        """Return what would be true again if these memories were deleted, since they superseded it."""
        found = (self.get(each) for each in memory_ids)
        gone = {each.id: each for each in found if each is not None}
        below = {each.id: each for memory_id in gone for each in self.history(memory_id)}
        return [each for each in below.values() if each.id not in gone and _is_freed(each, gone)]

    def embeddings(self, memory_ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of those memories that have one."""
        rows = {row: memory.id for row, memory in self._rooms.memories.by_id(memory_ids).values()}
        return {rows[row]: vector for row, vector in self._rooms.vectors.exact(rows).items()}

    def count(self, *, agent: str | None = None) -> int:
        """Return how many current memories there are."""
        return self._upkeep.count(agent or self.agent)

    def agents(self) -> dict[str, int]:
        """Return how many memories each agent has."""
        return self._upkeep.agents()

    def stats(self) -> Stats:
        """Return how much is kept."""
        return self._upkeep.stats(self.blocks.count())

    def reembed(self) -> Iterator[tuple[int, int]]:
        """Embed all anew with `embed`, yielding (done, all); open with `reembedding=True`."""
        return self._upkeep.reembed()

    def check(self) -> list[str]:
        """Return a sentence for each thing that is wrong with the file; empty when all is well."""
        rooms = self._rooms
        problems = rooms.database.check() + rooms.memories.check()
        return problems + rooms.triples.check() + rooms.vectors.check()


def _is_freed(memory: Memory, gone: Mapping[str, Memory]) -> bool:
    """Say whether all that stands for a memory is among what goes."""
    heir = memory.superseded_by
    while heir is not None and heir in gone:
        heir = gone[heir].superseded_by
    return heir is None
