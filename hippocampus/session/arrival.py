"""Reads the new messages of a list into its tables: the payloads in them, and those that they cite. No I/O."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hippocampus.entries.entry import (
    ARGUMENTS,
    Entry,
    Record,
    Source,
    Stage,
    content_key,
    entry_id,
    storable,
)
from hippocampus.entries.origin import EntryOrigin, PartOrigin
from hippocampus.formats.conversation import Message, Part, UnreadMessage, is_image_block
from hippocampus.formats.tool_calls import (
    asks_to_read,
    file_key,
    is_one_file,
)
from hippocampus.indexing.extraction import identifiers
from hippocampus.indexing.unwrap import thinned
from hippocampus.models import tokens
from hippocampus.policy import Resolution, Subject, new_entry
from hippocampus.policy.value_types import EntryType
from hippocampus.recall import calls
from hippocampus.session.history import History
from hippocampus.session.payloads import (
    NO_FILES,
    Brought,
    Files,
    PartSite,
    Payload,
    Payloads,
    files_of,
    origin_of,
    original_of,
    superseding_key,
)
from hippocampus.session.renderer import first_line, result_subject
from hippocampus.session.turn_rules import Rules
from hippocampus.session.view import Rendered, Span
from hippocampus.storage.ledger import StoredRecord

MAX_BATCH = 64
"""The most reads of a batch that a write mentions: the newest ones."""
SUMMARY_CHARACTERS = 200
"""The start of words that a rule keeps, as their entry quotes it."""
IMAGE = "image"
"""The kind of a result that is images and no text."""
UNREAD = "unread"
"""The kind of a text whose kind was not needed yet."""
OPENING = re.compile(r"\[([a-z2-7]{8,12}) · ")
ARGUMENT = re.compile(r"\[([a-z2-7]{8,12}) (?:·|\\u00b7) (\d+) tokens\]")
"""The frames of our entries in a list that a host sends back: of a text, and of shortened arguments."""


class _NewPart(NamedTuple):
    """A part of a new message that may become a payload."""

    site: PartSite
    tool: str
    arguments: str
    """The arguments of the call that it answers."""
    tokens: int
    resolution: Resolution
    later: bool = False
    """Whether its kind is left unread."""


@dataclass(slots=True)
class MessageReader:
    """Reads new messages into tables of payloads."""

    history: History
    payloads: Payloads
    records: Mapping[EntryOrigin, Record]
    """The entries of the session by origin, with the accesses by the first `sent` messages."""
    by_id: Mapping[str, Record]
    rules: Rules
    sent: int
    hidden: Container[int]
    """The messages that digests replace."""
    later: bool
    """Whether the kinds of texts are read where they count: a digest may replace most messages."""
    notes: Mapping[int, tuple[Span, Sequence[Sequence[Any]]]] = field(default_factory=dict)
    """By the first message of a digest, its messages and their `Payloads.rows_of`, where these are noted."""
    rendered: list[Rendered] = field(default_factory=list)
    """The texts that replace parts of messages."""
    noted: list[tuple[Record, bytes]] = field(default_factory=list)
    """Words of the user to keep, which no view shortens."""
    touched: set[int] = field(default_factory=set)
    """The payloads of earlier messages that were accessed or replaced."""
    shows: bool = False
    """Whether a payload came that no digest replaces."""

    def read(self, read_again: int, start: int) -> list[Record]:
        """Add to the payloads of a list, which is new from message `start` on.

        Messages from `read_again` to `start` have the words that they had, and may carry other marks.
        Return the entries that the new messages refer to, with the access.
        """
        own = self.payloads
        own.index.pack()
        self.shows = bool(own.items)
        for number in range(read_again, start):
            for at, part in enumerate(self.history.raw[number].parts):
                tool, argued = own.call_of(part) if part.kind == "result" else ("", "")
                if part.kind == "result" and not self.rules.is_recall(tool):
                    self._thin(number, at, argued, None)
        self.rendered += [
            Rendered(payload.message, payload.part, payload.record.shown, payload.without_images)
            for payload in (own.items if read_again < start else ())
            if read_again <= payload.message < start and not payload.is_full
        ]
        number = start
        while number < len(self.history.raw):
            digest = self.notes.get(number)
            # What digests replace changes only what a view shows, of which nothing came so far.
            if digest and not self.shows and digest[0].end <= self.sent:
                self._take_replaced(*digest)
                number = digest[0].end
            else:
                self._take(number)
                number += 1
        # A later message may change an earlier payload, so the turns of the tables come last.
        own.set_turns(self.touched, self.rules)
        entries = (own.items[number].record for number in sorted(self.touched))
        return [
            record
            for record in entries
            if record.stage is not Stage.FULL
            and (known := self.records.get(record.origin)) is not record
            and known != record
        ]

    # One message

    def _take(self, number: int) -> None:
        """Read a new message."""
        message, index = self.history.raw[number], self.payloads.index
        # Before the first payload that a view shows, a message can cite only what no view shows again.
        cites = self.shows or number >= self.sent or number not in self.hidden
        if cites and message.role != "system":
            self._see_accesses(message, self.history.turns[number], is_sent=number < self.sent)
        if cites and message.role == "assistant":
            for text in message.texts():
                index.write(number, identifiers(text))
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                quoted = self.history.quotable(number).parts[at]
                self.payloads.calls[part.call_id] = PartSite(number, at, quoted)
            elif part.kind == "result":
                self._take_result(PartSite(number, at, part))
            elif part.kind == "text" and message.role == "user":
                self._take_words(number, at, part)
            elif part.kind == "image":
                self._take_image(number, at, part)

    def _take_replaced(self, span: Span, rows: Iterable[Sequence[Any]]) -> None:
        """Take in the messages of a digest as `_take` does, by the rows of `Payloads.rows_of`."""
        noted = defaultdict[int, list[Sequence[Any]]](list)
        for row in rows:
            noted[row[0]].append(row)
        for number in range(*span):
            message = self.history.raw[number]
            for _, at, result, key, arguments, named in noted.get(number, ()):
                if result or arguments or named:
                    files = Files(*named) if named else NO_FILES
                    written = files.written[-1] if files.written else ""
                    held = self._hold_replaced(result, "" if written else files.read)
                    wrote = self._hold_replaced(arguments, written)
                    self._bring(Brought(number, at, held, bytes.fromhex(key), wrote, files))
                elif message.parts[at].kind == "text":
                    self._take_words(number, at, message.parts[at])
                else:
                    self.payloads.add_recall(number, at)
            # A rule may keep the user's words since.
            if number not in noted and (not isinstance(message, UnreadMessage) or message.is_own):
                self._take(number)

    def _hold_replaced(self, row: Sequence[Any] | None, file: str) -> int | None:
        """Make a payload of a row, and return its number."""
        if row is None:
            return None
        message, at, named, names, *full = row
        own, turn = self.payloads, self.history.turns[message]
        # The ledger may have got its entry since the digest: only then was it shortened, or named.
        record = self.by_id.get(named) or StoredRecord.noted(full)
        if isinstance(record.origin, PartOrigin):
            rank = record.origin.rank
            own.ranks[replace(record.origin, rank=0) if rank else record.origin] = rank + 1
        payload = Payload(
            record, message, at, record.tokens, turn, large=False, file=file, collapsed=True
        )
        return self._add(payload, names.split())

    def _see_accesses(self, message: Message, turn: int, *, is_sent: bool) -> None:
        """Reset the strength of the payloads that a message cites, and associate them."""
        said = [part.text for part in message.parts if part.kind != "result"]
        cited = sorted(
            self.payloads.index.cited_by(said),
            key=lambda n: self.payloads.items[n].site,
        )
        ids = [self.payloads.items[number].id for number in cited]
        policy = self.rules.policy
        for number in cited:
            payload = self.payloads.items[number]
            if is_sent and not payload.is_full:
                continue  # its record has this access
            payload = self._accessed(payload, turn, policy.mention_strength)
            self._put(number, payload.associated(ids) if len(ids) > 1 else payload)

    def _accessed(self, payload: Payload, turn: int, strength: float) -> Payload:
        entry = payload.record.entry
        was_accessed = entry.decay.last_access > entry.lifecycle.created
        # Only then does the rate of its kind decide what the access changes.
        if was_accessed and entry.strength > strength and not payload.collapsed:
            payload = with_kind(payload, self.history, self.payloads, self.rules)
        return payload.accessed(turn, strength, self.rules.policy.exponent)

    def _put(self, number: int, payload: Payload) -> None:
        self.payloads.items[number] = payload
        self.touched.add(number)

    def _take_words(self, number: int, at: int, part: Part) -> None:
        """Note the user's words that a rule keeps; only where a rule indexes them is an entry made."""
        rules, site = self.rules, PartSite(number, at, part)
        weight = self.history.tokens_of(number, at)
        resolution = rules.policy.resolve(Subject("message", source_type="user", text=part.text))
        kind = rules.kind_of
        if resolution.index and rules.policy.indexes(weight, lambda: kind(part.text), resolution):
            held = self._hold(_NewPart(site, "", "", weight, resolution), large=True)
            self._bring(Brought(number, at, held))
            return
        if not resolution.persist:
            return
        original = part.text.encode("utf-8", "surrogatepass")
        key = content_key(original)
        origin = self._origin(number, part)
        self.payloads.brought.append(Brought(number, at))
        if origin in self.records:
            return
        entry = self._new_entry(_NewPart(site, "", "", weight, resolution), origin, key)
        text = self.history.quotable(number).parts[at].text
        quoted = replace(entry, summary=storable(text[:SUMMARY_CHARACTERS]))
        record = Record(quoted, origin, key, "text", "message", "user", "", weight, Stage.FULL, "")
        self.noted.append((record, original))

    def _take_image(self, number: int, at: int, part: Part) -> None:
        """Make an image that follows tool results a payload: hosts put screenshots there.

        Some can hold only text in results; the user's own images are elsewhere.
        """
        message = self.history.raw[number]
        before = self.history.raw[number - 1].parts if number else ()
        results = [other for other in message.parts if other.closes_call]
        is_inside = any(part.path[: len(result.path)] == result.path for result in results)
        follows = bool(results) or any(other.closes_call for other in before)
        if is_inside or not follows or not is_image_block(message.held(part)):
            return
        subject = Subject("tool_result", source_type="tool", tokens=part.image_tokens, kind=IMAGE)
        resolution = self.rules.policy.resolve(subject)
        new = _NewPart(PartSite(number, at, part), "", "", part.image_tokens, resolution)
        self._bring(Brought(number, at, self._hold(new, large=False)))

    def _take_result(self, site: PartSite) -> None:
        rules, part = self.rules, site.part
        called = self.payloads.calls.get(part.call_id)
        tool, argued = self.payloads.call_of(part)
        is_ours = rules.is_recall(tool)
        if is_ours:  # an answer of ours is no payload: it repeats one
            asked = replace(part, tool=tool, text=argued)
            if calls.is_answer(asked, part.text, self.by_id.__contains__):
                for one in (called, site) if called else ():
                    self.payloads.add_recall(one.message, one.at)
                return
        size = self.history.tokens_of(site.message, site.at)
        resolution = rules.policy.resolve(result_subject(part, called.part if called else None))
        kind = rules.kind_of
        images = self.history.image_tokens(site.message, site.at)
        # A smaller text is a payload only by its kind, and images count where their text is not large.
        later = self.later or site.message in self.hidden
        later = later and not images and size > rules.policy.fade_over_tokens
        large = not later and rules.policy.indexes(size, lambda: kind(part.text), resolution)
        weight = size + (0 if large else images)
        held = self._hold(_NewPart(site, tool, argued, weight, resolution, later), large=large)
        if not is_ours:
            self._thin(site.message, site.at, argued, held)
        key = b""
        if held is not None:
            key = superseding_key(self.payloads.items[held], tool, argued)
        wrote: int | None = None
        keeps = rules.policy.compression_of(resolution) == "none"
        if called and (keeps or not rules.is_small(argued)):
            weight = tokens.count(argued)
            large = not keeps and weight > rules.policy.arguments_over_tokens
            redaction = self.payloads.redactions.get((called.message, called.at))
            own = Resolution(redact=redaction, index=False if keeps else None)
            wrote = self._hold(_NewPart(called, called.part.tool, "", weight, own), large=large)
        files = files_of(argued, tool) if called and not part.is_error else NO_FILES
        self._bring(Brought(site.message, site.at, held, key, wrote, files))

    def _bring(self, new: Brought) -> None:
        """Let what a part brought replace what came before, and note it for the digest of its message."""
        if new.held is not None and new.key:
            self._supersede(new.held, new.key)
        if new.files != NO_FILES:
            self._follow_files(new)
        if new != Brought(new.message, new.part):
            self.payloads.brought.append(new)

    def _hold(self, new: _NewPart, *, large: bool) -> int | None:
        """Make a part a payload and return its number; None where it is too small, or an entry."""
        (number, at, part), tool, argued, weight, resolution, later = new
        policy = self.rules.policy
        bound = resolution.pin or resolution.index is False or resolution.compression == "none"
        followed = large or bound or weight > policy.fade_over_tokens
        if not followed or (number, at) in self.payloads.sites:
            return None
        if is_entry(part, self.by_id.get, weight):
            return None
        origin = self._origin(number, part)
        record = self.records.get(origin)
        if record is None:
            record = self._new_record(new, origin)
        elif later and number not in self.hidden:
            large = policy.indexes(weight, lambda: self.rules.kind_of(part.text), resolution)
        full = record.stage is Stage.FULL
        # The ledger keeps no text that the view shows in full, and a pointer may have become a text.
        if full and record.shown != part.text:
            record = replace(record, shown=part.text)
        asked = large and part.kind == "result" and asks_to_read(tool, argued)
        fresh = policy.fresh_turns_of(record.kind, record.tokens, resolution, asked=asked)
        if self.rules.summaries and large and part.kind == "result" and full and not fresh:
            # Its entry is made at once: the lines of all such results are asked for together.
            self.rules.summaries.ask(str(origin), resolution.redacted(part.text))
        due_turn = self.history.turns[number] + (fresh if large else 0)
        hidden = number in self.hidden
        shown = record.tokens if full or hidden else tokens.count(record.shown)
        payload = Payload(record, number, at, shown, due_turn, large, resolution, collapsed=hidden)
        if not (full or hidden):
            self.rendered.append(Rendered(number, at, record.shown, payload.without_images))
        return self._add(payload, identifiers(part.text))

    def _thin(self, number: int, at: int, argued: str, held: int | None) -> None:
        """Show fewer line numbers of a full result, which is the payload `held`, or small."""
        payload = None if held is None else self.payloads.items[held]
        if number in self.hidden or (payload and not payload.is_full):
            return
        said = self.history.quotable(number).parts[at].text
        text = thinned(said, self.rules.policy.line_numbers, argued)
        if text != said:
            self.rendered.append(Rendered(number, at, text))
            if held is not None and payload:
                saved = tokens.count(said) - tokens.count(text)
                self.payloads.items[held] = payload._replace(weight=payload.weight - saved)

    def _add(self, payload: Payload, names: Iterable[str]) -> int:
        """Number a payload, and index its identifiers."""
        own, named = len(self.payloads.items), payload.id
        self.payloads.items.append(payload)
        self.payloads.numbers[named] = own
        self.payloads.sites[payload.message, payload.part] = own
        self.shows |= not payload.collapsed
        if self.shows:
            self.payloads.index.add(own, {*names, named})
        else:
            self.payloads.index.add_packed(own, [*names, named])
        return own

    def _supersede(self, held: int, key: bytes) -> None:
        """Make the older result due that this one replaces: by default, one of the same call.

        A result with the bytes of an earlier one, of any call, is noted as its repeat.
        """
        own = self.payloads.items[held]
        content = own.record.content
        number = self.payloads.latest.get(key)
        self.payloads.latest[key] = held
        before = None if number is None else self.payloads.items[number]
        is_later = before is not None and before.message < own.message
        if number is not None and before and is_later:
            if before.record.content != content:
                turn = own.record.entry.source.turn
                self._put(number, before.superseded(f"superseded at turn {turn}"))
            own = own.associated([before.id])
        twin = self.payloads.firsts.setdefault(content, held)
        # A text that is due at once is no place to send a reader to: this one is named from here on.
        if self.payloads.items[twin].is_superseded:
            self.payloads.firsts[content] = twin = held
        if twin != held:
            first = self.payloads.items[twin]
            note = f"the same text as at turn {first.record.entry.source.turn}, see {first.id}"
            own = own._replace(note=note, twin=twin)
        self.payloads.items[held] = own

    def _follow_files(self, new: Brought) -> None:
        """Count a call that reads or writes files as an access of the payloads with their text.

        A text of the whole file, read or written, replaces earlier ones. A write mentions the files
        that were read with its file: an agent reads the files of a change together, then changes them
        one by one.
        """
        files, turn = new.files, self.history.turns[new.message]
        written, read, is_whole = files
        own = new.wrote if written else new.held
        whole = self.payloads.items[own].record if own is not None and is_whole else None
        touched: set[int] = set()
        for path in files.paths:
            name = file_key(path)
            known = self.payloads.files.get(name, ())
            same = [number for other, number in known if is_one_file(path, other)]
            touched.update(same)
            gone = {number for number in same if self._touch_file(number, files, whole, turn)}
            if own is not None:
                known = (*(pair for pair in known if pair[1] not in gone), (path, own))
                if self.payloads.items[own].file != path:
                    self._put(own, self.payloads.items[own]._replace(file=path))
            self.payloads.files[name] = known
        items, batches = self.payloads.items, self.payloads.batches
        if written:
            mentioned = {items[number].batch for number in touched}
            for number in (n for batch in mentioned if batch is not None for n in batches[batch]):
                payload = items[number]
                # Not those that something newer replaces.
                if number not in touched and not (payload.collapsed or payload.note):
                    strength = self.rules.policy.mention_strength
                    self._put(number, self._accessed(payload, turn, strength))
            if batches[-1]:
                batches.append(())
        elif read and own is not None:  # the last batch has the reads since the last write
            batches[-1] = (*batches[-1], own)[-MAX_BATCH:]
            self._put(own, items[own]._replace(batch=len(batches) - 1))

    def _touch_file(self, number: int, files: Files, whole: Record | None, turn: int) -> bool:
        """Count a read or a write of its file as an access of a payload; return whether `whole` replaces it."""
        payload, written = self.payloads.items[number], bool(files.written)
        event = "stale: written" if written else "superseded"
        known, is_gone = payload.record, False
        # A text that was read is whole unless it has less than half of the tokens: tools cut, or refer to
        # an earlier read. The same text is a repeat of the earlier one, which it does not replace.
        if whole is not None and whole.content != known.content:
            is_gone = written or 2 * whole.tokens >= known.tokens
        if payload.collapsed and (payload.is_superseded or not is_gone):
            return is_gone  # what a digest replaces fades no more
        if not payload.collapsed:
            payload = self._accessed(payload, turn, 1.0)
        if whole is not None and is_gone:
            payload = payload.superseded(f"{event} at turn {turn}, see {whole.id}")
        elif written and payload.record.kind != ARGUMENTS:
            payload = payload._replace(note=f"{event} at turn {turn}", shorter=None)
        self._put(number, payload)
        return is_gone

    # Its record

    def _origin(self, number: int, part: Part) -> PartOrigin:
        """Return the identity of a part in this conversation, which cuts and marks do not change.

        Parts with the same text and call id (old formats have none) differ by their rank.
        """
        is_image = part.kind == "image"
        kept = original_of(self.history.raw[number], part)[1].decode() if is_image else part.text
        origin = origin_of(part, kept)
        rank = self.payloads.ranks.get(origin, 0)
        self.payloads.ranks[origin] = rank + 1
        if rank:
            origin = replace(origin, rank=rank)
        return origin

    def _new_record(self, new: _NewPart, origin: PartOrigin) -> Record:
        number, at, part = new.site
        form, original = original_of(self.history.raw[number], part)
        content = content_key(original)
        if content == origin.text_key:  # one text for both
            content = origin.text_key
        if part.kind == "call":
            kind = ARGUMENTS
        elif not part.text.strip() and self.history.image_tokens(number, at):
            kind = IMAGE
        else:
            kind = UNREAD if new.later else self.rules.kind_of(part.text)
        return Record(
            entry=self._new_entry(new, origin, content, kind),
            origin=origin,
            content=content,
            form=form,
            kind=kind,
            tool=storable(new.tool),
            arguments=storable(new.arguments),
            tokens=new.tokens,
            stage=Stage.FULL,
            shown=part.text,
        )

    def _new_entry(self, new: _NewPart, origin: EntryOrigin, content: str, kind: str = "") -> Entry:
        part = new.site.part
        turn, policy = self.history.turns[new.site.message], self.rules.policy
        is_words = part.kind == "text"
        source = "user" if is_words else policy.source_type_of(storable(new.tool), part.is_error)
        entry_type: EntryType = "message" if is_words else "tool_result"
        found = Source(type=source or "tool", ref=content, turn=turn)
        noted = {record.entry.id for record, _ in self.noted}
        known = (self.payloads.numbers, self.by_id, noted)

        def is_taken(named: str) -> bool:
            return any(named in ids for ids in known)

        named = entry_id(self.rules.mark, self.rules.session, origin, content, is_taken)
        return new_entry(named, entry_type, found, policy, new.resolution, kind)


