"""The messages of a list: a value that grows, or branches where the list changed.

Pure. Nothing is judged, shown or stored here.
"""

from __future__ import annotations

import bisect
import itertools
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hippocampus.entries.entry import content_key
from hippocampus.formats.conversation import Item, Message, images_in, with_texts
from hippocampus.formats.reader import Reading, grown, read_on
from hippocampus.models import tokens

KEY_CHARACTERS = 16


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

    @property
    def turn(self) -> int:
        """Return the number of assistant messages in the list: the next turn."""
        return self.turns[-1] if self.turns else 0

    def extended(self, items: Sequence[Item], same: int = 0) -> History:
        """Return the history of a list; its first `reading.kept` messages are the same as in this one.

        The first `same` items are known to be those of this one.

        Raises:
            MessagesError: the list is in no known format.
        """
        reading = read_on(self.reading, items, same)
        kept = reading.kept
        if kept == len(self.raw) == len(reading.messages):
            return replace(self, reading=reading)
        fresh = reading.messages[kept:]
        keys = [key_of(message) for message in fresh]
        turns, weights = self.turns[:kept], self.tokens[:kept]
        weights.extend(map(self._weight_of, fresh, keys))
        for message in fresh:
            turns.append((turns[-1] if turns else 0) + (message.role == "assistant"))
        users = [at for at, message in enumerate(fresh, kept) if message.role == "user"]
        own = [
            at
            for at, message in enumerate(fresh, kept)
            if message.role == "system" or is_said_by_user(message)
        ]
        cut = kept < len(self.raw)
        redacted = {n: message for n, message in self.redacted.items() if n < kept} if cut else None
        # Until a rule redacts an original, `raw` is the reading's own list, which has grown in place.
        is_read = self.raw is self.reading.messages
        return History(
            reading,
            reading.messages if is_read else grown(self.raw, kept, fresh),
            self.redacted if redacted is None else redacted,
            weights,
            self.total - sum(self.tokens[kept:]) + sum(weights[kept:]),
            turns,
            grown(self.asked, bisect.bisect_left(self.asked, kept), users),
            grown(self.keys, kept, keys),
            grown(self.own, bisect.bisect_left(self.own, kept), own),
            boundaries(reading.messages, self.closed[: bisect.bisect_right(self.closed, kept)]),
        )

    def _weight_of(self, message: Message, key: str) -> int:
        known = self.weights.get(key)
        if known is None or any(part.image_tokens for part in message.parts):
            return tokens.count_message(message)
        return known

    def with_redacted(
        self, texts: Iterable[tuple[int, int, str, bool]], originals: Collection[tuple[int, int]]
    ) -> History:
        """Return the history with texts in place of parts, given by message and part number.

        Parts in `originals` (message, part) are replaced in `raw` too.
        """
        redacted, raw = dict(self.redacted), list(self.raw)
        for number, part, text, _ in texts:
            redacted[number] = with_texts(redacted.get(number) or raw[number], {part: text})
            if (number, part) in originals:
                raw[number] = with_texts(raw[number], {part: text})
        return replace(self, redacted=redacted, raw=raw if originals else self.raw)

    def as_first(self) -> History:
        """Return the history as that of a first list: without redactions, and no message is known."""
        reading = replace(self.reading, kept=0)
        return replace(self, reading=reading, raw=reading.messages, redacted={})

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


def is_said_by_user(message: Message) -> bool:
    """Return whether a message holds the user's own words, and no tool's results."""
    return message.role == "user" and all(part.kind != "result" for part in message.parts)


def boundaries(messages: Sequence[Message], known: Sequence[int] = ()) -> array[int]:
    """Return the numbers of the messages before which no tool call is open; `known` are the first."""
    open_calls: Counter[str] = Counter()  # parallel calls may share an id
    found = array("q", known[:-1])
    for number in range(known[-1] if known else 0, len(messages)):
        if not open_calls:
            found.append(number)
        for part in messages[number].parts:
            if part.opens_call:
                open_calls[part.call_id] += 1
            elif part.closes_call and open_calls[part.call_id] > 1:
                open_calls[part.call_id] -= 1
            elif part.closes_call:
                del open_calls[part.call_id]
    return found


def key_of(message: Message) -> str:
    """Return a hash of the words of a message, but for the rest of its items, such as marks."""
    parts = ((part.kind, part.call_id, part.tool, part.text) for part in message.parts)
    said = "\0".join((message.role, *itertools.chain.from_iterable(parts)))
    return content_key(said.encode("utf-8", "surrogatepass"))[:KEY_CHARACTERS]


def joined_end(keys: Sequence[str], history: History, start: int) -> int:
    """Return how many leading messages were sent, where the host has joined some since.

    `keys` are those of the last request, of which `start` are the list's. Providers that take no
    two messages of the user in a row read `[result], [text]` and `[result, text]` as the same.
    """
    at = start
    for number in range(start, len(history.raw)):
        message, first = history.raw[number], 0
        for end in range(1, len(message.parts) + 1):
            piece = replace(message, parts=message.parts[first:end])
            if at < len(keys) and key_of(piece) == keys[at]:
                first, at = end, at + 1
        if first < len(message.parts):
            return number + (first > 0)
    return len(history.raw)
