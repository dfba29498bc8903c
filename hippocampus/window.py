"""A growing message list and the view of it: what each message weighs, and what stands in its place.

Pure bookkeeping: no content is judged, indexed or stored here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from hippocampus import tokens
from hippocampus.conversation import Item, Message, Part, with_texts
from hippocampus.messages import Reading, RunningReader, snapshot


class Window:
    """The messages of a list as they were read, and as they are shown."""

    def __init__(self, encoding: str, sent: int = 0) -> None:
        self._encoding = encoding
        self._reader = RunningReader()
        self.raw: list[Message] = []
        self.shown: list[Message] = []
        self.raw_tokens: list[int] = []
        self.shown_tokens: list[int] = []
        self._turns: list[int] = []
        self._folds: list[tuple[int, int]] = []
        self.told: dict[int, Message] = {}
        """Messages that a digest has to tell otherwise than they stand: redacted ones."""
        self.sent = sent
        """How many leading messages of the view were in the last request."""
        self.unchanged = 0
        """How many leading messages of the view are the same as in the last request."""

    @property
    def turn(self) -> int:
        """Return the number of assistant messages in the list: the turn that comes."""
        return self._turns[-1] if self._turns else 0

    def turn_of(self, number: int) -> int:
        """Return the turn in which a message came."""
        return self._turns[number]

    def read(self, items: Sequence[Item]) -> Reading:
        """Take the list as it is; messages behind the first change are forgotten and read anew.

        Raises:
            MessagesError: the list is in no known format.

        """
        reading = self._reader.read(items)
        self._drop_from(reading)
        self.unchanged = self.sent
        for message in reading.messages[reading.kept :]:
            self._append(message)
        return reading

    def _drop_from(self, reading: Reading) -> None:
        """Forget what changed; what reads the same counts as sent, since hosts move cache marks."""
        kept = reading.kept
        if kept < len(self.raw):
            same = _same_words(self.raw[kept:], reading.messages[kept:])
            self.sent = min(self.sent, kept + same)
        if any(end > kept for _, end in self._folds):
            self._unfold_from(kept)
        self.told = {number: told for number, told in self.told.items() if number < kept}
        columns = (self.raw, self.shown, self.raw_tokens, self.shown_tokens, self._turns)
        for column in columns:
            del column[kept:]

    def _append(self, message: Message) -> None:
        weight = tokens.weigh(message, self._encoding)
        self._turns.append(self.turn + (message.role == "assistant"))
        self.raw.append(message)
        self.shown.append(message)
        self.raw_tokens.append(weight)
        self.shown_tokens.append(weight)

    def show(self, number: int, part: int, text: str) -> None:
        """Let a text stand in place of a part of a message."""
        edited = with_texts(self.shown[number], {part: text})
        self.unchanged = min(self.unchanged, number)
        self.shown[number] = edited
        self.shown_tokens[number] = tokens.weigh(edited, self._encoding)

    def redact(self, number: int, part: int, text: str) -> None:
        """Let a text stand for a part, and for good: nothing tells what stood there."""
        told = self.told.get(number, self.raw[number])
        self.told[number] = with_texts(told, {part: text})
        self.show(number, part, text)

    def telling(self, start: int, end: int) -> list[Message]:
        """Return messages as they may be told."""
        return [self.told.get(number, self.raw[number]) for number in range(start, end)]

    def fold(self, start: int, end: int, text: str) -> None:
        """Let one message of the assistant stand in place of the messages of a run."""
        item: Item = {"role": "assistant", "content": text}
        for number in range(start, end):
            first = number == start
            part = (Part("text", text, (0, "content")),) if first else ()
            folded = Message("assistant", part, (item,) if first else ())
            self.shown[number] = folded
            self.shown_tokens[number] = tokens.weigh(folded, self._encoding) if first else 0
        inside = [fold for fold in self._folds if start <= fold[0] and fold[1] <= end]
        self._folds = [*(fold for fold in self._folds if fold not in inside), (start, end)]
        self.unchanged = min(self.unchanged, start)

    def is_folded(self, number: int) -> bool:
        """Say whether a message is told by a digest."""
        return any(start <= number < end for start, end in self._folds)

    def _unfold_from(self, kept: int) -> None:
        """Show the messages of a run again whose end has changed."""
        for start, end in self._folds:
            if end > kept:
                self.shown[start:kept] = self.raw[start:kept]
                self.shown_tokens[start:kept] = self.raw_tokens[start:kept]
                self.sent = min(self.sent, start)
        self._folds = [fold for fold in self._folds if fold[1] <= kept]

    def write(self, items: Sequence[Item]) -> list[Item]:
        """Return the view: the caller's own items, and copies of the edited ones."""
        view: list[Item] = []
        start = at = 0
        for raw, shown in zip(self.raw, self.shown, strict=True):
            if raw is not shown:
                view.extend(items[start:at])
                view.extend(map(snapshot, shown.raw))
                start = at + len(raw.raw)
            at += len(raw.raw)
        view.extend(items[start:])
        return view


def _same_words(old: Sequence[Message], new: Sequence[Message]) -> int:
    """Return how many leading messages say the same, whatever else their items carry."""
    pairs = itertools.takewhile(
        lambda pair: list(pair[0].texts()) == list(pair[1].texts()), zip(old, new, strict=False)
    )
    return sum(1 for _ in pairs)
