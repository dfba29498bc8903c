"""The view of a message list: the messages that the model is sent. A value; pure.

Nothing is judged, indexed or stored here; the plan decides on changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, Message, unpaired, with_texts
from hippocampus.formats.reader import grown, snapshot
from hippocampus.models import tokens
from hippocampus.session.digest import Span
from hippocampus.session.history import History


class Rendered(NamedTuple):
    """A text that replaces a part of a message in the view."""

    message: int
    part: int
    text: str
    without_images: bool = False
    """Whether the images of a result go too."""


@dataclass(frozen=True, slots=True)
class View:
    """The messages that are sent for a list: unchanged, edited, or in a digest."""

    history: History
    shown: Sequence[Message] = ()
    shown_tokens: Sequence[int] = ()
    shown_total: int = 0
    """The sum of `shown_tokens`."""
    edits: Mapping[int, Item] = field(default_factory=dict)
    """By the item's number in the list, the item that replaces it."""
    folds: tuple[Span, ...] = ()
    """The messages that digests replace."""
    opening: str = ""
    opened: tuple[int, int] | None = None
    """The message and the part that the opening precedes."""
    sent: int = 0
    """How many leading messages of the list were in the last request."""
    unchanged: int = 0
    """How many leading messages of the view are the same as in the last request."""

    def tokens_to(self, number: int) -> int:
        """Return the tokens of the messages before one; nearly always few come after it."""
        return self.shown_total - sum(self.shown_tokens[number:])

    def extended(self, history: History, kept: int) -> View:
        """Return the view of another version of the list, which shares its first `kept` messages."""
        base = self
        if kept < len(self.shown):
            first = self.history.reading.starts[kept]
            base = replace(
                self,
                edits={at: item for at, item in self.edits.items() if at < first},
                folds=tuple(fold for fold in self.folds if fold.end <= kept),
                opened=None if self.opened and self.opened[0] >= kept else self.opened,
            )
        shown_tokens = array("q", self.shown_tokens[:kept])
        shown_tokens.extend(history.tokens[kept:])
        return replace(
            base,
            history=history,
            shown=grown(self.shown, kept, history.raw[kept:]),
            shown_tokens=shown_tokens,
            shown_total=self.shown_total
            - sum(self.shown_tokens[kept:])
            + sum(history.tokens[kept:]),
            unchanged=self.sent,
        )

    def with_texts(self, texts: Iterable[Rendered]) -> View:
        """Return the view with texts in place of parts of messages."""
        edited: dict[int, Message] = {}
        for number, part, text, bare in texts:
            front = self.opening if (number, part) == self.opened else ""
            gone = (part,) if bare else ()
            before = edited.get(number, self.shown[number])
            edited[number] = with_texts(before, {part: front + text}, gone)
        return self._with(edited, min(self.unchanged, *edited)) if edited else self

    def opened_with(self, text: str) -> View:
        """Return the view with a text before the user's first words, even if a text replaces these."""
        place = self.history.first_words() if text and self.opened is None else None
        if place is None:
            return self
        number, part = place
        said = self.shown[number].parts[part].text
        edited = {number: with_texts(self.shown[number], {part: text + said})}
        return replace(self._with(edited, self.unchanged), opening=text, opened=place)

    def with_digests(self, digests: Sequence[tuple[Span, str]]) -> View:
        """Return the view with digests: one message of the assistant in place of a span of messages."""
        if not digests:
            return self
        adapter, folds = self.history.reading.adapter, list(self.folds)
        edited: dict[int, Message] = {}
        for span, text in digests:
            [edited[span.start]] = adapter.read([adapter.words("assistant", text)])
            folds = [fold for fold in folds if not span.holds(fold)] + [span]
        view = self._with(edited, min(self.unchanged, *edited), [span for span, _ in digests])
        return replace(view, folds=tuple(folds))

    def _with(
        self, edited: Mapping[int, Message], unchanged: int, spans: Iterable[Span] = ()
    ) -> View:
        """Return the view with edited messages, and empty ones after the first of a span."""
        history, starts = self.history, self.history.reading.starts
        shown, weights, edits = list(self.shown), array("q", self.shown_tokens), dict(self.edits)
        total = self.shown_total
        for number, message in edited.items():
            weight = tokens.count_message(message)
            total += weight - weights[number]
            shown[number], weights[number] = message, weight
            edits.update(enumerate(message.raw, starts[number]))
        for start, end in spans:
            count = end - start - 1
            total -= sum(weights[start + 1 : end])
            weights[start + 1 : end] = array("q", bytes(8 * count))
            shown[start + 1 : end] = [Message("assistant", (), ())] * count
            inside = range(starts[start] + 1, history.end_of(end - 1))
            edits = {at: item for at, item in edits.items() if at not in inside}
        return replace(
            self,
            shown=shown,
            shown_tokens=weights,
            shown_total=total,
            edits=edits,
            unchanged=unchanged,
        )

    def is_folded(self, number: int) -> bool:
        """Return whether a digest replaces a message."""
        return any(fold.start <= number < fold.end for fold in self.folds)

    def cuts_fold(self, span: Span) -> bool:
        """Return whether a span lies inside a digest's, or holds only a piece of one."""
        overlapping = [
            fold for fold in self.folds if fold.start < span.end and span.start < fold.end
        ]
        return span in overlapping or not all(map(span.holds, overlapping))

    def pairing_problem(self) -> str:
        """Return which call or result in the changed part of the view has lost its other half."""
        raw, first = self.history.raw, self.unchanged
        changed = (fold for fold in self.folds if fold.end > first)
        hidden = {number for fold in changed for number in range(*fold)}
        for number in range(first, len(raw)):
            if number not in hidden and _links(self.shown[number]) != _links(raw[number]):
                return f"message {number} has other calls and results than its list"
        if self.folded_end <= first:
            return ""
        # The host's list may be broken already: only what the view adds to that counts.
        wrong = unpaired(self.shown)
        return wrong[0] if wrong and len(wrong) > len(unpaired(raw)) else ""

    @property
    def folded_end(self) -> int:
        """Return the number of the first message after all digests."""
        return max((fold.end for fold in self.folds), default=0)

    def write(self, items: Sequence[Item], copies: dict[int, Item]) -> list[Item]:
        """Return the items of the view: the caller's own, and copies of edited ones.

        `copies` keeps the copies from one call to the next; one that its receiver or a newer edit
        has changed is made again.
        """
        if copies != self.edits:
            for at in copies.keys() - self.edits.keys():
                del copies[at]
            for at, item in self.edits.items():
                if copies.get(at) != item:
                    copies[at] = snapshot(item)
        # In pieces: of a long list, digests replace most items, which are not copied.
        starts, spans = self.history.reading.starts, sorted(self.folds)
        firsts = [0, *(self.history.end_of(span.end - 1) for span in spans)]
        lasts = [*(starts[span.start] + 1 for span in spans), len(items)]
        view: list[Item] = []
        for first, last in zip(firsts, lasts, strict=True):
            piece = [*items[first:last]]
            for at, item in copies.items():
                if first <= at < last:
                    piece[at - first] = item
            view += piece
        return view

    def joined(self, items: list[Item]) -> list[Item]:
        """Return the items to send: where roles alternate, a digest joins an answer next to it."""
        digests, dropped = set[int](), 0
        starts = self.history.reading.starts
        for start, end in sorted(self.folds):
            digests.add(starts[start] - dropped)
            dropped += self.history.end_of(end - 1) - starts[start] - 1
        adapter = self.history.reading.adapter
        return reader.alternating(items, adapter, digests) if digests else items


def _links(message: Message) -> list[tuple[bool, str]]:
    """Return the calls and results of a message in their order."""
    links = (part for part in message.parts if part.opens_call or part.closes_call)
    return [(part.opens_call, part.call_id) for part in links]