def with_kind(payload: Payload, history: History, payloads: Payloads, rules: Rules) -> Payload:
    """Return a payload with the kind of its text, and with all that depends on its kind."""
    policy, record = rules.policy, payload.record
    if record.kind != UNREAD:
        return payload
    part, resolution = payload.part_in(history), payload.resolution
    kind = rules.kind_of(part.text)
    rate = policy.decay_rate_of(record.entry.type, resolution, kind)
    entry = replace(record.entry, decay=replace(record.entry.decay, rate=rate))
    large = policy.indexes(record.tokens, lambda: kind, resolution)
    due_turn = payload.due_turn
    if large and not payload.is_superseded:
        asked = asks_to_read(*payloads.call_of(part))
        due_turn += policy.fresh_turns_of(kind, record.tokens, resolution, asked=asked)
    return payload._replace(
        record=replace(record, entry=entry, kind=kind), large=large, due_turn=due_turn
    )


def is_entry(part: Part, record_of: Callable[[str], Record | None], tokens: int) -> bool:
    """Return whether a part of a list is the text of an entry, at any stage.

    The frame names an entry of the session by all of its fields, and the part is no
    longer than the content that it replaces: no content can know that of itself.
    """
    if part.kind == "call":
        found = ARGUMENT.search(part.text)
        record = record_of(found[1]) if found else None
        return (
            found is not None
            and record is not None
            and record.kind == ARGUMENTS
            and record.tokens == int(found[2])
            and tokens < record.tokens
        )
    found = OPENING.match(part.text)
    record = record_of(found[1]) if found else None
    if record is None or tokens >= record.tokens:
        return False
    return part.text == record.shown or part.text.partition("\n")[0] == first_line(record)
