"""The messages of a list: a value that grows, or branches where the list changed.

Pure. Nothing is judged, shown or stored here.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from hippocampus.entries.entry import content_key
from hippocampus.entries.origin import DigestOrigin
from hippocampus.errors import MALFORMED
from hippocampus.formats.conversation import (
    KEY_CHARACTERS,
    Item,
    KnownMessage,
    Message,
    UnreadMessage,
    images_in,
    with_texts,
)
from hippocampus.formats.reader import Reading, adapter_of, grown, read_on
from hippocampus.models import tokens
from hippocampus.storage.ledger import DigestNotes

Notes = Mapping[tuple[int, str], DigestNotes]
"""The notes of digests by their first message and their content."""


class Span(NamedTuple):
    """Messages in a row that one digest replaces."""

    start: int
    end: int

    def holds(self, other: Span) -> bool:
        """Return whether another span lies inside this one."""
        return self.start <= other.start and other.end <= self.end


class Rendered(NamedTuple):
    """A text that replaces a part of a message in the view."""

    message: int
    part: int
    text: str
    without_images: bool = False
    """Whether the images of a result go too."""


@dataclass(frozen=True, slots=True)
class History:
    """A message list: its messages, with their tokens, turns and keys."""

    reading: Reading = field(default_factory=Reading)
    raw: Sequence[Message] = ()
    """The messages as the store may hold them: as read, unless a rule redacts the original."""
    redacted: Mapping[int, Message] = field(default_factory=dict)
    """By number, the messages from which a rule took something out."""
    tokens: array[int] = field(default_factory=lambda: array("q"))
    total: int = 0
    """The sum of `tokens`."""
    turns: array[int] = field(default_factory=lambda: array("q"))
    """By message, the number of assistant messages up to it."""
    asked: Sequence[int] = ()
    """The numbers of the user's messages."""
    keys: Sequence[str] = ()
    """By message, a hash of its words: the rest of its items, such as marks, may change."""
    own: Sequence[int] = ()
    """The numbers of the messages of the system, and of messages with the user's own words."""
    closed: array[int] = field(default_factory=lambda: array("q"))
    """The numbers of the messages before which no tool call is open."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """By key, the tokens of messages that an earlier run has counted."""
    verified: Collection[DigestOrigin] = ()
    """The digests whose messages a first list has."""

    @property
    def turn(self) -> int:
        """Return the number of assistant messages in the list: the next turn."""
        return self.turns[-1] if self.turns else 0

    def extended(
        self,
        items: Sequence[Item],
        same: int = 0,
        digests: Iterable[DigestOrigin] = (),
        notes: Notes = MappingProxyType({}),
    ) -> History:
        """Return the history of a list; its first `reading.kept` messages are the same as in this one.

        The first `same` items are known to be those of this one. `digests` are those of an earlier run,
        with its `notes`: a first list that has their messages is read without them.

        Raises:
            MessagesError: the list is in no known format.
        """
        found = [] if self.raw else [*_found_in(items, digests, notes)]
        unread = {
            at: message for digest, known in found for at, message in enumerate(known, digest.start)
        }
        reading = read_on(self.reading, items, same, unread)
        kept = reading.kept
        if kept == len(self.raw) == len(reading.messages):
            return replace(self, reading=reading)
        fresh = reading.messages[kept:]
        turns, weights = self.turns[:kept], self.tokens[:kept]
        keys, users, own = list[str](), list[int](), list[int]()
        turn = turns[-1] if turns else 0
        for number, message in enumerate(fresh, kept):
            key = message.key
            weight = self.weights.get(key)
            if isinstance(message, UnreadMessage):
                weight = message.known.tokens
            elif weight is None or any(part.image_tokens for part in message.parts):
                weight = tokens.count_message(message)
            turn += message.role == "assistant"
            keys.append(key)
            turns.append(turn)
            weights.append(weight)
            if message.role == "user":
                users.append(number)
            if message.role == "system" or message.is_own:
                own.append(number)
        cut = kept < len(self.raw)
        redacted = {n: message for n, message in self.redacted.items() if n < kept} if cut else None
        # Until a rule redacts an original, `raw` is the reading's own list, which has grown in place.
        is_read = self.raw is self.reading.messages
        return History(
            reading=reading,
            raw=reading.messages if is_read else grown(self.raw, kept, fresh),
            redacted=self.redacted if redacted is None else redacted,
            tokens=weights,
            total=self.total - sum(self.tokens[kept:]) + sum(weights[kept:]),
            turns=turns,
            asked=grown(self.asked, bisect.bisect_left(self.asked, kept), users),
            keys=grown(self.keys, kept, keys),
            own=grown(self.own, bisect.bisect_left(self.own, kept), own),
            closed=boundaries(
                reading.messages, self.closed[: bisect.bisect_right(self.closed, kept)]
            ),
            verified=[digest for digest, _ in found],
        )

    def repeats(self, before: History) -> bool:
        """Return whether the list is the one before it, unchanged."""
        return self.reading.kept == len(before.raw) == len(self.raw)

    def with_redacted(
        self, texts: Iterable[Rendered], originals: AbstractSet[tuple[int, int]]
    ) -> History:
        """Return the history with texts in place of parts, given by message and part number.

        Parts in `originals` (message, part) are replaced in `raw` too.
        """
        redacted, raw = dict(self.redacted), list(self.raw)
        edits = defaultdict[int, dict[int, str]](dict)
        for number, part, text, _ in texts:
            edits[number][part] = text
        for number, own in edits.items():
            redacted[number] = with_texts(redacted.get(number) or raw[number], own)
            kept = {part: text for part, text in own.items() if (number, part) in originals}
            raw[number] = with_texts(raw[number], kept) if kept else raw[number]
        return replace(self, redacted=redacted, raw=raw if originals else self.raw, verified=())

    def as_first(self) -> History:
        """Return the history as that of a first list: without redactions, and no message is known."""
        reading = replace(self.reading, kept=0)
        return replace(self, reading=reading, raw=reading.messages, redacted={}, verified=())

    def known_messages(self, start: int, end: int) -> list[KnownMessage]:
        """Return what a later run has to know of messages to leave them unread.

        Nothing where one has several items, or their format does not know one.
        """
        starts, messages = self.reading.starts, self.raw[start:end]
        unknown = (
            message.role == "system" and all(part.kind == "opaque" for part in message.parts)
            for message in messages
        )
        if starts[start] != start or self.end_of(end - 1) != end or any(unknown):
            return []
        closed = {*self.closed}
        return [
            KnownMessage(message.role, self.keys[at], self.tokens[at], at in closed, message.is_own)
            for at, message in enumerate(messages, start)
        ]

    def quotable(self, number: int) -> Message:
        """Return a message as entries, digests, facts and archives may quote it."""
        return self.redacted.get(number) or self.raw[number]

    def quotable_range(self, start: int, end: int) -> Sequence[Message]:
        """Return messages as entries, digests, facts and archives may quote them."""
        if not self.redacted:
            return self.raw if end - start == len(self.raw) else self.raw[start:end]
        return [self.quotable(number) for number in range(start, end)]

    def tokens_of(self, number: int, at: int) -> int:
        """Return the tokens of the text of a part, which need no count where it is the only part."""
        message = self.raw[number]
        part = message.parts[at]
        if len(message.parts) > 1 or part.kind == "call" or number in self.redacted:
            return tokens.count(part.text)
        return self.tokens[number] - tokens.MESSAGE_TOKENS - part.image_tokens

    def image_tokens(self, number: int, at: int) -> int:
        """Return the tokens of an image, or of the images inside a result."""
        message = self.raw[number]
        if message.parts[at].kind == "image" or len(message.parts) == 1:
            return message.parts[at].image_tokens
        return sum(message.parts[inside].image_tokens for inside in images_in(message, at))

    def asked_before(self, number: int) -> Sequence[int]:
        """Return the numbers of the user's messages before a message."""
        return self.asked[: bisect.bisect_left(self.asked, number)]

    def end_of(self, number: int) -> int:
        """Return where in the list the items of a message end."""
        return self.reading.starts[number] + len(self.raw[number].raw)

    def first_words(self) -> tuple[int, int] | None:
        """Return the message and the part with the user's first words."""
        for number in self.asked:
            for at, part in enumerate(self.raw[number].parts):
                if part.kind == "text":
                    return number, at
        return None


