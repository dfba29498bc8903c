"""The view of a message list: the messages that the model is sent, and how they differ from the list. Pure.

Nothing is judged, indexed or stored here; the plan decides on changes.
"""

from __future__ import annotations

import itertools
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from hippocampus.errors import ViewError
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item, Message, Part, unpaired, with_texts
from hippocampus.formats.reader import grown, snapshot
from hippocampus.models import tokens
from hippocampus.session.history import History, Rendered, Span


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
    context_load: str = ""
    loaded_at: tuple[int, int] | None = None
    """The message and the part that the context load precedes."""
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
                loaded_at=self.loaded_at if self.loaded_at and self.loaded_at[0] < kept else None,
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
        put = defaultdict[int, dict[int, str]](dict)
        gone = defaultdict[int, set[int]](set)
        for number, part, text, bare in texts:
            put[number][part] = (
                self.context_load if (number, part) == self.loaded_at else ""
            ) + text
            if bare:
                gone[number].add(part)
        edited = {n: with_texts(self.shown[n], own, gone[n]) for n, own in put.items()}
        return self._with(edited, min(self.unchanged, *edited)) if edited else self

    def with_context_load(self, text: str) -> View:
        """Return the view with a text before the user's first words, even if a text replaces these."""
        place = self.history.first_words() if text and self.loaded_at is None else None
        if place is None:
            return self
        number, part = place
        said = self.shown[number].parts[part].text
        edited = {number: with_texts(self.shown[number], {part: text + said})}
        return replace(self._with(edited, self.unchanged), context_load=text, loaded_at=place)

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
            weights[start + 1 : end] = array("q", [0]) * count
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

    def expect_pairs(self) -> None:
        """Check law 4: an invalid conversation is neither sent nor committed.

        Raises:
            ViewError: a call or a result in the changed part of the view has lost its other half.
        """
        raw, first = self.history.raw, self.unchanged
        changed = [fold for fold in self.folds if fold.end > first]
        folded = {number for fold in changed for number in range(*fold)}
        for number in range(first, len(raw)):
            if number not in folded and _links(self.shown[number]) != _links(raw[number]):
                raise ViewError(f"message {number} has other calls and results than its list")
        # The host's list may be broken already: only what the view adds to that counts.
        wrong = unpaired(self.shown) if changed else []
        if wrong and len(wrong) > len(unpaired(raw)):
            raise ViewError(wrong[0])

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


@dataclass(frozen=True, slots=True)
class Change:
    """One text of the view that the list does not have."""

    kind: Literal["result", "call", "text", "image", "digest", "added"]
    """The text of a tool result; the arguments of a call, as JSON; words; a text in place of an image;
    one assistant message in place of `message` to `end`; a user's text after `message`."""
    message: int
    """The index in the list that was handed in."""
    end: int
    """The index after the last message that is replaced."""
    part: int
    """The position of the block, or of the call among the message's calls; 0 for a plain string."""
    call_id: str
    """The id of the call, for `call` and `result`."""
    text: str
    """The whole text that the view has."""


def changes_of(view: View) -> tuple[Change, ...]:
    """Return the changes of a view, in the order of the list."""
    reading = view.history.reading
    digests = dict(view.folds)
    found: list[Change] = []
    for number, (raw, shown) in enumerate(zip(reading.messages, view.shown, strict=True)):
        if raw is shown:
            continue
        start = reading.starts[number]
        if number in digests:
            end = view.history.end_of(digests[number] - 1)
            found.append(Change("digest", start, end, 0, "", shown.parts[0].text))
        elif shown.raw:  # a message inside a digest is empty
            found += _changes_in(raw, shown, start)
    return tuple(found)


def changes_between(own: Sequence[Message], view: Sequence[Message]) -> tuple[Change, ...]:
    """Return the changes between two lists of as many messages."""
    starts = itertools.accumulate((len(message.raw) for message in own), initial=0)
    pairs = zip(own, view, starts, strict=False)
    return tuple(change for raw, shown, start in pairs for change in _changes_in(raw, shown, start))


def _changes_in(raw: Message, shown: Message, start: int) -> Iterator[Change]:
    for part, instead in zip(raw.parts, shown.parts, strict=False):
        if part.text != instead.text and part.kind in ("result", "call", "text", "image"):
            at = start + int(part.path[0])
            yield Change(part.kind, at, at + 1, position(part), part.call_id, instead.text)
    for part in shown.parts[len(raw.parts) :]:
        at = start + len(raw.raw) - 1
        yield Change("added", at, at + 1, 0, "", part.text)


def position(part: Part) -> int:
    """Return the last list position in a part's path inside its item."""
    return next((key for key in reversed(part.path[1:]) if isinstance(key, int)), 0)
