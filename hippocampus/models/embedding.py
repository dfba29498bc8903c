"""Embeddings at any OpenAI-compatible endpoint, without an SDK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hippocampus.errors import ProviderError
from hippocampus.models.http import Endpoint, ask

BATCH = 64
"""The most texts in one request."""
MAX_CHARACTERS = 8_000
"""Longer texts are cut, since endpoints refuse texts over their model's limit."""


@dataclass(frozen=True, slots=True)
class Embedder:
    """Embeds texts with `/embeddings`.

    Called with a list of texts, it returns one float32 row per text, in order, or raises ProviderError.
    """

    endpoint: Endpoint
    model: str
    dimensions: int | None = None
    """The length of the vectors, for models that offer a choice; None is the model's default."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one row per text."""
        cut = [text[:MAX_CHARACTERS] for text in texts]
        starts = range(0, len(cut), BATCH)
        rows = [row for at in starts for row in self._rows(cut[at : at + BATCH])]
        if len({len(row) for row in rows}) > 1:
            raise ProviderError(f"{self.endpoint.place}: the vectors are of different lengths")
        return np.array(rows, np.float32).reshape(len(texts), -1 if rows else 0)

    def _rows(self, texts: list[str]) -> list[list[float]]:
        def rows(answer: Any) -> list[list[float]]:
            found = {int(item.get("index", at)): item for at, item in enumerate(answer["data"])}
            return [list(map(float, found[at]["embedding"])) for at in range(len(texts))]

        body = {"model": self.model, "input": texts, "dimensions": self.dimensions}
        return ask(self.endpoint, "embeddings", body, rows, f"{len(texts)} vectors")
