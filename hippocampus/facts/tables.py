"""What every part of a fact store works with: the file, the policy, the clock, the models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hippocampus.facts import memories
from hippocampus.facts.bounded import name_of, within
from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.models import Clock, Complete, Embed, FactPolicy, Memory, Rerank

if TYPE_CHECKING:
    import numpy as np

    from hippocampus.facts.vectors import Vectors

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

WRITING_SECONDS, SECONDS_A_TEXT = 5.0, 0.1
"""How long an embedding may take where one text is written, and for each further one."""
SHOWN_CHARACTERS = 60


@dataclass(slots=True)
class FactTables:
    """The tables of one file, and what helps to fill and to search them."""

    database: Database
    policy: FactPolicy
    clock: Clock
    embed: Embed | None = None
    complete: Complete | None = None
    rerank: Rerank | None = None
    _vectors: Vectors | None = None

    @property
    def vectors(self) -> Vectors:
        """Return the vectors of the file; without them numpy is not loaded."""
        if self._vectors is None:
            from hippocampus.facts.vectors import Vectors

            self._vectors = Vectors(self.database)
        return self._vectors

    @property
    def has_vectors(self) -> bool:
        """Return whether the file holds vectors."""
        return self.database.meta("embedding_dimensions") is not None

    @property
    def embed_model(self) -> str | None:
        """Return the name of the embedding, or nothing without one."""
        return None if self.embed is None else name_of(self.embed)

    def refusal(self, content: str) -> str:
        """Return why a text cannot be kept, or nothing."""
        from hippocampus import secrets
        from hippocampus.facts.sentences import without_recalled

        if not content.strip():
            return "the text is empty"
        if not without_recalled(content):
            return "it is what a recall wrote"
        most = self.policy.content_characters
        if most and len(content) > most:
            return f"the text has {len(content)} characters; {most} fit"
        kinds = "" if self.policy.keep_secrets else secrets.kinds_in(content)
        shown = secrets.redacted(content)[:SHOWN_CHARACTERS] if kinds else ""
        return f"it holds {kinds}, which is not kept: {shown}" if kinds else ""

    def without_secrets(self, text: str) -> str:
        """Return a text without secrets, unless the policy keeps them."""
        from hippocampus import secrets

        return text if self.policy.keep_secrets else secrets.redacted(text)

    def embedded(self, texts: list[str], seconds: float = WRITING_SECONDS) -> Matrix | None:
        """Return one unit vector a text, or nothing without a model or where it fails.

        Memory works without vectors, so that a failure is logged, not raised; `reembed` catches up.
        """
        if self.embed is None or not texts:
            return None
        here = getattr(self.embed, "in_process", False)
        limit = seconds + SECONDS_A_TEXT * (len(texts) - 1)
        found = self.embed(texts) if here else within(limit, self.embed, texts)
        if found is None:
            return None
        import numpy as np

        from hippocampus.facts.vectors import unit

        matrix = np.asarray(found, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(texts):
            raise FactError(f"embed gave an array of shape {matrix.shape} for {len(texts)} texts")
        if not np.isfinite(matrix).all():
            raise FactError("embed gave what is no number (nan or infinite)")
        return unit(matrix)

    def vectors_of(self, memory_ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of those memories that have one."""
        ids = {row: memory.id for row, memory in memories.by_id(self.database, memory_ids).values()}
        return {ids[row]: vector for row, vector in self.vectors.exact(ids).items()}

    def put_vectors(self, vectors: Mapping[int, Matrix]) -> None:
        """Write vectors by row, and bind the file to their model; inside a transaction."""
        if not vectors or self.embed_model is None:
            return
        self.vectors.lock(self.embed_model, len(next(iter(vectors.values()))))
        self.vectors.put(vectors)
        self.database.run_many(
            "UPDATE memory SET embedding_model = ? WHERE row = ?",
            [(self.embed_model, row) for row in vectors],
        )

    def end(self, row: int, by: str, *, until: float, known: float) -> None:
        """Let a memory and its triples stop being true at a time, and be known to since another."""
        self.database.run(
            "UPDATE memory SET superseded_by = ?, ended = ?, known_until = ? WHERE row = ?",
            (by, until, known, row),
        )
        self.database.run(memories.END_TRIPLES, (until, known, row))

    def reopen(self, rows: Iterable[int]) -> None:
        """Let memories and their triples be true and known again.

        What replaced one ends, where both state a relation that has one value at a time.
        """
        from hippocampus.facts.statements import read

        for row, memory in memories.by_row(self.database, rows).items():
            newer = memories.by_id(self.database, filter(None, [memory.superseded_by])).values()
            ours = read(memory.content).relation
            for other, rival in newer:
                theirs = read(rival.content).relation
                if ours and theirs and ours[:2] == theirs[:2] and rival.known_until is None:
                    now = self.clock()
                    self.end(other, memory.id, until=now, known=now)
            self.database.run(
                "UPDATE memory SET superseded_by = NULL, ended = NULL, known_until = NULL, removed = NULL"
                " WHERE row = ?",
                (row,),
            )
            self.database.run(
                "UPDATE triple SET ended = NULL, known_until = NULL WHERE memory = ?", (row,)
            )

    def delete(self, gone: Mapping[int, Memory]) -> None:
        """Delete memories with all that belongs to them, and bring back what they had superseded.

        What a deleted one had superseded is superseded by its successor, where it has one. Its earlier
        wordings go with it.
        """
        db = self.database
        gone = dict(gone)
        for memory in list(gone.values()):
            mine = "WHERE superseded_by = ? AND removed = ?"
            gone |= memories.select(db, mine, (memory.id, memories.REWORDED))
        for memory in gone.values():
            below = db.rows(
                "SELECT row FROM memory WHERE superseded_by = ? ORDER BY row", (memory.id,)
            )
            if memory.superseded_by is None:
                self.reopen(row for (row,) in below)
            else:
                db.run(
                    "UPDATE memory SET superseded_by = ? WHERE superseded_by = ?",
                    (memory.superseded_by, memory.id),
                )
        ids = [(memory.id,) for memory in gone.values()]
        db.run_many("INSERT OR IGNORE INTO forgotten VALUES (?)", ids)
        if self.has_vectors:
            self.vectors.drop(gone)
        memories.delete(db, gone)
