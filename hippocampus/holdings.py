"""The large contents of a message list: which entries they are, who uses them, what is due.

Pure over a window: records in, records out. Nothing is stored and nothing is shown here.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus import tokens
from hippocampus.conversation import Message, Part
from hippocampus.decay import strength
from hippocampus.digest import Run
from hippocampus.entry import (
    Decay,
    Entry,
    Lifecycle,
    Modifiers,
    Record,
    Source,
    Stage,
    content_key,
    entry_id,
    storable,
)
from hippocampus.held import Held, original_of
from hippocampus.indexing import kind_of
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.worth import SLICE_TOKENS
from hippocampus.names import Names
from hippocampus.plan import Candidate
from hippocampus.policy import Policy, Subject, Treatment
from hippocampus.prices import Prices
from hippocampus.recall import TOOL_NAME
from hippocampus.summaries import Summaries
from hippocampus.window import Window
from hippocampus.writing import Writer

CHANCE_OF_USE = 0.05
"""How likely a content at full strength is needed in a form that its shorter text does not show."""
SLEEPING_ARGUMENTS_OVER = 50
PATH_KEYS = ("path", "file_path", "filename", "file", "filepath", "target_file")
"""Argument names under which tools of all makers name the file that they read or write."""
WRITTEN_CHARACTERS = 80
"""A call with a file's name and so much other text writes the file."""


