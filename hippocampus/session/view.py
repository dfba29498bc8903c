"""A growing message list and the view of it: what each message weighs, and what stands in its place.

Pure bookkeeping: no content is judged, indexed or stored here.
"""

from __future__ import annotations

import bisect
import itertools
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import mul
from typing import NamedTuple

from hippocampus import tokens
from hippocampus.formats import behind
from hippocampus.formats.conversation import Item, Message, Part, with_texts
from hippocampus.formats.reader import ANY_FORMAT, Reading, RunningReader, snapshot


class Past(NamedTuple):
    """A list as it was before a call, in case that its host cuts it."""

    raw: list[Message]
    told: dict[int, Message]

    def messages(self) -> list[Message]:
        """Return its messages as they may be told."""
        return [self.told.get(number, message) for number, message in enumerate(self.raw)]


class Window:
    """The messages of a list as they were read, and as they are shown."""

    def __init__(self, encoding: str, sent: int = 0) -> None:
        self._encoding = encoding
        self._reader = RunningReader()
        self._adapter = ANY_FORMAT
        self.raw: list[Message] = []
        """Grows; where its end is forgotten, it is another list, and who has this one has it whole."""
        self.shown: list[Message] = []
        self.raw_tokens: list[int] = []
        self.raw_total = 0
        """The sum of these; summed as they come, since a turn asks for it several times."""
        self.shown_tokens = array("q")
        self.shown_total = 0
        self._asked: list[int] = []
        """The numbers of the user's messages."""
        self._turns: list[int] = []
        self._starts: list[int] = []
        """Where in the list the items of each message start."""
        self._edits: dict[int, Item] = {}
        """What stands in the view in place of an item of the list, by the item's number."""
        self._handed: dict[int, Item] = {}
        """The copies of these that stand in the views, whose owner may alter them."""
        self._behind: dict[int, tuple[Item, ...]] = {}
        """What stands in the view behind the items of an edited message."""
        self._folds: list[tuple[int, int]] = []
        self.told: dict[int, Message] = {}
        """Messages that a digest has to tell otherwise than they stand: redacted ones."""
        self.sent = sent
        """How many leading messages of the view were in the last request."""
        self.unchanged = 0
        """How many leading messages of the view are the same as in the last request."""
        self._opening = ""
        self._opened: tuple[int, int] | None = None
        """The message and the part in front of which the opening stands."""

    @property
    def turn(self) -> int:
        """Return the number of assistant messages in the list: the turn that comes."""
        return self._turns[-1] if self._turns else 0

    def turn_of(self, number: int) -> int:
        """Return the turn in which a message came."""
        return self._turns[number]

    def asked_before(self, number: int) -> list[int]:
        """Return the numbers of the user's messages before a message."""
        return self._asked[: bisect.bisect_left(self._asked, number)]

    def reading(self, items: Sequence[Item]) -> Window:
        """Return a window of another list, of which nothing was sent.

        Raises:
            MessagesError: the list is in no known format.

        """
        window = Window(self._encoding)
        window.read(items)
        return window

    def read(self, items: Sequence[Item]) -> Reading:
        """Take the list as it is; messages behind the first change are forgotten and read anew.

        So is a whole run that a digest tells, where any of it has changed.

        Raises:
            MessagesError: the list is in no known format.

        """
        reading = self._reader.read(items)
        self._adapter = reading.adapter
        cut = (start for start, end in self._folds if end > reading.kept)
        reading = replace(reading, kept=min([reading.kept, *cut]))
        self._drop_from(reading)
        self.unchanged = self.sent
        for message in reading.messages[reading.kept :]:
            self._append(message)
        return reading

    def _drop_from(self, reading: Reading) -> None:
        """Forget what changed; what reads the same counts as sent, since hosts move cache marks."""
        kept = reading.kept
        if kept == len(self.raw):
            return
        same = 0 if self.is_folded(kept) else _same_words(self.raw[kept:], reading.messages[kept:])
        self.sent = min(self.sent, kept + same)
        self._folds = [fold for fold in self._folds if fold[1] <= kept]
        self.told = {number: told for number, told in self.told.items() if number < kept}
        first = self._starts[kept]
        self._edits = {at: item for at, item in self._edits.items() if at < first}
        self._handed = {at: item for at, item in self._handed.items() if at < first}
        self._behind = {number: put for number, put in self._behind.items() if number < kept}
        self.raw_total -= sum(self.raw_tokens[kept:])
        self.shown_total -= sum(self.shown_tokens[kept:])
        self.raw = self.raw[:kept]
        columns = (self.shown, self.raw_tokens, self.shown_tokens, self._turns, self._starts)
        for column in columns:
            del column[kept:]
        if self._opened and self._opened[0] >= kept:
            self._opened = None
        del self._asked[bisect.bisect_left(self._asked, kept) :]

    def _append(self, message: Message) -> None:
        weight = tokens.weigh(message, self._encoding)
        before = self._starts[-1] + len(self.raw[-1].raw) if self.raw else 0
        self._starts.append(before)
        self._turns.append(self.turn + (message.role == "assistant"))
        if message.role == "user":
            self._asked.append(len(self.raw))
        self.raw.append(message)
        self.shown.append(message)
        self.raw_tokens.append(weight)
        self.raw_total += weight
        self.shown_tokens.append(weight)
        self.shown_total += weight

    def show(self, number: int, part: int, text: str) -> None:
        """Let a text stand in place of a part of a message."""
        front = self._opening if (number, part) == self._opened else ""
        self._put(number, with_texts(self.shown[number], {part: front + text}))

    def _put(self, number: int, edited: Message) -> None:
        """Let a message stand in place of another."""
        self.unchanged = min(self.unchanged, number)
        self._stand(number, edited)

    def _stand(self, number: int, edited: Message) -> None:
        self.shown[number] = edited
        weight = tokens.weigh(edited, self._encoding) if edited.raw else 0
        self.shown_total += weight - self.shown_tokens[number]
        self.shown_tokens[number] = weight
        own = len(self.raw[number].raw)
        for at, item in enumerate(edited.raw[:own], self._starts[number]):
            self._edits[at], self._handed[at] = item, snapshot(item)
        if edited.raw[own:]:
            self._behind[number] = edited.raw[own:]
        else:
            self._behind.pop(number, None)

    def stand(self, number: int, text: str) -> None:
        """Let a text of ours stand behind a message, where one may."""
        extended = behind.with_text(self.shown[number], text, self._adapter)
        if extended is not None and not self.is_folded(number):
            self._put(number, extended)

    def first_words(self) -> tuple[int, int] | None:
        """Return the message and the part with the first words of the user."""
        for number, message in enumerate(self.raw):
            for at, part in enumerate(message.parts if message.role == "user" else ()):
                if part.kind == "text":
                    return number, at
        return None

    def open_with(self, text: str) -> None:
        """Let a text stand in front of the user's first words, whatever stands for these."""
        place = self.first_words() if text and self._opened is None else None
        if place is not None:
            self._opening, self._opened = text, place
            number, part = place
            said = self.shown[number].parts[part].text
            self._stand(number, with_texts(self.shown[number], {part: text + said}))

    def redact(self, number: int, part: int, text: str, *, original: bool = False) -> None:
        """Let a text stand for a part, and for good: nothing tells what stood there.

        With `original` not even the message as it was read holds it any more.
        """
        self.told[number] = with_texts(self.told_of(number), {part: text})
        if original:
            self.raw[number] = with_texts(self.raw[number], {part: text})
        self.show(number, part, text)

    def told_of(self, number: int) -> Message:
        """Return a message as it may be told: in an entry, a digest, a fact or an archive."""
        return self.told.get(number, self.raw[number])

    def telling(self, start: int, end: int) -> list[Message]:
        """Return messages as they may be told."""
        if not self.told:
            return self.raw[start:end]
        return [self.told_of(number) for number in range(start, end)]

    def fold(self, start: int, end: int, text: str) -> None:
        """Let one message of the assistant stand in place of the messages of a run."""
        item: Item = {"role": "assistant", "content": text}
        for number in range(start, end):
            first = number == start
            part = (Part("text", text, (0, "content")),) if first else ()
            self._put(number, Message("assistant", part, (item,) if first else ()))
        inside = [fold for fold in self._folds if start <= fold[0] and fold[1] <= end]
        self._folds = [*(fold for fold in self._folds if fold not in inside), (start, end)]

    def is_folded(self, number: int) -> bool:
        """Say whether a message is told by a digest."""
        return any(start <= number < end for start, end in self._folds)

    def cuts_fold(self, start: int, end: int) -> bool:
        """Say whether a run lies inside what a digest tells, or holds only a piece of it."""
        overlapping = [fold for fold in self._folds if fold[0] < end and start < fold[1]]
        inside = (start <= fold[0] and fold[1] <= end for fold in overlapping)
        return (start, end) in overlapping or not all(inside)

    def is_inside_fold(self, number: int) -> bool:
        """Say whether a digest tells both a message and the one before it."""
        return any(start < number < end for start, end in self._folds)

    @property
    def folded_end(self) -> int:
        """Return the number of the first message behind all that digests tell."""
        return max((end for _, end in self._folds), default=0)

    def end_of_turn(self, turn: int) -> int:
        """Return the number of the first message that came after a turn."""
        return bisect.bisect_right(self._turns, turn)

    def weight_and_age(self, start: int, end: int, turn: int) -> tuple[int, int]:
        """Return what messages weigh in the view, and the sum of that times the turns since each."""
        weights = self.shown_tokens[start:end]
        ages = (turn - came for came in self._turns[start:end])
        return sum(weights), sum(map(mul, weights, ages))

    def write(self, items: Sequence[Item]) -> list[Item]:
        """Return the view: the caller's own items, and copies of the edited ones.

        A copy stands in one view after the other, until an owner of a view has altered it.
        """
        if self._handed != self._edits:
            self._copy_altered()
        view = list(items)
        for at, item in self._handed.items():
            view[at] = item
        for first, last, put in sorted(self._moves(), reverse=True):  # so that none moves another
            view[first:last] = map(snapshot, put)
        return view

    def _moves(self) -> Iterator[tuple[int, int, tuple[Item, ...]]]:
        """Yield what stands in the view in place of a stretch of the list, but for single items."""
        for start, end in self._folds:
            yield self._starts[start] + 1, self._end_of(end - 1), ()
        for number, put in self._behind.items():
            yield self._end_of(number), self._end_of(number), put

    def _end_of(self, number: int) -> int:
        """Return where in the list the items of a message end."""
        return self._starts[number] + len(self.raw[number].raw)

    def _copy_altered(self) -> None:
        """Copy again what the owner of a view has altered."""
        for at, item in self._edits.items():
            if self._handed[at] != item:
                self._handed[at] = snapshot(item)


def _same_words(old: Sequence[Message], new: Sequence[Message]) -> int:
    """Return how many leading messages say the same, whatever else their items carry."""
    pairs = itertools.takewhile(
        lambda pair: list(pair[0].texts()) == list(pair[1].texts()), zip(old, new, strict=False)
    )
    return sum(1 for _ in pairs)
