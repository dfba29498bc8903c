"""How entries read: the text that stands for a content at each stage. Pure over a window."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from hippocampus.entries.entry import Compression, Record, Stage, storable
from hippocampus.formats.conversation import Message, Part
from hippocampus.indexing import Hints, frame, index, price_of
from hippocampus.indexing import arguments as call_arguments
from hippocampus.indexing.shapes import identifiers
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session.identifiers import Elsewhere, Names
from hippocampus.session.payload import Held
from hippocampus.session.summaries import Summaries
from hippocampus.session.view import Window

TASK_CHARACTERS = 4_000
"""How much of the user's latest words tells what an entry should keep."""
SLEEPING_SHARE = 15
"""A dormant entry of a large content may have a token more for so many of the content."""
NAMES_OF_SLEEPING_ARGUMENTS = 8


class Writer:
    """Writes the next text of a content."""

    def __init__(
        self,
        window: Window,
        names: Names,
        policy: Policy,
        prices: Prices,
        summaries: Summaries | None,
    ) -> None:
        self._window = window
        self._names = names
        self._policy = policy
        self._prices = prices
        self._summaries = summaries

    def indexed(self, held: Held) -> Record:
        """Return the record as an index entry."""
        record = replace(held.record, stage=Stage.INDEXED)
        part = self.part_of(held)
        if part.kind == "call":
            known = self._known_beside(held)
            text = held.treatment.redacted_json(part.text)
            shown = call_arguments.shorten(text, _short_frame(record), known=known)
            return _told(record, shown, f"arguments of {record.tool}", {})
        faded = self._policy.faded_tokens
        compression = self._policy.compression_of(held.treatment) if held.large else faded
        lines, summary, key_data, ways = self._index(held, part, compression)
        if held.large:
            lines.append(frame.last_line(record.entry.id, ways, part.text.count("\n") + 1))
        return _told(record, "\n".join(lines), summary, key_data)

    def asleep(self, held: Held) -> Record:
        """Return the record as the line or two that a dormant entry leaves in its place."""
        record = replace(held.record, stage=Stage.DORMANT)
        part = self.part_of(held)
        if part.kind == "call":
            known, most = self._known_beside(held), NAMES_OF_SLEEPING_ARGUMENTS
            text = held.treatment.redacted_json(part.text)
            shown = call_arguments.shorten(text, _short_frame(record), 0, most, known)
            return replace(record, shown=storable(shown))
        room = self._policy.faded_tokens + record.tokens // SLEEPING_SHARE
        lines = self._index(held, part, room)[0]
        return replace(record, shown=storable("\n".join(lines)))

    def _index(
        self, held: Held, part: Part, compression: Compression
    ) -> tuple[list[str], str, dict[str, Any], tuple[str, ...]]:
        """Return first line, summary and kept lines of an entry, and what a record wants to know."""
        record = held.record
        view_tokens = self._window.shown_total
        price = price_of(record.kind, compression, self._prices, view_tokens, self._window.turn)
        screen = held.treatment.redacted
        text = screen(part.text)
        kept = index(text, self._hints(held, text), price)
        asked = self._summaries and self._summaries.take(record.place)
        summary = screen(asked or kept.summary)
        opening = frame.first_line(
            record.entry.id, record.tool, record.entry.source.turn, record.tokens, record.kind
        )
        note = [held.note] if held.note else []
        told = map(screen, kept.lines[1:])  # again, since what markup parts is joined in them
        lines = [opening, *note, frame.as_content(summary), *told]
        return lines, summary, held.treatment.redacted_data(kept.key_data), kept.ways

    def part_of(self, held: Held) -> Part:
        """Return the part of the list that a content is."""
        return self._window.raw[held.message].parts[held.part]

    def names_of(self, held: Held) -> AbstractSet[str]:
        """Return what a content names in the view; a large result in full is soon gone from it."""
        if held.record.stage is not Stage.FULL:
            return identifiers(held.record.shown)
        part = self.part_of(held)
        return set() if held.large and part.kind == "result" else identifiers(part.text)

    def _known_beside(self, held: Held) -> Elsewhere:
        return Elsewhere(self._names.shown, self.names_of(held))

    def _hints(self, held: Held, text: str) -> Hints:
        """Return what was said before a content arrived, and what was taken from it since."""
        said = self._window.raw
        return Hints(
            tool=held.record.tool,
            arguments=held.record.arguments,
            is_error=self.part_of(held).is_error,
            task=_task(said[number] for number in self._window.asked_before(held.message)),
            cited=_cited(said[held.message :], text),
            known=self._known_beside(held),
            content_tokens=held.record.tokens,
        )


def _short_frame(record: Record) -> str:
    return f"[{record.entry.id} · {record.tokens} tokens]"


def _told(record: Record, shown: str, summary: str, key_data: dict[str, Any]) -> Record:
    told = {"summary": summary, "key_data": key_data or None}
    return replace(record, entry=record.entry.model_copy(update=told), shown=storable(shown))


def _task(asked: Iterable[Message]) -> str:
    """Return the end of the user's words."""
    words = (part.text for message in asked for part in message.parts if part.kind == "text")
    return " ".join(words)[-TASK_CHARACTERS:]


def _cited(since: Sequence[Message], text: str) -> set[str]:
    """Return what the assistant has written since that stands in a text."""
    said = (message.texts() for message in since if message.role == "assistant")
    written = set[str]().union(*map(identifiers, itertools.chain.from_iterable(said)))
    return {value for value in written if value in text}
