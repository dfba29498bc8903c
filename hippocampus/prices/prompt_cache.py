"""Simulates a provider's prompt cache: the tokens that a request reads, and where marks go. Pure.

No clock: the time of a request is an argument. Prices are in `prices`, providers' fields in
`formats`. A mark is no edit: the host's next list comes without ours.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal, NamedTuple

from hippocampus.formats import cache_marks
from hippocampus.formats.conversation import Item, Message
from hippocampus.formats.reader import common_prefix
from hippocampus.models import tokens
from hippocampus.prices import Prices

LOOK_BACK = 20
"""Positions, counted from a mark backwards, at which Anthropic looks for a cache entry."""
MAX_MARKS = 4
"""The most marks in one request (Anthropic, OpenAI)."""
OWN_MARKS = 2
"""Marks that we add to the one that a host sets at the end of its messages."""
UNSEEN_MARKS = 1
"""Marks left free for the system prompt and the tools, which a session cannot see."""
CALL_SECONDS = 20.0
"""Time between two calls where no times are recorded: recorded medians are 6 to 22 seconds."""
RUNS = frozenset(("call", "result"))
"""Consecutive blocks of one such kind count as one position."""

MarkPlacement = Literal["tail", "ours", "ideal"]
"""`tail` has one mark at the end of the messages, `ours` two more, and `ideal` needs no marks."""


class PromptBlock(NamedTuple):
    """The smallest piece of a request that can carry a mark."""

    word: int = 0
    """Its hash."""
    prefix: int = 0
    """The hash of the prefix that ends with it."""
    tokens: int = 0
    """The tokens of the prefix that ends with it."""
    position: int = -1
    """Its position: a run of tool blocks has one position."""
    kind: str = ""
    place: tuple[int, int] = (0, 0)
    """The number of its message, and of its first part in that message."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The blocks of a request."""

    blocks: list[PromptBlock] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    """The number of a message's first block."""

    @property
    def last(self) -> int:
        """The number of the last block; -1 for an empty request."""
        return len(self.blocks) - 1

    def tokens_to(self, block: int) -> int:
        """Return the tokens up to the end of a block; 0 for -1."""
        return self.blocks[block].tokens if block >= 0 else 0

    @property
    def total(self) -> int:
        """The tokens of all blocks."""
        return self.tokens_to(self.last)

    def distance(self, first: int, second: int) -> int:
        """Return the number of positions from one block to a later one."""
        return self.blocks[second].position - self.blocks[first].position

    def extended(self, messages: Sequence[Message], kept: int) -> Prompt:
        """Return the blocks of `messages`, which share their first `kept` messages with this request."""
        end = self.starts[kept] if kept < len(self.starts) else len(self.blocks)
        starts, blocks = self.starts[:kept], self.blocks[:end]
        for number, message in enumerate(messages[kept:], kept):
            starts.append(len(blocks))
            groups = itertools.groupby(enumerate(message.parts), lambda pair: pair[1].path[:3])
            # The parts of a block, with their numbers: a result has its images.
            found = [list(group) for _, group in groups] or [[]]
            overhead = tokens.MESSAGE_TOKENS
            for group in found if message.raw else ():
                first, parts = group[0][0] if group else 0, [part for _, part in group]
                last = blocks[-1] if blocks else PromptBlock()
                kind = parts[0].kind if parts else ""
                follows = kind in RUNS and kind == last.kind
                word = hash((message.role, *((p.kind, p.call_id, p.tool, p.text) for p in parts)))
                size = last.tokens + overhead + sum(map(tokens.count_part, parts))
                prefix, position = hash((last.prefix, word)), last.position + (not follows)
                blocks.append(PromptBlock(word, prefix, size, position, kind, (number, first)))
                overhead = 0
        return Prompt(blocks, starts)

    def until(self, messages: int) -> Prompt:
        """Return the blocks of the first `messages` messages."""
        return self if messages >= len(self.starts) else self.extended((), messages)

    def common(self, other: Prompt) -> int:
        """Return the number of leading blocks that two requests share."""
        pairs = range(min(len(self.blocks), len(other.blocks)))
        return bisect_left(
            pairs, 1, key=lambda at: self.blocks[at].prefix != other.blocks[at].prefix
        )


class MarkPositions(NamedTuple):
    """Our marks in the last request, as numbers of blocks; -1 is no mark."""

    settled: int = -1
    """The end of the newest edit; before the first edit, the previous `recent`."""
    recent: int = -1
    """At most 20 positions before the end."""
    reading: int = -1
    """The end of the prefix that the last request read, if that request edited its predecessor."""
    edited: bool = False
    """Whether any request has edited its predecessor."""

    def until(self, end: int) -> MarkPositions:
        """Return the marks before the block `end`."""
        *blocks, edited = self
        return MarkPositions._make((*(at if at < end else -1 for at in blocks), edited))

    def blocks(self) -> list[int]:
        """Return the marks in order."""
        return sorted({at for at in (self.settled, self.recent, self.reading) if at >= 0})


