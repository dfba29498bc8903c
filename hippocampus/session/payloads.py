"""The large contents of a message list: which entries they are, who uses them, what is due.

Pure over a window: records in, records out. Nothing is stored and nothing is shown here.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import NamedTuple

from hippocampus import tokens
from hippocampus.entries.entry import (
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
from hippocampus.formats.calls import file_of, normal
from hippocampus.formats.conversation import Message, Part
from hippocampus.indexing import kind_of
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.worth import SLICE_TOKENS
from hippocampus.policy import Policy, Subject, Treatment
from hippocampus.prices import Prices
from hippocampus.recall import TOOL_NAME
from hippocampus.session.digest import Run
from hippocampus.session.due import DueTable
from hippocampus.session.identifiers import Names
from hippocampus.session.payload import Held, original_of
from hippocampus.session.plan import Candidate
from hippocampus.session.redactor import Screen, result_subject
from hippocampus.session.renderer import Writer
from hippocampus.session.summaries import Summaries
from hippocampus.session.view import Window

CHANCE_OF_USE = 0.05
"""How likely a content at full strength is needed in a form that its shorter text does not show."""


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
        self._screen = Screen(window, policy, self._weigh)
        self.held: list[Held] = []
        """What stands in full or as an entry, and may become shorter."""
        self._by_id: dict[str, Held] = {}
        self._taken = {record.entry.id for record in records.values()}
        """Ids of entries that are written down."""
        self._due = DueTable(policy, self._weigh)
        self._calls: dict[str, tuple[int, int, Part]] = {}
        self._places: dict[tuple[int, int], str] = {}
        self._ranks: Counter[str] = Counter()
        """How many contents say the same under the same call id."""
        self._latest: dict[tuple[str, ...], Held] = {}
        """By what results have in common that supersede each other, the newest one."""
        self.noted: list[tuple[Record, bytes]] = []
        """Words of the user to keep, and results that an entry names, until they are written down."""
        self._files: dict[str, list[Held]] = {}
        """By file name, the results of calls that named it."""

    @property
    def names(self) -> Names:
        """Return which names stand in the view, and which contents have them."""
        return self._names

    # What comes and goes

    def stand(self, start: int, end: int) -> bool:
        """Say whether what is held in messages that were read again has the bytes that it had."""
        return all(
            content_key(self.original(held)) == held.record.content
            for held in self._between(start, end)
            if held.record.stage is Stage.FULL
        )

    def again(self, start: int, end: int) -> list[Shown]:
        """Return what stands in place of parts of messages that say what they said before."""
        for number in range(start, end):
            self._screen.take(number, self._call_of)
        known = (each for each in self._between(start, end) if each.record.stage is not Stage.FULL)
        return [Shown(each.message, each.part, each.record.shown) for each in known]

    def _between(self, start: int, end: int) -> Iterator[Held]:
        return (held for held in self.held if start <= held.message < end)

    def fold(self, run: Run) -> None:
        """Forget what stands in turns that a digest tells."""
        self._keep_only([held for held in self.held if not run.start <= held.message < run.end])
        self._names.show_only(self._names_before(len(self._window.shown)))

    def _names_before(self, end: int) -> Iterator[AbstractSet[str]]:
        """Yield what each part of the messages before a number names in the view."""
        held = {(each.message, each.part): each for each in self.held}
        for number, message in enumerate(self._window.shown[:end]):
            for at, part in enumerate(message.parts):
                known = held.get((number, at))
                yield self._writer.names_of(known) if known else identifiers(part.text)

    def _keep_only(self, held: list[Held]) -> None:
        self.held = held
        self._by_id = {each.record.entry.id: each for each in held}
        self._due.refill(held)

    def take(self, number: int) -> list[Shown]:
        """Note what is large in a new message; return what stands in place of its parts."""
        shown: list[Shown] = []
        self._screen.take(number, self._call_of)
        message = self._window.raw[number]
        if message.role != "system":
            self._see_accesses(message, self._window.turn_of(number))
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                self._calls[part.call_id] = (number, at, self._window.told_of(number).parts[at])
            elif part.kind == "result":
                shown += self._take_result(number, at, part)
            elif part.kind == "text" and message.role == "user":
                shown += self._take_words(number, at, part)
            if (number, at) not in self._places:
                self._names.show(identifiers(part.text))
        return shown

    def _call_of(self, call_id: str) -> Part | None:
        return self._calls[call_id][2] if call_id in self._calls else None

    def _see_accesses(self, message: Message, turn: int) -> None:
        """Reset the strength of what a message points at, and associate what it names together."""
        said = [part.text for part in message.parts if part.kind != "result"]
        cited = self._names.cited_by(said)
        if message.role == "user" and said:
            meant = self._names.meant_by(" ".join(said))
            cited += [held for held in meant if held not in cited]
        ids = [held.record.entry.id for held in cited]
        for held in cited:
            held.touch(turn, self._policy.initial_strength)
            if len(ids) > 1:
                held.associate(ids)
            self._due.note(held)

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
        key = content_key(original)
        place = f"message:{number}:{key}"
        if not treatment.persist or place in self._records:
            return []
        entry = self._new_entry(number, part, place, key, treatment)
        text = self._window.told_of(number).parts[at].text
        told = entry.model_copy(update={"summary": storable(text[:200])})
        record = Record(told, place, key, "text", "message", "user", "", weight, Stage.FULL, "")
        self._taken.add(record.entry.id)
        self.noted.append((record, original))
        return []

    def _take_result(self, number: int, at: int, part: Part) -> list[Shown]:
        call_number, call_at, call = self._calls.get(part.call_id, (number, at, part))
        known = None if call is part else call
        named = replace(part, tool=part.tool or call.tool)
        if named.tool == TOOL_NAME:
            return []
        argued = known.text if known else ""
        treatment = self._policy.treat(result_subject(named, known, self._weigh))
        tokens_of = self._weigh(part.text)
        large = self._policy.indexes(tokens_of, lambda: kind_of(part.text), treatment)
        sources = self._names.cited_by([argued])
        held = self._hold(number, at, named, argued, large=large, treatment=treatment)
        if held:
            self._supersede(held, named.tool, argued)
            self._join(held, sources)
        taken = [held]
        if known:
            large = self._policy.shortens_arguments(self._weigh(call.text), treatment)
            kept = False if self._policy.keeps_arguments(treatment) else None
            told = Treatment(redact=self._screen.of(call_number, call_at), index=kept)
            taken.append(self._hold(call_number, call_at, call, "", large=large, treatment=told))
            self._outdate_files(call, held, self._window.turn_of(number))
        entries = [each for each in taken if each and each.record.stage is not Stage.FULL]
        return [Shown(each.message, each.part, each.record.shown) for each in entries]

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
        treated = treatment or Treatment()
        said = treated.pin or treated.index is False or treated.compression == "none"
        followed = large or said or self._weigh(part.text) > self._policy.fade_over_tokens
        if not followed or (number, at) in self._places:
            return None
        place = self._place(number, at, part)
        record = self._records.get(place) or self._new_record(number, part, argued, place, treated)
        if record.stage is Stage.FULL:
            record = replace(record, shown=part.text)
        fresh = self._policy.fresh_turns_of(record.kind, record.tokens, treated) if large else 0
        held = Held(record, number, at, self._window.turn_of(number) + fresh, large, treated)
        self._note(held, part)
        return held

    def _note(self, held: Held, part: Part) -> None:
        """Count what a content names, and start on its summary."""
        self.held.append(held)
        self._by_id[held.record.entry.id] = held
        self._due.add(held)
        self._names.hold(held, part.text)
        if part.kind == "result":
            self._names.describe(held, part.text)
        indexed = held.record.stage is not Stage.FULL
        if part.kind == "call" and indexed:
            self._names.hide(identifiers(part.text))
        if part.kind != "call" or indexed:
            self._names.show(self._writer.names_of(held))
        if self._summaries and part.kind == "result" and not indexed:
            self._summaries.ask(held.record.place, held.treatment.redacted(part.text))

    def _join(self, held: Held, others: Iterable[Held]) -> None:
        """Associate a result with those that led to it: what its call names is from them."""
        for other in others:
            held.associate([other.record.entry.id])
            other.associate([held.record.entry.id])

    def _supersede(self, held: Held, tool: str, argued: str) -> None:
        """Let an older result be due for which this one stands: by default, of the same call."""
        key = superseding_key(held, tool, argued)
        before = self._latest.get(key)
        self._latest[key] = held
        if before is None or before.message >= held.message:
            return
        if before.record.content == held.record.content:
            turn, id_ = before.record.entry.source.turn, before.record.entry.id
            held.note, held.twin = f"unchanged since turn {turn}, see {id_}", before
        else:
            before.supersede(f"superseded at turn {held.record.entry.source.turn}")
            self._due.note(before)
        held.associate([before.record.entry.id])

    def _outdate_files(self, call: Part, held: Held | None, turn: int) -> None:
        """Say of earlier reads of a file that a call has written it since."""
        name, written = file_of(call.text)
        if not name:
            return
        if written:
            for earlier in self._files.pop(name, ()):
                earlier.mark(f"stale: written at turn {turn}")
        elif held:
            reads = self._files.setdefault(name, [])
            self._join(held, reads[-1:])
            reads.append(held)

    # What its record is

    def _place(self, number: int, at: int, part: Part) -> str:
        """Return what names a content in this conversation, however the list is cut or marked.

        The text counts and not the blocks that hold it, since hosts move `cache_control` marks
        about; of the same text under the same call id (old formats have none) the rank counts.
        """
        text_key = content_key(part.text.encode("utf-8", "surrogatepass"))
        named = storable(f"{part.kind}:{part.call_id}:{text_key}")
        self._places[number, at] = f"{named}:{self._ranks[named]}"
        self._ranks[named] += 1
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
        tries = (entry_id(self._session, place, content, attempt) for attempt in itertools.count())
        return next(each for each in tries if each not in self._by_id and each not in self._taken)

    # What is due

    def candidates(self) -> list[Candidate]:
        """Return what may be shortened at this turn, each with its next text written."""
        return self.prepared(self.due())

    def due(self) -> list[Held]:
        """Return what may be shortened at this turn, in the order of the list."""
        return self._due.due(self._window.turn, self._window.shown_total)

    def unread(self) -> list[Candidate]:
        """Return the large contents that stand in full for the model to read first, and may not."""
        full = (held for held in self.held if held.record.stage is Stage.FULL)
        return self.prepared([held for held in full if held.large and not held.is_pinned])

    def prepared(self, due: Sequence[Held]) -> list[Candidate]:
        """Return contents as the plan weighs them, each with its next text written."""
        missing = self._prices.recall_cost(self._window.shown_total, SLICE_TOKENS)
        for held in due:
            if held.shorter is None:
                full = held.record.stage is Stage.FULL
                held.shorter = (self._writer.indexed if full else self._writer.asleep)(held)
        fading = self._due.strengths(due, self._window.turn, self._slowed(due))
        return [
            self._candidate(held, held.shorter, strength * missing)
            for held, strength in zip(due, fading, strict=True)
            if held.shorter
        ]

    def _slowed(self, due: Sequence[Held]) -> list[bool]:
        """Say of each content whether it is associated with a strong one, which slows its fading."""
        named = [held.record.entry.modifiers.associations for held in due]
        ids = {each for ids in named for each in ids if each in self._by_id}
        friends = [self._by_id[each] for each in ids]
        strengths = self._due.strengths(friends, self._window.turn, [False] * len(friends))
        pairs = zip(friends, strengths, strict=True)
        strong = {held.record.entry.id for held, found in pairs if found >= self._policy.strong}
        return [not strong.isdisjoint(ids) for ids in named]

    def _candidate(self, held: Held, shorter: Record, missing: float) -> Candidate:
        record = held.record
        arrives = held.large and record.stage is Stage.FULL
        return Candidate(
            record.entry.id,
            held.message,
            held.weight(self._weigh),
            self._weigh(shorter.shown),
            held.due_turn,
            0.0 if arrives else CHANCE_OF_USE * missing,
            shorter.stage,
            faded=not arrives,
        )

    def leave(self, chosen: Iterable[str]) -> list[Held]:
        """Let the chosen contents take their next stage, and return them."""
        leaving = []
        for held in map(self._by_id.__getitem__, chosen):
            if held.shorter:
                self._names.hide(self._writer.names_of(held))
                held.record, held.shorter = held.shorter, None
                self._names.show(self._writer.names_of(held))
                self._due.note(held)
                self._taken.add(held.record.entry.id)
                self._note_twin(held)
                leaving.append(held)
        return leaving

    def _note_twin(self, held: Held) -> None:
        """Let the earlier result that an entry names be written down too, so that its id is known."""
        twin = held.twin
        if twin is None or twin.record.entry.id not in held.record.shown:
            return
        if twin.record.place not in self._records and twin.record.stage is Stage.FULL:
            self._taken.add(twin.record.entry.id)
            self.noted.append((replace(twin.record, shown=""), self.original(twin)))

    def original(self, held: Held) -> bytes:
        """Return the bytes to keep of a content: as the message holds it."""
        return original_of(self._window.raw[held.message], self._writer.part_of(held))[1]

    def update(self, record: Record) -> None:
        """Let a content have its record as it was written down."""
        self._taken.add(record.entry.id)
        held = self._by_id.get(record.entry.id)
        if held:
            is_full = record.stage is Stage.FULL
            held.record = replace(record, shown=held.record.shown) if is_full else record
            self._due.note(held)

    def ids(self, run: Run) -> dict[str, list[str]]:
        """Return the ids of the entries in a run by their calls: of its arguments, of its result."""
        found: dict[str, list[str]] = {}
        for (number, at), place in sorted(self._places.items()):
            record = self._records.get(place) if run.start <= number < run.end else None
            if record and record.stage is not Stage.FULL:
                call_id = self._window.raw[number].parts[at].call_id
                found.setdefault(call_id, []).append(record.entry.id)
        return found

    def pinned(self) -> set[int]:
        """Return the numbers of the messages that hold what is pinned."""
        return {held.message for held in self.held if held.is_pinned}

    def staying(self, turn: int) -> set[int]:
        """Return the numbers of the messages that no saving shortens.

        They hold what is pinned, what a rule keeps in full, or what was accessed after it came and
        since a turn.
        """
        return {held.message for held in self.held if self._stays(held, turn)}

    def _stays(self, held: Held, turn: int) -> bool:
        entry = held.record.entry
        is_used = entry.decay.last_access > max(turn, entry.lifecycle.created)
        return is_used or held.is_pinned or self._policy.keeps_whole(held.treatment)


def superseding_key(held: Held, tool: str, arguments: str) -> tuple[str, ...]:
    """Return what a result has in common with those that it supersedes.

    The result of a failed call is of another `source.type`, so it supersedes none of a good one.
    """
    source = held.record.entry.source.type
    match held.treatment.superseded_by:
        case "source.type":
            return (source,)
        case "tool":
            return (source, tool)
    return (source, tool, normal(arguments))