def _found_in(
    items: Sequence[Item], digests: Iterable[DigestOrigin], notes: Notes
) -> Iterator[tuple[DigestOrigin, list[KnownMessage]]]:
    """Yield the digests whose messages a list has, the longer of two, with their messages."""
    found: list[DigestOrigin] = []
    hashes = functools.cache(lambda start, end: items_hash(items[start:end]))
    name = adapter_of(items)[0].NAME if notes else ""
    for digest in sorted(digests, key=lambda digest: digest.start - digest.end):
        parts, at = chain_of(digest.start, digest.content, notes), digest.start
        is_free = all(digest.end <= other.start or other.end <= at for other in found)
        if not (parts and parts[0].format == name and digest.end <= len(items) and is_free):
            continue
        for part in parts:
            end = at + len(part.messages)
            if not (part.messages and part.items) or hashes(at, end) != part.items:
                break
            at = end
        if at == digest.end:
            found.append(digest)
            yield digest, [message for part in parts for message in part.messages]


def chain_of(start: int, content: str, notes: Notes) -> list[DigestNotes]:
    """Return the notes of a digest after those of the digests that it continues; nothing if some are missing."""
    parts: list[DigestNotes] = []
    while content:
        if (start, content) not in notes:
            return []
        parts.append(notes[start, content])
        content = parts[-1].continues
    return parts[::-1]


