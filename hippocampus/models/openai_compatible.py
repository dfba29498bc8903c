"""Embeddings and completions at any OpenAI-compatible endpoint, without an SDK."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hippocampus.errors import ProviderError
from hippocampus.models.http import Endpoint, ask, text_of

OPENAI = Endpoint("https://api.openai.com/v1", "OPENAI_API_KEY")
OLLAMA = Endpoint("http://localhost:11434/v1")


@dataclass(frozen=True, slots=True)
class Embedder:
    """Embeds texts with `/embeddings`.

    Called with a list of texts, it returns one float32 row per text, in order, or raises ProviderError.
    """

    endpoint: Endpoint
    model: str
    dimensions: int | None = None
    """The length of the vectors, for models that offer a choice; None is the model's default."""
    batch: int = 64
    """The most texts in one request."""
    most_characters: int = 8_000
    """Longer texts are cut, since endpoints refuse texts over their model's limit; 0 cuts none."""

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        """Return one row per text."""
        cut = [text[: self.most_characters or None] for text in texts]
        starts = range(0, len(cut), self.batch)
        rows = [row for at in starts for row in self._rows(cut[at : at + self.batch])]
        if len({len(row) for row in rows}) > 1:
            raise ProviderError(f"{self.endpoint.place}: the vectors are of different lengths")
        return np.array(rows, np.float32).reshape(len(texts), -1 if rows else 0)

    def _rows(self, texts: list[str]) -> list[list[float]]:
        def rows(answer: Any) -> list[list[float]]:
            found = {int(item.get("index", at)): item for at, item in enumerate(answer["data"])}
            return [list(map(float, found[at]["embedding"])) for at in range(len(texts))]

        body = {"model": self.model, "input": texts, "dimensions": self.dimensions}
        return ask(self.endpoint, "embeddings", body, rows, f"{len(texts)} vectors")


@dataclass(frozen=True, slots=True)
class Completer:
    """Completes prompts with `/chat/completions`.

    Called with a prompt, it returns the answer's text, or raises ProviderError.
    """

    endpoint: Endpoint
    model: str
    temperature: float | None = 0.0
    """None sends no temperature, for models that do not accept one."""
    max_tokens: int = 2_048
    limit_field: str = "max_tokens"
    """The field of the limit; OpenAI's reasoning models use `max_completion_tokens`."""
    system: str = ""
    """The system message; empty sends none."""

    def __call__(self, prompt: str) -> str:
        """Return the model's answer to one prompt."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        body = {
            "model": self.model,
            "messages": [*system, {"role": "user", "content": prompt}],
            "temperature": self.temperature,
            self.limit_field: self.max_tokens,
        }

        def text(answer: Any) -> str:
            return text_of(answer["choices"][0]["message"]["content"])

        return ask(self.endpoint, "chat/completions", body, text, "a message")
