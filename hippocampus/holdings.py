"""The large contents of a message list: which entries they are, and how these would read.

Pure over a window: records in, records out. Nothing is stored and nothing is shown here.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from hippocampus import tokens
from hippocampus.conversation import Message, Part
from hippocampus.decay import strength
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
from hippocampus.indexing.worth import SLICE_TOKENS
from hippocampus.plan import Candidate
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.summaries import Summaries
from hippocampus.window import Window

FADE_OVER = 100
FADED = 80
FADE_VIEW = 8000
FADE_AFTER = 6
SLEEP_AFTER = 20
SLEEP_OVER = 150
SLEEP_SHARE = 15
USE = 0.05
FEW = 3
NAMES_ASLEEP = 8
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
    large: bool
    """Whether its size alone makes it an entry; else it has to fade first."""
    shorter: Record | None = None
    """What it becomes next, once that is written."""


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
        self.held: list[Held] = []
        """What stands in full or as an entry, and may become shorter."""
        self._known: Counter[str] = Counter()
        """How many texts of the view name an identifier; full contents do not count."""
        self._named: dict[str, list[Held]] = {}
        """Which contents name an identifier."""
        self._calls: dict[str, tuple[int, int, Part]] = {}
        self._places: dict[tuple[int, int], str] = {}

    def drop_from(self, kept: int) -> None:
        """Forget what stands behind the messages that are still the same."""
        self.held = [held for held in self.held if held.message < kept]
        self._named = {
            name: [held for held in citing if held.message < kept]
            for name, citing in self._named.items()
        }
        self._calls = {id_: call for id_, call in self._calls.items() if call[0] < kept}
        self._places = {at: place for at, place in self._places.items() if at[0] < kept}
        shown = (text for message in self._window.shown[:kept] for text in message.texts())
        self._known = Counter(itertools.chain.from_iterable(map(identifiers, shown)))

    def take(self, number: int) -> list[Held]:
        """Note what is large in a new message; return what is an entry already."""
        indexed: list[Held] = []
        if self._window.raw[number].role == "assistant":
            self._see_accesses(self._window.raw[number])
        for at, part in enumerate(self._window.raw[number].parts):
            if part.kind == "call":
                self._calls[part.call_id] = (number, at, part)
            elif part.kind == "result":
                indexed += self._take_result(number, at, part)
            if (number, at) not in self._places:
                self._known.update(identifiers(part.text))
        return indexed

    def _see_accesses(self, message: Message) -> None:
        """Reset the strength of what an answer cites: by its id, or by a value that few have."""
        for name in {name for text in message.texts() for name in identifiers(text)}:
            citing = self._named.get(name, ())
            if len(citing) <= FEW:
                for held in citing:
                    held.record = _touched(held.record, self._window.turn)
                    held.shorter = None

    def _take_result(self, number: int, at: int, part: Part) -> list[Held]:
        call_number, call_at, call = self._calls.get(part.call_id, (number, at, part))
        named = replace(part, tool=part.tool or call.tool)
        argued = call.text if call is not part else ""
        large = self._policy.indexes(self._weigh(part.text), lambda: kind_of(part.text))
        taken = [self._hold(number, at, named, argued, large=large)]
        if call is not part:
            large = self._policy.shortens_arguments(self._weigh(call.text))
            taken.append(self._hold(call_number, call_at, call, "", large=large))
        return [held for held in taken if held and held.record.stage is not Stage.FULL]

    def _weigh(self, text: str) -> int:
        return tokens.count(text, self._encoding)

    def _hold(self, number: int, at: int, part: Part, argued: str, *, large: bool) -> Held | None:
        small = not large and self._weigh(part.text) <= FADE_OVER
        if small or (number, at) in self._places:
            return None
        place = self._place(number, at, part)
        form, original = original_of(self._window.raw[number], part)
        record = self._records.get(place)
        if record is None:
            record = self._new_record(number, part, argued, place, content_key(original), form)
        fresh = self._policy.fresh_turns_of(record.kind, record.tokens) if large else FADE_AFTER
        held = Held(record, number, at, self._window.turn_of(number) + fresh, large)
        self._note(held, part)
        return held

    def _note(self, held: Held, part: Part) -> None:
        self.held.append(held)
        for name in identifiers(part.text) | {held.record.entry.id}:
            self._named.setdefault(name, []).append(held)
        if part.kind == "result":
            self._known.update(self._shown_names(held))
        elif held.record.stage is not Stage.FULL:
            self._known.subtract(identifiers(part.text))
            self._known.update(self._shown_names(held))
        if held.record.stage is not Stage.FULL:
            return
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
        taken.update(held.record.entry.id for held in self.held)
        tries = (entry_id(self._session, place, content, attempt) for attempt in itertools.count())
        return next(candidate for candidate in tries if candidate not in taken)

    def candidates(self) -> list[Candidate]:
        """Return what may be shortened at this turn, each with its next text written."""

        found = []
        for held in self.held:
            if held.record.stage is Stage.FULL and self._is_due(held):
                if held.shorter is None:
                    held.shorter = self._indexed(held)
                found.append(self._candidate(held))
            elif held.record.stage is Stage.INDEXED and self._may_sleep(held):
                if held.shorter is None:
                    held.shorter = self._asleep(held)
                found.append(self._candidate(held))
        return found

    def _is_due(self, held: Held) -> bool:
        if held.large:
            return held.due_turn <= self._window.turn
        if sum(self._window.shown_tokens) < FADE_VIEW:
            return False
        return self._window.turn - held.record.entry.decay.last_access >= FADE_AFTER

    def _may_sleep(self, held: Held) -> bool:
        idle = self._window.turn - held.record.entry.decay.last_access
        return (
            held.large
            and idle >= SLEEP_AFTER
            and self._weigh(held.record.shown)
            > (SLEEP_OVER if held.record.kind != "arguments" else 50)
        )

    def _candidate(self, held: Held) -> Candidate:
        assert held.shorter is not None
        record = held.record
        arrives = held.large and record.stage is Stage.FULL
        chance = 0.0 if arrives else USE * strength(record.entry, self._window.turn)
        return Candidate(
            record.entry.id,
            held.message,
            self._weigh(record.shown),
            self._weigh(held.shorter.shown),
            held.due_turn,
            chance * self._prices.recall_cost(sum(self._window.shown_tokens), SLICE_TOKENS),
            held.shorter.stage,
            faded=not arrives,
        )

    def leave(self, chosen: set[str]) -> list[Held]:
        """Let the chosen contents take their next stage, and return them."""
        leaving = [held for held in self.held if held.record.entry.id in chosen and held.shorter]
        for held in leaving:
            assert held.shorter is not None
            self._known.subtract(self._shown_names(held))
            held.record, held.shorter = held.shorter, None
            self._known.update(self._shown_names(held))
        return leaving

    def original(self, held: Held) -> bytes:
        """Return the exact bytes of a content, as the message holds it."""
        message = self._window.raw[held.message]
        return original_of(message, message.parts[held.part])[1]

    def _indexed(self, held: Held) -> Record:
        """Return the record as an index entry."""
        record = replace(held.record, stage=Stage.INDEXED)
        part = self._window.raw[held.message].parts[held.part]
        if part.kind == "call":
            return self._short_arguments(record, part, self._known_beside(held))
        view_tokens = sum(self._window.shown_tokens)
        compression = self._policy.compression if held.large else FADED
        price = price_of(record.kind, compression, self._prices, view_tokens, self._window.turn)
        kept = index(part.text, self._hints(held), price)
        summary = (self._summaries and self._summaries.take(record.place)) or kept.summary
        told = [_opening(record), frame.as_content(summary), *kept.lines[1:]]
        if held.large:
            told.append(frame.last_line(record.entry.id, kept.ways, part.text.count("\n") + 1))
        return _written(record, "\n".join(told), summary, kept.key_data)

    def _asleep(self, held: Held) -> Record:
        """Return the record as the line or two that a dormant entry leaves in its place."""
        record = replace(held.record, stage=Stage.DORMANT)
        part = self._window.raw[held.message].parts[held.part]
        if part.kind == "call":
            named = f"[{record.entry.id} · {record.tokens} tokens]"
            return replace(
                record,
                shown=storable(
                    call_arguments.shorten(
                        part.text, named, 0, NAMES_ASLEEP, self._known_beside(held)
                    )
                ),
            )
        room = FADED + record.tokens // SLEEP_SHARE
        price = price_of(record.kind, room, self._prices, 0, self._window.turn)
        kept = index(part.text, self._hints(held), price)
        told = (_opening(record), frame.as_content(record.entry.summary), *kept.lines[1:])
        return replace(record, shown=storable("\n".join(told)))

    def _known_beside(self, held: Held) -> Container[str]:
        """Return what the view names elsewhere than in this content's own entry."""
        return _Elsewhere(self._known, self._shown_names(held))

    def _shown_names(self, held: Held) -> set[str]:
        """Return what a content names in the view; a large result in full is soon gone from it."""
        if held.record.stage is not Stage.FULL:
            return identifiers(held.record.shown)
        part = self._window.raw[held.message].parts[held.part]
        return set() if held.large and part.kind == "result" else identifiers(part.text)

    def _short_arguments(self, record: Record, part: Part, known: Container[str]) -> Record:
        shown = call_arguments.shorten(
            part.text, f"[{record.entry.id} · {record.tokens} tokens]", known=known
        )
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
            known=self._known_beside(held),
            content_tokens=held.record.tokens,
        )


@dataclass(frozen=True, slots=True)
class _Elsewhere(Container[str]):
    """The identifiers that stand in the view, without one entry's own."""

    counts: Counter[str]
    own: set[str]

    def __contains__(self, name: object) -> bool:
        return self.counts.get(cast("str", name), 0) > (name in self.own)


def _touched(record: Record, turn: int) -> Record:
    decay = record.entry.decay.model_copy(update={"last_access": turn})
    return replace(record, entry=record.entry.model_copy(update={"strength": 1.0, "decay": decay}))


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
