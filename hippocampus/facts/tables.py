"""What every part of a fact store works with: the file, the policy, the clock, the models."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hippocampus.errors import FactError
from hippocampus.facts.models import Clock, Complete, Embed, FactPolicy, Rerank
from hippocampus.storage.database import Database
from hippocampus.storage.facts import memories

if TYPE_CHECKING:
    import numpy as np

    from hippocampus.storage.facts.vectors import Vectors

    Matrix = np.ndarray[Any, np.dtype[np.float32]]

WRITING_SECONDS, SECONDS_A_TEXT = 5.0, 0.1
"""How long an embedding may take where one text is written, and for each further one."""
SHOWN_CHARACTERS = 60
MAX_CHARACTERS = 1_000_000
"""The length of the longest memory."""


@dataclass
class FactTables:
    """The tables of one file, and what helps to fill and to search them."""

    database: Database
    policy: FactPolicy
    clock: Clock
    agent: str
    """Whose memory it is where a call names no other."""
    embed: Embed | None = None
    complete: Complete | None = None
    rerank: Rerank | None = None

    @functools.cached_property
    def vectors(self) -> Vectors:
        """Return the vectors of the file; without them numpy is not loaded."""
        from hippocampus.storage.facts.vectors import Vectors

        return Vectors(self.database)

    @property
    def has_vectors(self) -> bool:
        """Return whether the file holds vectors."""
        return self.database.meta("embedding_dimensions") is not None

    @property
    def embed_model(self) -> str | None:
        """Return the name of the embedding, or nothing without one."""
        if self.embed is None:
            return None
        from hippocampus.models.bounded import name_of

        return name_of(self.embed)

    def refusal(self, content: str) -> str:
        """Return why a text cannot be kept, or nothing."""
        from hippocampus.facts.sentences import without_recalled

        if not content.strip():
            return "the text is empty"
        if not without_recalled(content):
            return "it is what a recall wrote"
        if len(content) > MAX_CHARACTERS:
            return f"the text has {len(content)} characters; {MAX_CHARACTERS} fit"
        return self.refusal_of_secrets(content)

    def refusal_of_secrets(self, text: str) -> str:
        """Return why a text with a secret cannot be kept, or nothing."""
        from hippocampus import secrets

        kinds = "" if self.policy.keep_secrets else secrets.kinds_in(text)
        shown = secrets.redacted(text)[:SHOWN_CHARACTERS] if kinds else ""
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
        from hippocampus.models.bounded import within

        here = getattr(self.embed, "in_process", False)
        limit = seconds + SECONDS_A_TEXT * (len(texts) - 1)
        found = self.embed(texts) if here else within(limit, self.embed, texts)
        if found is None:
            return None
        import numpy as np

        from hippocampus.storage.facts.vectors import unit

        matrix = np.asarray(found, dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(texts):
            raise FactError(f"embed gave an array of shape {matrix.shape} for {len(texts)} texts")
        if not np.isfinite(matrix).all():
            raise FactError("embed gave what is no number (nan or infinite)")
        return unit(matrix)

    def vectors_of(self, memory_ids: Iterable[str]) -> dict[str, Matrix]:
        """Return the vectors of the memories that have one."""
        ids = {row: memory.id for row, memory in memories.by_id(self.database, memory_ids).values()}
        return {ids[row]: vector for row, vector in self.vectors.exact(ids).items()}

    def put_vectors(self, vectors: Mapping[int, Matrix]) -> None:
        """Write vectors by row, and bind the file to their model; inside a transaction."""
        if not vectors or self.embed_model is None:
            return
        self.vectors.lock(self.embed_model, len(next(iter(vectors.values()))))
        self.vectors.put(vectors)
        memories.update(self.database, vectors, embedding_model=self.embed_model)