def place(
    marks: MarkPositions, before: Prompt, now: Prompt, *, own: int, look_back: int
) -> MarkPositions:
    """Return the positions of our marks in `now`, given those in the request `before` it.

    A mark is put only where a cache entry exists or is about to be written. Without an edit, `recent`
    moves to the end of the last request once it is too far back. After an edit, one mark reads the
    unchanged prefix, and another is at the end of the edit, since most edits come after the last one.
    `own` is the most marks; `look_back` is 0 where a mark matches entries at its own position only.
    """
    same = before.common(now)
    if not before.blocks or not own:
        return MarkPositions()
    marks = marks.until(len(before.blocks))
    if same < len(before.blocks):
        base = max((at for at in marks.blocks() if at < same), default=-1)
        reading = base
        if look_back and (base < 0 or now.distance(base, same - 1) < look_back):
            reading = max((at for at in range(same) if now.blocks[at].kind != "opaque"), default=-1)
        # The last block that the edit changed: the newest messages are an addition, not an edit.
        old, later = {block.word for block in before.blocks[same:]}, now.blocks[same:]
        stays = [at for at, block in enumerate(later, same) if block.word in old]
        changed = set(range(same, stays[-1] if stays else same)).difference(stays)
        settled = max(changed, default=same - 1) if own > 1 else -1
        return MarkPositions(settled, -1, reading, edited=True)
    recent, settled = marks.recent, marks.settled
    if same == len(now.blocks):
        return marks
    if recent < 0 or now.distance(recent, now.last) >= LOOK_BACK:
        settled = settled if marks.edited else recent
        recent = before.last
    return MarkPositions(settled if own > 1 else -1, recent, edited=marks.edited)


def kept_tokens(marks: Sequence[int] | None, before_tokens: int) -> int:
    """Return the tokens that a request still reads from the cache after an edit at `before_tokens`.

    `marks` are the tokens before each of our marks in the last request, where cache entries certainly
    exist. None is a cache that finds any prefix.

    >>> kept_tokens([4_000, 9_000], 8_000), kept_tokens([], 8_000), kept_tokens(None, 8_000)
    (4000, 0, 8000)
    """
    if marks is None:
        return before_tokens
    return max((mark for mark in marks if mark <= before_tokens), default=0)


@dataclass(slots=True)
class PromptCache:
    """The cache entries that a provider has of one conversation."""

    prices: Prices
    own: int = OWN_MARKS
    """The most marks of ours in a request; the host's mark at the end of its messages is not counted."""
    _entries: dict[int, float] = field(default_factory=dict)
    """By the hash of a prefix, the time at which a request last read or wrote it."""
    marks: MarkPositions = field(default_factory=MarkPositions)
    """Our marks in the last request."""
    before: Prompt = field(default_factory=Prompt)
    """The last request, as far as the caller's list still contains it."""

    def send(self, prompt: Prompt, seconds: float) -> int:
        """Return the tokens that a request reads from the cache, and add the entries that it writes.

        `seconds` is the time of the request, on a monotonic clock.
        """
        if not prompt.blocks:
            return 0
        before, self.before = self.before, prompt
        if self.prices.cache == "prefix":
            common = prompt.tokens_to(before.common(prompt) - 1)
            return common - common % max(1, self.prices.step_tokens)
        look_back = LOOK_BACK if self.prices.cache == "marks" else 0
        is_cached = before.total >= self.prices.smallest_prefix_tokens
        own = self.own if is_cached else 0
        self.marks = place(self.marks, before, prompt, own=own, look_back=look_back)
        ours = self.marks.blocks()
        found = [self._find(prompt, at, max(1, look_back), seconds) for at in ours]
        read = max(self._find(prompt, prompt.last, LOOK_BACK, seconds), *found, -1)
        # Marks after the part that was read write entries, and marks at existing entries refresh them.
        # A mark inside the part that was read writes none: no provider documents that it does.
        for at in (*ours, prompt.last, read):
            block = prompt.blocks[at] if at >= 0 else PromptBlock()
            is_written = at > read and block.tokens >= self.prices.smallest_prefix_tokens
            if at >= 0 and (is_written or at == read or self._is_alive(block.prefix, seconds)):
                self._entries[block.prefix] = seconds
        return prompt.tokens_to(read)

    def _find(self, prompt: Prompt, mark: int, look_back: int, seconds: float) -> int:
        """Return the last block of the longest entry that a mark finds; -1 where it finds no entry."""
        at = mark
        while at >= 0 and prompt.distance(at, mark) < look_back:
            if self._is_alive(prompt.blocks[at].prefix, seconds):
                return at
            at -= 1
        return -1

    def _is_alive(self, key: int, seconds: float) -> bool:
        touched = self._entries.get(key)
        return touched is not None and seconds - touched <= self.prices.cache_seconds


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
        self._cache.marks = positions.until(len(self._cache.before.blocks))
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
            number, part = self._cache.before.blocks[block].place
            parts = self._shown[number].parts
            path = parts[part].path if parts else (0,)
            at = starts[number] + int(path[0])
            values = [mark.value for mark in host if mark.item >= at]
            values += [mark.value for mark in reversed(host)]
            value = next(iter(values), cache_marks.NEW_MARKS[self._key])
            marked[at] = cache_marks.with_mark(marked[at], path[1:], self._key, value) or marked[at]
        return marked