class Shown(NamedTuple):
    """A text that stands in place of a part of a message."""

    message: int
    part: int
    text: str


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
        self._names = Names()
        self._writer = Writer(window, self._names, policy, prices, summaries)
        self.held: list[Held] = []
        """What stands in full or as an entry, and may become shorter."""
        self._calls: dict[str, tuple[int, int, Part]] = {}
        self._places: dict[tuple[int, int], str] = {}
        self._latest: dict[str, Held] = {}
        """By tool and arguments, the newest result."""
        self.noted: list[tuple[Record, bytes]] = []
        """Words of the user that the policy wants to keep, until they are written down."""
        self._files: dict[str, list[Held]] = {}
        """By file name, the results of calls that named it."""

    # What comes and goes

    def drop_from(self, kept: int) -> None:
        """Forget what stands behind the messages that are still the same."""
        self.held = [held for held in self.held if held.message < kept]
        self._calls = {id_: call for id_, call in self._calls.items() if call[0] < kept}
        self._places = {at: place for at, place in self._places.items() if at[0] < kept}
        self._latest = {key: held for key, held in self._latest.items() if held.message < kept}
        self._names.keep_before(kept)
        self._names.show_only(_texts(self._window.shown[:kept]))

    def fold(self, run: Run) -> None:
        """Forget what stands in turns that a digest tells."""
        self.held = [held for held in self.held if not run.start <= held.message < run.end]
        self._names.show_only(_texts(self._window.shown))

    def take(self, number: int) -> list[Shown]:
        """Note what is large in a new message; return what stands in place of its parts."""
        shown: list[Shown] = []
        message = self._window.raw[number]
        if message.role != "system":
            self._see_accesses(message)
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                self._calls[part.call_id] = (number, at, part)
            elif part.kind == "result":
                shown += self._take_result(number, at, part)
            elif part.kind == "text" and message.role == "user":
                shown += self._take_words(number, at, part)
            if (number, at) not in self._places:
                self._names.show(identifiers(part.text))
        return shown

    def _see_accesses(self, message: Message) -> None:
        """Reset the strength of what a message points at, and associate what it names together."""
        said = [part.text for part in message.parts if part.kind != "result"]
        cited = self._names.cited_by(said)
        if message.role == "user" and said:
            meant = self._names.meant_by(" ".join(said))
            cited += [held for held in meant if held not in cited]
        for held in cited:
            held.touch(self._window.turn, self._policy.initial_strength)
        ids = [held.record.entry.id for held in cited]
        for held in cited if len(cited) > 1 else ():
            held.associate(ids)

    def _take_words(self, number: int, at: int, part: Part) -> list[Shown]:
        """Note what the user wants to be kept; words stay as they are, unless a rule indexes them."""
        weight = self._weigh(part.text)
        said = Subject("message", source_type="user", text=part.text, tokens=weight)
        treatment = self._policy.treat(said)
        if treatment.index and self._policy.indexes(weight, lambda: kind_of(part.text), treatment):
            held = self._hold(number, at, part, "", large=True, treatment=treatment)
            known = held and held.record.stage is not Stage.FULL
            return [Shown(number, at, held.record.shown)] if held and known else []
        original = part.text.encode("utf-8", "surrogatepass")
        place = f"message:{number}:{content_key(original)}"
        if not treatment.persist or place in self._records:
            return []
        entry = self._new_entry(number, part, place, content_key(original), treatment)
        told = entry.model_copy(update={"summary": storable(part.text[:200])})
        record = Record(
            told,
            place,
            content_key(original),
            "text",
            "message",
            "user",
            "",
            weight,
            Stage.FULL,
            "",
        )
        self.noted.append((record, original))
        return []

    def _take_result(self, number: int, at: int, part: Part) -> list[Shown]:
        call_number, call_at, call = self._calls.get(part.call_id, (number, at, part))
        named = replace(part, tool=part.tool or call.tool)
        if named.tool == TOOL_NAME:
            return []
        argued = call.text if call is not part else ""
        treatment = self._treat(named, argued)
        tokens_of = self._weigh(part.text)
        large = self._policy.indexes(tokens_of, lambda: kind_of(part.text), treatment)
        held = self._hold(number, at, named, argued, large=large, treatment=treatment)
        if held:
            self._supersede(held, named.tool, argued)
        taken = [held]
        if call is not part:
            large = self._policy.shortens_arguments(self._weigh(call.text), treatment)
            taken.append(self._hold(call_number, call_at, call, "", large=large))
            self._outdate_files(call, held)
        if treatment.redact:
            self._window.redact(number, at, treatment.redacted(part.text))
        entries = [each for each in taken if each and each.record.stage is not Stage.FULL]
        return [Shown(each.message, each.part, each.record.shown) for each in entries]

    def _treat(self, part: Part, argued: str) -> Treatment:
        return self._policy.treat(
            Subject(
                "tool_result",
                tool=part.tool,
                text=part.text,
                tokens=self._weigh(part.text),
                kind=lambda: kind_of(part.text),
                is_error=part.is_error,
                arguments=argued,
            )
        )

    def _weigh(self, text: str) -> int:
        return tokens.count(text, self._encoding)

    def _hold(  # noqa: PLR0913 - a part, where it stands, and what is said of it
        self,
        number: int,
        at: int,
        part: Part,
        argued: str,
        *,
        large: bool,
        treatment: Treatment | None = None,
    ) -> Held | None:
        small = not large and self._weigh(part.text) <= self._policy.fade_over_tokens
        if small or (number, at) in self._places:
            return None
        treated = treatment or Treatment()
        place = self._place(number, at, part)
        record = self._records.get(place) or self._new_record(number, part, argued, place, treated)
        fresh = self._policy.fresh_turns_of(record.kind, record.tokens, treated) if large else 0
        held = Held(record, number, at, self._window.turn_of(number) + fresh, large, treated)
        self._note(held, part)
        return held

    def _note(self, held: Held, part: Part) -> None:
        """Count what a content names, and start on its summary."""
        self.held.append(held)
        self._names.hold(held, part.text)
        if part.kind == "result":
            self._names.describe(held, part.text)
        indexed = held.record.stage is not Stage.FULL
        if part.kind == "call" and indexed:
            self._names.hide(identifiers(part.text))
        if part.kind != "call" or indexed:
            self._names.show(self._writer.names_of(held))
        if self._summaries and part.kind == "result" and not indexed:
            self._summaries.ask(held.record.place, part.text)

    def _supersede(self, held: Held, tool: str, argued: str) -> None:
        """Let an older result of the same call be due: the newer one stands for it."""
        key = f"{tool}\0{_normal(argued)}"
        before = self._latest.get(key)
        self._latest[key] = held
        if before is None or before.message >= held.message:
            return
        if before.record.content == held.record.content:
            turn, id_ = before.record.entry.source.turn, before.record.entry.id
            held.note = f"unchanged since turn {turn}, see {id_}"
        else:
            before.supersede(f"superseded at turn {held.record.entry.source.turn}")
        held.associate([before.record.entry.id])

    def _outdate_files(self, call: Part, held: Held | None) -> None:
        """Say of earlier reads of a file that a call has written it since."""
        name, written = _file_of(call.text)
        if not name:
            return
        if written:
            for earlier in self._files.pop(name, ()):
                earlier.mark(f"stale: written at turn {self._window.turn}")
        elif held:
            self._files.setdefault(name, []).append(held)

    # What its record is

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

    def _new_record(
        self, number: int, part: Part, argued: str, place: str, treatment: Treatment
    ) -> Record:
        form, original = original_of(self._window.raw[number], part)
        content = content_key(original)
        return Record(
            entry=self._new_entry(number, part, place, content, treatment),
            place=place,
            content=content,
            form=form,
            kind="arguments" if part.kind == "call" else kind_of(part.text),
            tool=storable(part.tool),
            arguments=storable(argued),
            tokens=self._weigh(part.text),
            stage=Stage.FULL,
            shown=part.text,
        )

    def _new_entry(
        self, number: int, part: Part, place: str, content: str, treatment: Treatment
    ) -> Entry:
        turn = self._window.turn_of(number)
        source = self._policy.source_type_of(storable(part.tool), part.is_error)
        if part.kind == "text":
            source = "user"
        expires = treatment.expires_after_turns
        return Entry(
            id=self._free_id(place, content),
            type="message" if part.kind == "text" else "tool_result",
            source=Source(type=source or "tool", ref=content, turn=turn),
            summary="",
            strength=self._policy.initial_strength,
            decay=Decay(
                rate=self._policy.decay_rate_of(
                    "message" if part.kind == "text" else "tool_result", treatment
                ),
                floor=treatment.floor or 0.0,
                last_access=turn,
            ),
            modifiers=Modifiers(
                priority=treatment.priority or "normal",
                encoding=treatment.encoding or ("manual" if part.kind == "text" else "auto"),
            ),
            lifecycle=Lifecycle(
                created=turn,
                expires=None if expires is None else turn + expires,
                persist=bool(treatment.persist),
            ),
        )

    def _free_id(self, place: str, content: str) -> str:
        taken = {record.entry.id for record in self._records.values()}
        taken.update(held.record.entry.id for held in self.held)
        tries = (entry_id(self._session, place, content, attempt) for attempt in itertools.count())
        return next(candidate for candidate in tries if candidate not in taken)

    # What is due

    def candidates(self) -> list[Candidate]:
        """Return what may be shortened at this turn, each with its next text written."""
        view_tokens = sum(self._window.shown_tokens)
        missing = self._prices.recall_cost(view_tokens, SLICE_TOKENS)
        due = [held for held in self.held if self._is_due(held, view_tokens)]
        for held in due:
            if held.shorter is None:
                full = held.record.stage is Stage.FULL
                held.shorter = (self._writer.indexed if full else self._writer.asleep)(held)
        strong = self._strong(due)
        return [
            self._candidate(held, held.shorter, missing, strong) for held in due if held.shorter
        ]

    def _is_due(self, held: Held, view_tokens: int) -> bool:
        stage = held.record.stage
        if stage is Stage.DORMANT or held.treatment.pin:
            return False
        if held.record.entry.modifiers.priority == "critical":
            return False
        turn = self._window.turn
        idle = turn - held.record.entry.decay.last_access
        if stage is Stage.FULL and held.large:
            return held.due_turn <= turn
        if view_tokens < self._policy.fade_view_tokens:
            return False
        if stage is Stage.FULL:
            return idle >= self._policy.fade_after_turns or bool(held.note and not held.due_turn)
        return stage is Stage.INDEXED and held.large and self._may_sleep(held, idle)

    def _may_sleep(self, held: Held, idle: int) -> bool:
        over = self._policy.sleep_over_tokens
        least = SLEEPING_ARGUMENTS_OVER if held.record.kind == "arguments" else over
        ended = held.record.entry.lifecycle.expires
        old = idle >= self._policy.sleep_after_turns or (ended and self._window.turn > ended)
        return bool(old or not held.due_turn) and held.weight(self._weigh) > least

    def _strong(self, due: Sequence[Held]) -> set[str]:
        """Return the ids of the associated entries that are strong enough to slow those due."""
        named = {id_ for held in due for id_ in held.record.entry.modifiers.associations}
        turn, least = self._window.turn, self._policy.strong
        entries = (each.record.entry for each in self.held if each.record.entry.id in named)
        return {entry.id for entry in entries if strength(entry, turn) >= least}

    def _candidate(
        self, held: Held, shorter: Record, missing: float, strong: set[str]
    ) -> Candidate:
        record = held.record
        arrives = held.large and record.stage is Stage.FULL
        associated = not strong.isdisjoint(record.entry.modifiers.associations)
        exponent = self._policy.exponent
        fading = strength(record.entry, self._window.turn, associated=associated, exponent=exponent)
        return Candidate(
            record.entry.id,
            held.message,
            held.weight(self._weigh),
            self._weigh(shorter.shown),
            held.due_turn,
            0.0 if arrives else CHANCE_OF_USE * fading * missing,
            shorter.stage,
            faded=not arrives,
        )

    def leave(self, chosen: set[str]) -> list[Held]:
        """Let the chosen contents take their next stage, and return them."""
        leaving = []
        for held in self.held:
            if held.shorter and held.record.entry.id in chosen:
                self._names.hide(self._writer.names_of(held))
                held.record, held.shorter = held.shorter, None
                self._names.show(self._writer.names_of(held))
                leaving.append(held)
        return leaving

    def original(self, held: Held) -> bytes:
        """Return the bytes to keep of a content: as the message holds it, unless it is redacted."""
        part = self._writer.part_of(held)
        redaction = held.treatment.redact
        if redaction and redaction.original:
            return held.treatment.redacted(part.text).encode("utf-8", "surrogatepass")
        return original_of(self._window.raw[held.message], part)[1]

    def update(self, record: Record) -> None:
        """Let a content have its record as it was written down."""
        for held in self.held:
            if held.record.place == record.place:
                held.record = record

    def ids(self, run: Run) -> dict[str, str]:
        """Return the ids of the entries in a run, by the calls whose results they are."""
        inside = (held for held in self.held if run.start <= held.message < run.end)
        return {
            self._writer.part_of(held).call_id: held.record.entry.id
            for held in inside
            if held.record.stage is not Stage.FULL
        }


def _texts(messages: list[Message]) -> list[str]:
    return [text for message in messages for text in message.texts()]


def _normal(arguments: str) -> str:
    """Return arguments so that the same ones in another order are the same text."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (ValueError, RecursionError):
        return arguments


def _file_of(arguments: str) -> tuple[str, bool]:
    """Return the file that a call names, and whether the call brings text to write into it."""
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return "", False
    if not isinstance(value, dict):
        return "", False
    name = next((value[key] for key in PATH_KEYS if isinstance(value.get(key), str)), "")
    others = (inner for key, inner in value.items() if key not in PATH_KEYS)
    return name, any(isinstance(each, str) and len(each) > WRITTEN_CHARACTERS for each in others)
