"""Memories for the start of a session and for a prompt, as text within a budget of tokens."""

from __future__ import annotations

from dataclasses import replace

from hippocampus.facts import search
from hippocampus.facts.models import Recalled, Weights
from hippocampus.facts.recalling import Asked, Recalling, tokens_of
from hippocampus.facts.rendering import rendered

FRAME_TOKENS = 40
RELEVANT_SHARE = 0.35
"""What scores under this share of the best does not answer a prompt."""
PLAIN = Weights(strength=1.0)


class Loading:
    """Renders what is recalled."""

    def __init__(self, recalling: Recalling) -> None:
        self._recalling = recalling

    def context(self, asked: Asked, budget: int, limit: int, at: float) -> str:
        """Return all preferences, then the strongest others, as far as a budget goes."""
        preferences = self._recalling.recall(
            "", replace(asked, types=("preference",)), limit=-1, budget=None, weights=PLAIN
        )
        others = self._recalling.recall(
            "", replace(asked, types=("!preference",)), limit=limit, budget=None, weights=PLAIN
        )
        return rendered(_fitting([*preferences, *others], budget), at)

    def relevant(  # noqa: PLR0913, PLR0917 - each is one thing to say
        self, prompt: str, asked: Asked, budget: int, limit: int, at: float, weights: Weights
    ) -> str:
        """Return what answers a prompt; empty when nothing does."""
        if not prompt.strip():
            return ""
        found = self._recalling.recall(
            prompt, asked, limit=limit, budget=max(0, budget - FRAME_TOKENS), weights=weights
        )
        best = max((result.score.total for result in found), default=0.0)
        return rendered([r for r in found if r.score.total >= RELEVANT_SHARE * best], at)


def _fitting(results: list[Recalled], budget: int) -> list[Recalled]:
    sizes = [tokens_of(result.memory.content) for result in results]
    return [results[place] for place in search.within_budget(sizes, budget - FRAME_TOKENS)]