def items_hash(items: Sequence[Item]) -> str:
    """Return a hash of items, in a third of the time of their stored JSON; empty where they are no JSON."""
    import pydantic_core

    with contextlib.suppress(*MALFORMED):
        return content_key(pydantic_core.to_json(items))
    return ""


def boundaries(messages: Sequence[Message], known: Sequence[int] = ()) -> array[int]:
    """Return the numbers of the messages before which no tool call is open; `known` are the first."""
    open_calls: Counter[str] = Counter()  # parallel calls may share an id
    found, is_counted = array("q", known[:-1]), True
    for number in range(known[-1] if known else 0, len(messages)):
        message = messages[number]
        if isinstance(message, UnreadMessage):
            is_counted = False
            if message.known.is_closed and not open_calls:
                found.append(number)
            continue
        if not is_counted:  # the list may have been cut between a call and its result
            open_calls.clear()
            for before in messages[found[-1] if found else 0 : number]:
                _count_calls(open_calls, before)
            is_counted = True
        if not open_calls:
            found.append(number)
        _count_calls(open_calls, message)
    return found


def _count_calls(open_calls: Counter[str], message: Message) -> None:
    for part in message.parts:
        if part.opens_call:
            open_calls[part.call_id] += 1
        elif part.closes_call and open_calls[part.call_id] > 1:
            open_calls[part.call_id] -= 1
        elif part.closes_call:
            del open_calls[part.call_id]


def joined_end(keys: Sequence[str], history: History, start: int) -> int:
    """Return how many leading messages were sent, where the host has joined some since.

    `keys` are those of the last request, of which `start` are the list's. Providers that take no
    two messages of the user in a row read `[result], [text]` and `[result, text]` as the same.
    """
    at = start
    for number in range(start, len(history.raw)):
        message, first = history.raw[number], 0
        piece = hashlib.sha256(
            message.role.encode()
        )  # as `Message.key`, of the parts from `first` on
        for end, part in enumerate(message.parts, 1):
            piece.update(part.words)
            if at < len(keys) and piece.hexdigest()[:KEY_CHARACTERS] == keys[at]:
                first, at, piece = end, at + 1, hashlib.sha256(message.role.encode())
        if first < len(message.parts):
            return number + (first > 0)
    return len(history.raw)
