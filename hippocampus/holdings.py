"""The large contents of a message list: which entries they are, and how these would read.

Pure over a window: records in, records out. Nothing is stored and nothing is shown here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hippocampus import tokens
from hippocampus.conversation import Message, Part
from hippocampus.entry import (
    Decay,
    Entry,
    Lifecycle,
    Record,
    Source,
    Stage,
    content_key,
    entry_id,
    storable,
)
from hippocampus.indexing import Hints, frame, index, kind_of, price_of
from hippocampus.indexing import arguments as call_arguments
from hippocampus.indexing.shapes import identifiers
from hippocampus.plan import Candidate
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.summaries import Summaries
from hippocampus.window import Window

TASK_CHARACTERS = 4_000
"""How much of the user's latest words tells what an entry should keep."""


@dataclass(slots=True)
class Held:
    """A large content of the list: its record, where it stands, its exact bytes."""

    record: Record
    message: int
    part: int
    due_turn: int
    """The first turn at which it may be shortened."""
    original: bytes


class Holdings:
    """What is large in a window, by place; grows and shrinks with it."""

    def __init__(  # noqa: PLR0913, PLR0917 - made by a session alone, of what it is made of
        self,
        session: str,
        window: Window,
        records: Mapping[str, Record],
        policy: Policy,
        prices: Prices,
        encoding: str,
        summaries: Summaries | None,
    ) -> None:
        self._session = session
        self._window = window
        self._records = records
        self._policy = policy
        self._prices = prices
        self._encoding = encoding
        self._summaries = summaries
        self.full: list[Held] = []
        """What stands in full and may become an entry."""
        self._known: set[str] = set()
        self._calls: dict[str, tuple[int, int, Part]] = {}
        self._places: dict[tuple[int, int], str] = {}

    def drop_from(self, kept: int) -> None:
        """Forget what stands behind the messages that are still the same."""
        self.full = [held for held in self.full if held.message < kept]
        self._calls = {id_: call for id_, call in self._calls.items() if call[0] < kept}
        self._places = {at: place for at, place in self._places.items() if at[0] < kept}
        shown = (text for message in self._window.shown[:kept] for text in message.texts())
        self._known = set().union(*map(identifiers, shown))

    def take(self, number: int) -> list[Held]:
        """Note what is large in a new message; return what is an entry already."""
        indexed: list[Held] = []
        for at, part in enumerate(self._window.raw[number].parts):
            if part.kind == "call":
                self._calls[part.call_id] = (number, at, part)
            elif part.kind == "result":
                indexed += self._take_result(number, at, part)
            if (number, at) not in self._places:
                self._known |= identifiers(part.text)
        return indexed

    def _take_result(self, number: int, at: int, part: Part) -> list[Held]:
        call_number, call_at, call = self._calls.get(part.call_id, (number, at, part))
        taken: list[Held | None] = []
        if self._policy.indexes(self._weigh(part.text), lambda: kind_of(part.text)):
            named = replace(part, tool=part.tool or call.tool)
            taken.append(self._hold(number, at, named, call.text if call is not part else ""))
        if call is not part and self._policy.shortens_arguments(self._weigh(call.text)):
            taken.append(self._hold(call_number, call_at, call, ""))
        return [held for held in taken if held is not None and held.record.stage is not Stage.FULL]

    def _weigh(self, text: str) -> int:
        return tokens.count(text, self._encoding)

    def _hold(self, number: int, at: int, part: Part, argued: str) -> Held | None:
        if (number, at) in self._places:
            return None
        place = self._place(number, at, part)
        form, original = original_of(self._window.raw[number], part)
        record = self._records.get(place)
        if record is None:
            record = self._new_record(number, part, argued, place, content_key(original), form)
        fresh = self._policy.fresh_turns_of(record.kind, record.tokens)
        held = Held(record, number, at, self._window.turn_of(number) + fresh, original)
        self._note(held, part)
        return held

    def _note(self, held: Held, part: Part) -> None:
        if held.record.stage is not Stage.FULL:
            self._known |= identifiers(held.record.shown)
            return
        self.full.append(held)
        if self._summaries and part.kind == "result":
            self._summaries.ask(held.record.place, part.text)

    def _place(self, number: int, at: int, part: Part) -> str:
        """Return what names a content in this conversation, however the list is cut or marked.

        The text counts and not the blocks that hold it, since hosts move `cache_control` marks
        about; of the same text under the same call id (old formats have none) the rank counts.
        """
        text_key = content_key(part.text.encode("utf-8", "surrogatepass"))
        named = storable(f"{part.kind}:{part.call_id}:{text_key}")
        before = sum(place.startswith(named) for place in self._places.values())
        self._places[number, at] = f"{named}:{before}"
        return self._places[number, at]

    def _new_record(  # noqa: PLR0913, PLR0917 - the fields of a record
        self, number: int, part: Part, argued: str, place: str, content: str, form: str
    ) -> Record:
        turn = self._window.turn_of(number)
        tool = storable(part.tool)
        entry = Entry(
            id=self._free_id(place, content),
            type="tool_result",
            source=Source(type=tool or "tool", ref=content, turn=turn),
            summary="",
            decay=Decay(last_access=turn),
            lifecycle=Lifecycle(created=turn),
        )
        weight = self._weigh(part.text)
        kind = "arguments" if part.kind == "call" else kind_of(part.text)
        return Record(
            entry, place, content, form, kind, tool, storable(argued), weight, Stage.FULL, part.text
        )

    def _free_id(self, place: str, content: str) -> str:
        taken = {record.entry.id for record in self._records.values()}
        taken.update(held.record.entry.id for held in self.full)
        tries = (entry_id(self._session, place, content, attempt) for attempt in itertools.count())
        return next(candidate for candidate in tries if candidate not in taken)

    def candidates(self) -> list[Candidate]:
        """Return what may be shortened at this turn, each with its entry written."""
        due = [held for held in self.full if held.due_turn <= self._window.turn]
        for held in due:
            if not held.record.entry.summary:
                held.record = self._indexed(held)
        return [
            Candidate(
                held.record.entry.id,
                held.message,
                held.record.tokens,
                self._weigh(held.record.shown),
                held.due_turn,
            )
            for held in due
        ]

    def leave(self, chosen: set[str]) -> list[Held]:
        """Let the chosen entries become indexed, and return them."""
        leaving = [held for held in self.full if held.record.entry.id in chosen]
        self.full = [held for held in self.full if held.record.entry.id not in chosen]
        for held in leaving:
            held.record = replace(held.record, stage=Stage.INDEXED)
            self._known |= identifiers(held.record.shown)
        return leaving

    def _indexed(self, held: Held) -> Record:
        """Return the record with its entry written; its stage is still `full`."""
        record = held.record
        part = self._window.raw[held.message].parts[held.part]
        if part.kind == "call":
            return self._short_arguments(record, part)
        view_tokens = sum(self._window.shown_tokens)
        price = price_of(
            record.kind, self._policy.compression, self._prices, view_tokens, self._window.turn
        )
        kept = index(part.text, self._hints(held), price)
        summary = (self._summaries and self._summaries.take(record.place)) or kept.summary
        more = frame.last_line(record.entry.id, kept.ways, part.text.count("\n") + 1)
        told = (_opening(record), frame.as_content(summary), *kept.lines[1:], more)
        return _written(record, "\n".join(told), summary, kept.key_data)

    def _short_arguments(self, record: Record, part: Part) -> Record:
        shown = call_arguments.shorten(part.text, _opening(record))
        return _written(record, shown, f"arguments of {record.tool}", {})

    def _hints(self, held: Held) -> Hints:
        """Return what was said before a content arrived, and what was taken from it since."""
        said = self._window.raw
        text = said[held.message].parts[held.part].text
        return Hints(
            tool=held.record.tool,
            arguments=held.record.arguments,
            is_error=said[held.message].parts[held.part].is_error,
            task=_task(said[: held.message])[-TASK_CHARACTERS:],
            cited=_cited(said[held.message :], text),
            known=self._known,
            content_tokens=held.record.tokens,
        )


def _opening(record: Record) -> str:
    turn = record.entry.source.turn
    return frame.first_line(record.entry.id, record.tool, turn, record.tokens, record.kind)


def _written(record: Record, shown: str, summary: str, key_data: dict[str, Any]) -> Record:
    told = {"summary": summary, "key_data": key_data or None}
    return replace(record, entry=record.entry.model_copy(update=told), shown=storable(shown))


def _task(said: list[Message]) -> str:
    """Return the user's words."""
    return " ".join(
        part.text
        for message in said
        if message.role == "user"
        for part in message.parts
        if part.kind == "text"
    )


def _cited(since: list[Message], text: str) -> set[str]:
    """Return what the assistant has written since that stands in a text."""
    return {
        value
        for message in since
        if message.role == "assistant"
        for written in message.texts()
        for value in identifiers(written)
        if value in text
    }


def original_of(message: Message, part: Part) -> tuple[str, bytes]:
    """Return how the message holds a content, and its exact bytes."""
    value: Any = message.raw
    for key in part.place:
        value = value[key]
    if isinstance(value, str):
        return "text", value.encode("utf-8", "surrogatepass")
    form = "blocks" if isinstance(value, list) else "object"
    return form, json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
