"""The texts that replace payloads in the view, by stage. Pure.

Their first and last lines are in `indexing.frame`, their middle is chosen by the extractors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hippocampus.entries.entry import Compression, Record, Stage, storable
from hippocampus.formats.conversation import Message, Part
from hippocampus.indexing import ExtractionContext, frame, index, price_of
from hippocampus.indexing import arguments as call_arguments
from hippocampus.session.history import History
from hippocampus.session.payloads import Payload, Payloads, is_near_repeat
from hippocampus.session.rules import Rules

TASK_CHARACTERS = 4_000
"""The end of the user's words by which the lines of an entry are chosen."""
SLEEPING_SHARE, SLEEPING_MORE_TOKENS = 15, 300
"""A dormant entry may have one token more per 15 of its content, up to 300: without them values
that agents use go from 95.4 to 92.5 percent on Claude Code, for no saving."""
FADED_PART = 3
"""The part of its content that the entry of something small and faded weighs at most."""


@dataclass(frozen=True, slots=True)
class EntryRenderer:
    """Writes the text that replaces a payload in the view."""

    history: History
    view_tokens: int
    payloads: Payloads
    rules: Rules

    def next_record(self, payload: Payload, twin: Payload | None = None) -> Record:
        """Return the record of a payload at its next stage; `twin` has the same content."""
        if not payload.is_full:
            return self.asleep(payload)
        # The entry of a text that was read has the lines that were written since: it is made anew.
        if twin is None or twin.collapsed or payload.is_fresh or not payload.large:
            return self.indexed(payload)
        is_shown = twin.record.stage is not Stage.DORMANT and is_near_repeat(payload, twin)
        return self._repeat(payload, twin) if is_shown else self.indexed(payload)

    def _repeat(self, payload: Payload, twin: Payload) -> Record:
        """Return the record of a repeat in two lines; the view has the text or entry of its twin."""
        record = replace(payload.record, stage=Stage.INDEXED)
        source = record.entry.source
        opening = frame.first_line(
            record.entry.id, record.tool, source.turn, record.tokens, record.kind
        )
        summary = twin.record.entry.summary or payload.note
        return _written(record, f"{opening}\n{payload.note}", summary, {})

    def indexed(self, payload: Payload) -> Record:
        """Return the record as an index entry."""
        record = replace(payload.record, stage=Stage.INDEXED)
        part = self.part_of(payload)
        if part.kind == "call":
            text = payload.resolution.redacted_json(part.text)
            shown = call_arguments.shorten(text, _short_frame(record))
            return _written(record, shown, f"arguments of {record.tool}", {})
        policy = self.rules.policy
        faded = max(policy.faded_tokens, record.tokens // FADED_PART)
        compression = policy.compression_of(payload.resolution) if payload.large else faded
        lines, summary, key_data, ways = self._index(payload, part, compression)
        if payload.large:
            lines.append(frame.last_line(record.entry.id, ways, part.text.count("\n") + 1))
        return _written(record, "\n".join(lines), summary, key_data)

    def asleep(self, payload: Payload) -> Record:
        """Return the record as the line or two that a dormant entry leaves in its place."""
        record = replace(payload.record, stage=Stage.DORMANT)
        part = self.part_of(payload)
        if part.kind == "call":
            text = payload.resolution.redacted_json(part.text)
            most = call_arguments.SLEEPING_TOKENS
            shown = call_arguments.shorten(text, _short_frame(record), most)
            return replace(record, shown=storable(shown))
        more = min(SLEEPING_MORE_TOKENS, record.tokens // SLEEPING_SHARE)
        lines = self._index(payload, part, self.rules.policy.faded_tokens + more)[0]
        return replace(record, shown=storable("\n".join(lines)))

    def _index(
        self, payload: Payload, part: Part, compression: Compression
    ) -> tuple[list[str], str, dict[str, Any], tuple[str, ...]]:
        """Return the lines of an entry, with its summary, key data and selectors."""
        record = payload.record
        view_tokens = self.view_tokens
        price = price_of(
            record.kind, compression, self.rules.prices, view_tokens, self.history.turn
        )
        screen = payload.resolution.redacted
        text = screen(part.text)
        kept = index(text, self._context_of(payload, text), price)
        summary = screen(kept.summary)
        opening = frame.first_line(
            record.entry.id, record.tool, record.entry.source.turn, record.tokens, record.kind
        )
        note = [payload.note] if payload.note else []
        rest = kept.lines[1:]
        if payload.resolution.redact:  # again, since what markup parts is joined in them
            rest = tuple(map(screen, rest))
        images = self.history.image_tokens(payload.message, payload.part)
        # The images of a result leave the view with its text.
        has_left = images and not (payload.large and payload.is_full)
        pictures = [f'images of {images} tokens: recall("{payload.id}")'] if has_left else []
        about = [frame.as_content(summary)] if text or not pictures else []
        lines = [opening, *note, *pictures, *about, *rest]
        return lines, summary, payload.resolution.redacted_data(kept.key_data), kept.selectors

    def part_of(self, payload: Payload) -> Part:
        """Return the part of the list that a payload is."""
        return self.history.raw[payload.message].parts[payload.part]

    def _context_of(self, payload: Payload, text: str) -> ExtractionContext:
        """Return the words before a payload arrived, and the identifiers taken from it since."""
        said, turns, found = self.history.raw, self.history.turns, self.payloads.index
        is_newest = turns[payload.message] == self.history.turn
        own = self.payloads.sites[payload.message, payload.part]
        return ExtractionContext(
            arguments=payload.record.arguments,
            is_error=self.part_of(payload).is_error,
            task=_task(
                said[number] for number in reversed(self.history.asked_before(payload.message))
            ),
            cited=set() if is_newest else found.cited_since(payload.message, text),
            known=partial(found.held_elsewhere, own=own),
            content_tokens=payload.record.tokens,
        )


def _short_frame(record: Record) -> str:
    return f"[{record.entry.id} · {record.tokens} tokens]"


def _written(record: Record, shown: str, summary: str, key_data: dict[str, Any]) -> Record:
    entry = replace(record.entry, summary=summary, key_data=key_data or None)
    return replace(record, entry=entry, shown=storable(shown))


def _task(asked: Iterable[Message]) -> str:
    """Return the end of the user's words; the newest messages come first."""
    words, left = list[str](), TASK_CHARACTERS
    for message in asked:
        for part in reversed(message.parts):
            if part.kind == "text" and left > 0:
                words.append(part.text)
                left -= len(part.text) + 1
    return " ".join(reversed(words))[-TASK_CHARACTERS:]
