"""A provider's prompt cache: the tokens that a request reads from it, and the places of marks. Pure.

No clock: the time of a request is an argument. Prices are in `prices`, providers' fields in
`formats`.
"""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hippocampus.formats.conversation import Message, Part
from hippocampus.models import tokens
from hippocampus.prices import Prices

LOOK_BACK = 20
"""Positions, the mark's own among them, at which a provider looks for an entry (Anthropic)."""
MAX_MARKS = 4
"""Marks that a provider takes in one request (Anthropic, OpenAI)."""
OWN_MARKS = 2
"""Marks that are added to the one that a host sets at the end of its messages."""
CALL_SECONDS = 20.0
"""Time from one call to the next where none is known: recorded medians are 6 to 22 seconds."""
RUNS = frozenset(("call", "result"))
"""Blocks of these kinds count as one position where they follow each other."""

MarkPlacement = Literal["tail", "ours", "ideal"]
"""One mark at the end of the messages; two of ours too; or a cache that needs no marks."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """The blocks of a request, in columns; a block is the smallest piece that can carry a mark."""

    words: list[int] = field(default_factory=list)
    """A hash of each block."""
    prefixes: list[int] = field(default_factory=list)
    """A hash of all up to the end of each block."""
    sums: list[int] = field(default_factory=list)
    """The tokens of all up to the end of each block."""
    positions: list[int] = field(default_factory=list)
    """The number of the position of each block: a run of tool blocks is one."""
    kinds: list[str] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    """The message of each block, and the first of its parts there."""
    starts: list[int] = field(default_factory=list)
    """The number of the first block of each message."""

    @property
    def last(self) -> int:
        """Return the number of the last block; -1 where there is none."""
        return len(self.words) - 1

    @property
    def total(self) -> int:
        """Return the tokens of all blocks."""
        return self.sums[-1] if self.sums else 0

    def tokens_to(self, block: int) -> int:
        """Return the tokens up to the end of a block; 0 for -1."""
        return self.sums[block] if block >= 0 else 0

    def distance(self, first: int, second: int) -> int:
        """Return the positions from one block to a later one."""
        return self.positions[second] - self.positions[first]

    def extended(self, messages: Sequence[Message], kept: int) -> Prompt:
        """Return the blocks of a list of which the first `kept` messages are those of this one."""
        end = self.starts[kept] if kept < len(self.starts) else len(self.words)
        starts, words, prefixes = self.starts[:kept], self.words[:end], self.prefixes[:end]
        sums, positions = self.sums[:end], self.positions[:end]
        kinds, places = self.kinds[:end], self.places[:end]
        for number, message in enumerate(messages[kept:], kept):
            starts.append(len(words))
            overhead = tokens.MESSAGE_TOKENS
            for first, parts in _blocks(message):
                kind = parts[0].kind if parts else ""
                follows = bool(kinds) and kind in RUNS and kind == kinds[-1]
                word = hash((message.role, *((p.kind, p.call_id, p.tool, p.text) for p in parts)))
                weight = overhead + sum(map(tokens.count_part, parts))
                overhead = 0
                words.append(word)
                prefixes.append(hash((prefixes[-1] if prefixes else 0, word)))
                sums.append((sums[-1] if sums else 0) + weight)
                positions.append((positions[-1] if positions else -1) + (not follows))
                kinds.append(kind)
                places.append((number, first))
        return Prompt(words, prefixes, sums, positions, kinds, places, starts)

    def until(self, messages: int) -> Prompt:
        """Return the blocks of the first messages."""
        return self if messages >= len(self.starts) else self.extended((), messages)

    def common(self, other: Prompt) -> int:
        """Return how many leading blocks are the same."""
        pairs = range(min(len(self.words), len(other.words)))
        return bisect_left(pairs, 1, key=lambda at: self.prefixes[at] != other.prefixes[at])


def _blocks(message: Message) -> Iterable[tuple[int, list[Part]]]:
    """Return the blocks of a message: parts with the number of the first; images stand in results."""
    if not message.raw:
        return []
    numbered = enumerate(message.parts)
    groups = itertools.groupby(numbered, key=lambda each: each[1].path[:3])
    found = [list(group) for _, group in groups]
    return [(group[0][0], [part for _, part in group]) for group in found] or [(0, [])]


class MarkPositions(NamedTuple):
    """The marks of ours in the last request: numbers of blocks, -1 for none."""

    settled: int = -1
    """Where the newest edit ended: all before it was rewritten once and rests. Before the first
    edit, where the recent one stood before."""
    recent: int = -1
    """At most 20 positions before the end."""
    reading: int = -1
    """Where the last request read, if it had edited what was sent before."""
    edited: bool = False
    """Whether any request has edited what was sent before."""

    def until(self, end: int) -> MarkPositions:
        """Return the marks before a block."""
        *blocks, edited = self
        return MarkPositions._make((*(at if at < end else -1 for at in blocks), edited))

    def blocks(self) -> list[int]:
        """Return the marks in order."""
        return sorted({at for at in (self.settled, self.recent, self.reading) if at >= 0})


def place(
    standing: MarkPositions, before: Prompt, now: Prompt, *, own: int, look_back: int
) -> MarkPositions:
    """Return where our marks stand in a request, after one in which they stood so.

    Marks stand on entries only: where a request before ended, or in what this one writes anyway.
    Without an edit the recent one moves to the end of the last request once it is too far back.
    With one, a mark reads what stays and another one stands where the edit ends, since the next
    edit is behind it in most cases. `own` is how many there may be; `look_back` is 0 where a mark
    matches entries at its own place only.
    """
    same = before.common(now)
    if not before.words or not own:
        return MarkPositions()
    standing = standing.until(len(before.words))
    if same < len(before.words):
        base = max((at for at in standing.blocks() if at < same), default=-1)
        reading = base
        if look_back and (base < 0 or now.distance(base, same - 1) < look_back):
            reading = max((at for at in range(same) if now.kinds[at] != "opaque"), default=-1)
        # The last block that the edit changed, of those before the newest messages.
        old = set(before.words[same:])
        end = max((at for at in range(same, len(now.words)) if now.words[at] in old), default=same)
        changed = (at for at in range(same, end) if now.words[at] not in old)
        settled = max(changed, default=same - 1) if own > 1 else -1
        return MarkPositions(settled, -1, reading, edited=True)
    recent, settled = standing.recent, standing.settled
    if same == len(now.words):
        return standing
    if recent < 0 or now.distance(recent, now.last) >= LOOK_BACK:
        settled = settled if standing.edited else recent
        recent = before.last
    return MarkPositions(settled if own > 1 else -1, recent, edited=standing.edited)


def kept_tokens(standing: Sequence[int] | None, before_tokens: int) -> int:
    """Return the tokens that a request still reads if it edits what follows `before_tokens`.

    `standing` are the tokens up to each mark of ours that stood in the last request: the entries in
    front of the edit that are sure to be there. None is a cache that finds any prefix.

    >>> kept_tokens([4_000, 9_000], 8_000), kept_tokens([], 8_000), kept_tokens(None, 8_000)
    (4000, 0, 8000)
    """
    if standing is None:
        return before_tokens
    return max((each for each in standing if each <= before_tokens), default=0)


def look_back_of(prices: Prices) -> int:
    """Return the positions at which a mark finds an entry; 0 where only at its own."""
    return LOOK_BACK if prices.cache == "marks" else 0


@dataclass(slots=True)
class PromptCache:
    """The entries that a provider has of one conversation: at marks, or anywhere."""

    prices: Prices
    own: int = OWN_MARKS
    """Marks of ours in a request, next to the host's at the end of its messages."""
    _entries: dict[int, float] = field(default_factory=dict)
    """By the hash of a prefix, when a request last read or wrote it."""
    standing: MarkPositions = field(default_factory=MarkPositions)
    """The marks of ours in the last request."""
    before: Prompt = field(default_factory=Prompt)
    """The last request, as far as it still stands in the caller's list."""

    def send(self, prompt: Prompt, seconds: float) -> int:
        """Return the tokens that a request reads from the cache, and remember what it writes.

        `seconds` is the time of the request, on any clock that goes forward.
        """
        if not prompt.words:
            return 0
        before, self.before = self.before, prompt
        if self.prices.cache == "prefix":
            common = prompt.tokens_to(before.common(prompt) - 1)
            return common - common % max(1, self.prices.step_tokens)
        look_back = look_back_of(self.prices)
        is_cached = before.total >= self.prices.smallest_prefix_tokens
        own = self.own if is_cached else 0
        self.standing = place(self.standing, before, prompt, own=own, look_back=look_back)
        ours = self.standing.blocks()
        found = [self._found(prompt, at, max(1, look_back), seconds) for at in ours]
        read = max(self._found(prompt, prompt.last, LOOK_BACK, seconds), *found, -1)
        # Entries are written at marks behind the part that was read, and those at marks refreshed.
        # That a mark inside the part that was read writes an entry is not documented: none is.
        for at in (*ours, prompt.last, read):
            key = prompt.prefixes[at] if at >= 0 else 0
            is_written = at > read and prompt.sums[at] >= self.prices.smallest_prefix_tokens
            if at >= 0 and (is_written or at == read or self._is_alive(key, seconds)):
                self._entries[key] = seconds
        return prompt.tokens_to(read)

    def _found(self, prompt: Prompt, mark: int, look_back: int, seconds: float) -> int:
        """Return the last block of the longest entry that a mark finds; -1 for none."""
        at = mark
        while at >= 0 and prompt.distance(at, mark) < look_back:
            if self._is_alive(prompt.prefixes[at], seconds):
                return at
            at -= 1
        return -1

    def _is_alive(self, key: int, seconds: float) -> bool:
        touched = self._entries.get(key)
        return touched is not None and seconds - touched <= self.prices.cache_seconds
