"""The cache marks that a session adds to its views: their positions, and how many are free.

No text is changed here, and a mark is no edit: the next list comes without them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from hippocampus.formats import cache_marks
from hippocampus.formats.conversation import Item, Message
from hippocampus.formats.reader import common_prefix
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import (
    CALL_SECONDS,
    MAX_MARKS,
    MarkPositions,
    Prompt,
    PromptCache,
)

UNSEEN_MARKS = 1
"""Marks left free for the system prompt and the tools, which a session cannot see."""


class Marker:
    """The provider's cache of one session, and the marks of its last view."""

    def __init__(self, prices: Prices, own: int, *, tail: bool) -> None:
        """Add at most `own` marks to a view; `tail` is whether one is set at its end later."""
        self._own = own
        self._tail = tail
        self._seconds = 0.0
        self._cache = PromptCache(prices)
        self._key = ""
        """The key of marks in the host's format; empty where none may be added."""
        self.is_marked = tail
        """Whether requests have marks, of the host or of ours, as far as is known."""
        self._shown: Sequence[Message] = ()
        self.is_lost = True
        """Whether the last request is not known here: after a start, or a failure."""
        self.read_tokens = 0
        """The tokens of the last view that the provider is expected to read from its cache."""

    def restore(self, shown: Sequence[Message], marks: str) -> None:
        """Restore the unchanged start of the last request, and its marks, as `place` returned them."""
        self._shown = shown
        self._cache.before = Prompt().extended(shown, 0)
        numbers = [int(number) for number in marks.split()]
        positions = MarkPositions._make(numbers) if numbers else MarkPositions()
        self._cache.marks = positions.until(len(self._cache.before.words))
        self.is_lost = False

    def look(self, items: list[Item], name: str) -> None:
        """Count the marks that the host's list leaves free, in the format of that name."""
        if name == "anthropic":
            self._key = cache_marks.ANTHROPIC
        else:
            is_marked = self._cache.prices.cache == "breakpoints"
            self._key = cache_marks.OPENAI if is_marked else ""
        host = cache_marks.marks_in(items, self._key) if self._key else []
        self.is_marked = self._tail or bool(host) or self._key == cache_marks.OPENAI
        free = MAX_MARKS - UNSEEN_MARKS - len(host) - self._tail
        self._cache.own = max(0, min(self._own, free)) if self.is_marked else 0

    def place(self, shown: Sequence[Message], kept: int, idle_seconds: float) -> str:
        """Place the marks of the next view, and return their positions as text.

        `shown` are its messages, and `kept` the leading messages of the host's list that it had at
        the last request.
        """
        self._seconds += max(CALL_SECONDS, idle_seconds)
        same = common_prefix(self._shown, shown)
        prompt = self._cache.before.extended(shown, same)
        self._cache.before = self._cache.before.until(kept)
        self.read_tokens = self._cache.send(prompt, self._seconds)
        self._shown, self.is_lost = shown, False
        placed = self._cache.marks
        return " ".join(str(int(number)) for number in placed) if placed != MarkPositions() else ""

    @property
    def mark_tokens(self) -> Sequence[int] | None:
        """Return the tokens of the last view up to our marks, in order.

        None where the provider finds any prefix, or where it is not known that requests have marks.
        """
        if self._cache.prices.cache == "prefix" or not self.is_marked:
            return None
        return [self._cache.before.tokens_to(at) for at in self._cache.marks.blocks()]

    def with_marks(self, items: list[Item]) -> list[Item]:
        """Return the items of the view with its marks, in the form of the host's next mark.

        So a mark with a longer lifetime never follows one with a shorter, which is an error.
        """
        # A list that is sent again may have marks of its host that the last one had not.
        blocks = self._cache.marks.blocks()
        blocks = blocks[max(0, len(blocks) - self._cache.own) :]
        if not (blocks and self._key):
            return items
        host = cache_marks.marks_in(items, self._key)
        starts = list(accumulate((len(message.raw) for message in self._shown), initial=0))
        marked = list(items)
        for block in blocks:
            number, part = self._cache.before.places[block]
            parts = self._shown[number].parts
            path = parts[part].path if parts else (0,)
            at = starts[number] + int(path[0])
            values = [mark.value for mark in host if mark.item >= at]
            values += [mark.value for mark in reversed(host)]
            value = next(iter(values), cache_marks.NEW_MARKS[self._key])
            marked[at] = cache_marks.with_mark(marked[at], path[1:], self._key, value) or marked[at]
        return marked
