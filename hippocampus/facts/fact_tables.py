"""What the parts of a fact store share: the file's tables, the policy, the clock, the embedding."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hippocampus.errors import ProviderError
from hippocampus.facts import minhash, secrets
from hippocampus.facts.database import Database
from hippocampus.facts.errors import FactError
from hippocampus.facts.extraction import without_recalled
from hippocampus.facts.ids import Ticking
from hippocampus.facts.memories import Memories
from hippocampus.facts.models import Clock, Embed, FactPolicy, Memory
from hippocampus.facts.triples import Triples
from hippocampus.facts.vectors import Vectors, unit

SHOWN_CHARACTERS = 200
log = logging.getLogger(__name__)
Matrix = np.ndarray[Any, np.dtype[np.float32]]


class Rooms:
    """The open file with everything that reads and writes it."""

    def __init__(
        self,
        database: Database,
        policy: FactPolicy,
        embed: Embed | None,
        clock: Clock,
        *,
        locked: bool = True,
    ) -> None:
        self.database = database
        self.policy = policy
        self.clock = Ticking(clock)
        self.memories = Memories(database)
        self.triples = Triples(database)
        self.vectors = Vectors(database)
        self._embed = embed
        self.embed_model = None if embed is None else model_name(embed)
        if self.embed_model is not None and locked:
            self.vectors.require(self.embed_model)

    def refusal(self, content: str) -> str:
        """Return why a content is not kept, or nothing; a secret itself is not shown."""
        most = self.policy.content_characters
        if not content.strip():
            return "it is empty"
        if most and len(content) > most:
            return f"it has {len(content)} characters; {most} fit"
        if not without_recalled(content):
            return "it is what a recall wrote"
        kinds = "" if self.policy.keep_secrets else secrets.told(content)
        if not kinds:
            return ""
        return (
            f"it holds {kinds}, which is not kept: {secrets.redacted(content)[:SHOWN_CHARACTERS]}"
        )

    def embedded(self, texts: list[str]) -> Matrix | None:
        """Return one unit vector a text, or nothing without a model or where it fails.

        Memory works without vectors, so that a failure is logged, not raised; `reembed` catches up.
        """
        if self._embed is None or not texts:
            return None
        try:
            matrix = np.asarray(self._embed(texts), dtype=np.float32)
        except (ProviderError, OSError, TimeoutError) as failure:
            log.warning("the embedding model failed, kept without vectors: %s", failure)
            return None
        if matrix.ndim != 2 or len(matrix) != len(texts):
            raise FactError(f"embed gave an array of shape {matrix.shape} for {len(texts)} texts")
        if not np.isfinite(matrix).all():
            raise FactError("embed gave what is no number (nan or infinite)")
        return unit(matrix)

    def signatures(self, rows: Iterable[int]) -> dict[int, minhash.Signature]:
        """Return the MinHash signatures of rows; missing ones are computed, and kept."""
        packed = self.memories.signatures(rows)
        missing = [row for row, data in packed.items() if data is None]
        if missing:
            texts = self.memories.by_row(missing)
            made = minhash.signatures([texts[row].content for row in missing])
            fresh = {row: minhash.packed(sign) for row, sign in zip(missing, made, strict=True)}
            with self.database.transaction():
                self.memories.sign(fresh.items())
            packed |= fresh
        return {row: minhash.unpacked(data) for row, data in packed.items() if data is not None}

    def put_vectors(self, vectors: Mapping[int, Matrix]) -> None:
        """Write vectors by row, and bind the file to their model; inside a transaction."""
        if not vectors or self.embed_model is None:
            return
        self.vectors.lock(self.embed_model, len(next(iter(vectors.values()))))
        self.vectors.put(vectors)

    def end(self, row: int, by: str, *, until: float, known: float) -> None:
        """Let a memory and its triples stop being true, another standing for it."""
        self.memories.end(row, by, until, known)
        self.triples.end(row, until, known)

    def reopen(self, rows: Iterable[int]) -> None:
        """Let memories and their triples be true again."""
        listed = list(rows)
        self.memories.reopen(listed)
        self.triples.reopen(listed)

    def delete(self, gone: dict[int, Memory]) -> None:
        """Delete memories with all that hangs on them, and bring back what they had superseded.

        What a deleted one had superseded is superseded by its successor, where it has one.
        """
        for row, memory in gone.items():
            below = self.memories.superseded_by([memory.id])
            heir = memory.superseded_by
            if heir is None:
                self.reopen(below)
            else:
                self.database.run_many(
                    "UPDATE memory SET superseded_by = ? WHERE row = ?",
                    [(heir, old) for old in below],
                )
            self.triples.delete([row])
        self.vectors.drop(gone)
        self.memories.delete(gone)

    def forget_cached(self) -> None:
        """Drop what was read inside a transaction that was taken back."""
        self.vectors.forget_cached()


def model_name(embed: Embed) -> str:
    """Return the name of an embedding: its attribute `model`, or else its own."""
    named = getattr(embed, "model", None) or getattr(embed, "__qualname__", None)
    return str(named or type(embed).__qualname__)
