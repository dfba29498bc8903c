"""Reads the new messages of a list into its tables: the payloads in them, and those that they cite. No I/O.

Payloads are named by their numbers in `Payloads.items`, parts by their place: message and part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from hippocampus.entries.entry import (
    ARGUMENTS,
    ID,
    Entry,
    Record,
    Source,
    Stage,
    content_key,
    entry_id,
    storable,
)
from hippocampus.entries.origin import EntryOrigin, PartOrigin
from hippocampus.formats.conversation import Message, Part, UnreadMessage, images_in, is_image_block
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
from hippocampus.session.history import History, Rendered, Span
from hippocampus.session.payloads import (
    NO_FILES,
    Arrival,
    Files,
    FileText,
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
from hippocampus.storage.ledger import NotedPart, NotedPayload, StoredRecord

MAX_BATCH = 64
"""The most reads of a batch that a write mentions, and texts of a file that a call accesses: the newest ones."""
SUMMARY_CHARACTERS = 200
"""The start of words that a rule keeps, as their entry quotes it."""
IMAGE = "image"
"""The kind of a result that is images and no text."""
UNREAD = "unread"
"""The kind of a text whose kind was not needed yet."""
OPENING = re.compile(rf"\[({ID}) · ")
ARGUMENT = re.compile(rf"\[({ID}) (?:·|\\u00b7) (\d+) tokens\]")
"""The frames of our entries in a list that a host sends back: of a text, and of shortened arguments."""


class _NewPart(NamedTuple):
    """A part of a new message that may become a payload."""

    site: PartSite
    tokens: int
    resolution: Resolution
    large: bool
    """Whether its size makes it an entry, as far as its kind is known."""
    tool: str = ""
    arguments: str = ""
    """The arguments of the call that it answers."""
    is_later: bool = False
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
    folded: Container[int]
    """The messages that digests replace."""
    is_later: bool
    """Whether the kinds of texts are read where they count: a digest may replace most messages."""
    notes: Mapping[int, tuple[Span, Sequence[NotedPart]]] = field(default_factory=dict)
    """By the first message of a digest, its messages and what they brought, where that is noted."""
    rendered: list[Rendered] = field(default_factory=list)
    """The texts that replace parts of messages."""
    noted: list[tuple[Record, bytes]] = field(default_factory=list)
    """Words of the user to keep, which no view shortens."""
    touched: set[int] = field(default_factory=set)
    """The payloads of earlier messages that were accessed or replaced."""
    is_shown: bool = False
    """Whether a payload came that no digest replaces."""

    def read(self, read_again: int, start: int) -> list[Record]:
        """Add to the payloads of a list, which is new from message `start` on.

        Messages from `read_again` to `start` have the words that they had, and may carry other marks.
        Return the entries that the new messages refer to, with the access.
        """
        payloads = self.payloads
        payloads.index.pack()
        self.is_shown = bool(payloads.items)
        for number in range(read_again, start):
            for at, part in enumerate(self.history.raw[number].parts):
                tool, arguments = payloads.call_of(part) if part.kind == "result" else ("", "")
                if part.kind == "result" and not self.rules.is_recall(tool):
                    self._thin_numbers(number, at, arguments, None)
        self.rendered += [
            payload.rendered
            for payload in (payloads.items if read_again < start else ())
            if read_again <= payload.message < start and not payload.is_full
        ]
        number = start
        while number < len(self.history.raw):
            digest = self.notes.get(number)
            # What digests replace changes only what a view shows, of which nothing came so far.
            if digest and not self.is_shown and digest[0].end <= self.sent:
                self._read_notes(*digest)
                number = digest[0].end
            else:
                self._read_message(number)
                number += 1
        # A later message may change an earlier payload, so the turns of the tables come last.
        payloads.set_turns(self.touched, self.rules)
        entries = (payloads.items[number].record for number in sorted(self.touched))
        return [
            record
            for record in entries
            if record.stage is not Stage.FULL
            and (known := self.records.get(record.origin)) is not record
            and known != record
        ]

    # One message

    def _read_message(self, number: int) -> None:
        message, index = self.history.raw[number], self.payloads.index
        # Before the first payload that a view shows, a message can cite only what no view shows again.
        cites = self.is_shown or number >= self.sent or number not in self.folded
        if cites and message.role != "system":
            self._access_cited(message, self.history.turns[number], is_sent=number < self.sent)
        if cites and message.role == "assistant":
            for text in message.texts():
                index.write(number, identifiers(text))
        images = self._images_of(number)
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                quoted = self.history.quotable(number).parts[at]
                self.payloads.calls[part.call_id] = PartSite(number, at, quoted)
            elif part.kind == "result":
                self._read_result(PartSite(number, at, part))
            elif part.kind == "text" and message.role == "user":
                self._read_words(number, at, part)
            elif at in images:
                self._read_image(number, at, part)

    def _read_notes(self, span: Span, parts: Iterable[NotedPart]) -> None:
        """Read the messages of a digest as `_read_message` does, by what was noted of their parts."""
        ordered = sorted(parts, key=attrgetter("message"))
        noted = {number: [*own] for number, own in groupby(ordered, attrgetter("message"))}
        for number in range(*span):
            message = self.history.raw[number]
            for part in noted.get(number, ()):
                if part.result or part.arguments or part.files:
                    files = Files(*part.files) if part.files else NO_FILES
                    written = files.written[-1] if files.written else ""
                    result = self._add_noted(part.result, "" if written else files.read)
                    arguments = self._add_noted(part.arguments, written)
                    key = bytes.fromhex(part.key)
                    self._bring(Arrival(number, part.part, result, key, arguments, files))
                elif message.parts[part.part].kind == "text":
                    self._read_words(number, part.part, message.parts[part.part])
                else:
                    self.payloads.add_recall(number, part.part)
            # A rule may keep the user's words since.
            if number not in noted and (not isinstance(message, UnreadMessage) or message.is_own):
                self._read_message(number)

    def _add_noted(self, noted: NotedPayload | None, file: str) -> int | None:
        """Add a payload that a digest replaces, and return its number."""
        if noted is None:
            return None
        ranks, turn = self.payloads.ranks, self.history.turns[noted.message]
        # The ledger may have got its entry since the digest: only then was it shortened, or named.
        record = self.by_id.get(noted.entry_id) or StoredRecord.noted(noted.columns)
        if isinstance(record.origin, PartOrigin):
            rank = record.origin.rank
            ranks[replace(record.origin, rank=0) if rank else record.origin] = rank + 1
        payload = Payload(
            record, noted.message, noted.part, record.tokens, turn, large=False, file=file,
            is_folded=True,
        )  # fmt: skip
        return self._add(payload, noted.names.split())

    # One part

    def _read_result(self, site: PartSite) -> None:
        rules, part = self.rules, site.part
        call = self.payloads.calls.get(part.call_id)
        tool, arguments = self.payloads.call_of(part)
        is_ours = rules.is_recall(tool)
        if is_ours:  # an answer of ours is no payload: it repeats one
            asked = replace(part, tool=tool, text=arguments)
            if calls.is_answer(asked, part.text, self.by_id.__contains__):
                for recall in (call, site) if call else ():
                    self.payloads.add_recall(recall.message, recall.at)
                return
        size = self.history.tokens_of(site.message, site.at)
        images = self.history.image_tokens(site.message, site.at)
        resolution = rules.policy.resolve(result_subject(part, call.part if call else None))
        # A smaller text is a payload only by its kind, and images count where their text is not large.
        is_later = self.is_later or site.message in self.folded
        is_later = is_later and not images and size > rules.policy.fade_over_tokens
        large = not is_later and rules.indexes(part.text, size, resolution)
        weight = size + (0 if large else images)
        new = _NewPart(site, weight, resolution, large, tool, arguments, is_later)
        result = self._add_part(new)
        if not is_ours:
            self._thin_numbers(site.message, site.at, arguments, result)
        key = b""
        if result is not None:
            key = superseding_key(self.payloads.items[result], tool, arguments)
        written = self._add_arguments(call, arguments, resolution) if call else None
        files = files_of(arguments, tool) if call and not part.is_error else NO_FILES
        self._bring(Arrival(site.message, site.at, result, key, written, files))

    def _add_arguments(self, call: PartSite, text: str, resolution: Resolution) -> int | None:
        """Make the arguments of a call a payload, once its result is there, under the rules of that."""
        policy = self.rules.policy
        keeps = policy.compression_of(resolution) == "none"
        least = min(policy.arguments_over_tokens, policy.fade_over_tokens)
        # No token has less than a byte: arguments that are never shortened are not counted.
        if not keeps and len(text.encode("utf-8", "surrogatepass")) <= least:
            return None
        weight = tokens.count(text)
        large = not keeps and weight > policy.arguments_over_tokens
        redaction = self.payloads.redactions.get((call.message, call.at))
        own = Resolution(redact=redaction, index=False if keeps else None)
        return self._add_part(_NewPart(call, weight, own, large, call.part.tool))

    def _read_words(self, number: int, at: int, part: Part) -> None:
        """Note the user's words that a rule keeps; only where a rule indexes them is an entry made."""
        rules, weight = self.rules, self.history.tokens_of(number, at)
        resolution = rules.policy.resolve(Subject("message", source_type="user", text=part.text))
        new = _NewPart(PartSite(number, at, part), weight, resolution, large=True)
        if resolution.index and rules.indexes(part.text, weight, resolution):
            self._bring(Arrival(number, at, self._add_part(new)))
            return
        if not resolution.persist:
            return
        original = part.text.encode("utf-8", "surrogatepass")
        key = content_key(original)
        origin = self._origin_of(number, part)
        self.payloads.arrivals.append(Arrival(number, at))
        if origin in self.records:
            return
        entry = self._new_entry(new, origin, key)
        text = self.history.quotable(number).parts[at].text
        quoted = replace(entry, summary=storable(text[:SUMMARY_CHARACTERS]))
        record = Record(
            quoted, origin, key, form="text", kind="message", tool="user", tokens=weight,
            stage=Stage.FULL,
        )  # fmt: skip
        self.noted.append((record, original))

    def _images_of(self, number: int) -> Container[int]:
        """Return the image parts of a message that follow tool results: hosts put screenshots there.

        Some can hold only text in results; the user's own images are elsewhere.
        """
        message = self.history.raw[number]
        images = {at for at, part in enumerate(message.parts) if part.kind == "image"}
        if not images:
            return images
        before = self.history.raw[number - 1].parts if number else ()
        results = [at for at, part in enumerate(message.parts) if part.closes_call]
        if not results and not any(part.closes_call for part in before):
            return ()
        images.difference_update(*(images_in(message, result) for result in results))
        return {at for at in images if is_image_block(message.held(message.parts[at]))}

    def _read_image(self, number: int, at: int, part: Part) -> None:
        """Make an image a payload."""
        subject = Subject("tool_result", source_type="tool", tokens=part.image_tokens, kind=IMAGE)
        resolution = self.rules.policy.resolve(subject)
        site = PartSite(number, at, part)
        new = _NewPart(site, part.image_tokens, resolution, large=False)
        self._bring(Arrival(number, at, self._add_part(new)))

    def _add_part(self, new: _NewPart) -> int | None:
        """Make a part a payload and return its number; None where it is too small, or an entry."""
        (number, at, part), weight, resolution = new.site, new.tokens, new.resolution
        large, is_folded = new.large, number in self.folded
        policy = self.rules.policy
        bound = resolution.pin or resolution.index is False or resolution.compression == "none"
        is_followed = large or bound or weight > policy.fade_over_tokens
        if not is_followed or (number, at) in self.payloads.sites:
            return None
        if is_entry(part, self.by_id.get, weight):
            return None
        origin = self._origin_of(number, part)
        record = self.records.get(origin)
        if record is None:
            record = self._new_record(new, origin)
        elif new.is_later and not is_folded:
            large = self.rules.indexes(part.text, weight, resolution)
        is_full = record.stage is Stage.FULL
        # The ledger keeps no text that the view shows in full, and a pointer may have become a text.
        if is_full and record.shown != part.text:
            record = replace(record, shown=part.text)
        is_result = large and part.kind == "result"
        asked = is_result and asks_to_read(new.tool, new.arguments)
        fresh = policy.fresh_turns_of(record.kind, record.tokens, resolution, asked=asked)
        if self.rules.summaries and is_result and is_full and not fresh:
            # Its entry is made at once: the lines of all such results are asked for together.
            self.rules.summaries.ask(str(origin), resolution.redacted(part.text))
        due_turn = self.history.turns[number] + (fresh if large else 0)
        shown = record.tokens if is_full or is_folded else tokens.count(record.shown)
        payload = Payload(
            record, number, at, shown, due_turn, large, resolution, is_folded=is_folded
        )
        if not (is_full or is_folded):
            self.rendered.append(payload.rendered)
        return self._add(payload, identifiers(part.text))

    def _add(self, payload: Payload, names: Iterable[str]) -> int:
        """Number a payload, and index its identifiers."""
        number = len(self.payloads.items)
        self.payloads.items.append(payload)
        self.payloads.numbers[payload.id] = number
        self.payloads.sites[payload.message, payload.part] = number
        self.is_shown |= not payload.is_folded
        if self.is_shown:
            self.payloads.index.add(number, {*names, payload.id})
        else:
            self.payloads.index.add_packed(number, [*names, payload.id])
        return number

    def _thin_numbers(self, number: int, at: int, arguments: str, result: int | None) -> None:
        """Show fewer line numbers of a full result, which is the payload `result`, or small."""
        payload = None if result is None else self.payloads.items[result]
        if number in self.folded or (payload and not payload.is_full):
            return
        text = self.history.quotable(number).parts[at].text
        thin = thinned(text, self.rules.policy.line_numbers, arguments)
        if thin != text:
            self.rendered.append(Rendered(number, at, thin))
            if result is not None and payload:
                saved = tokens.count(text) - tokens.count(thin)
                self.payloads.items[result] = payload._replace(weight=payload.weight - saved)

    # What new parts change in earlier payloads

    def _access_cited(self, message: Message, turn: int, *, is_sent: bool) -> None:
        """Reset the strength of the payloads that a message cites, and associate them."""
        texts = [part.text for part in message.parts if part.kind != "result"]
        items, index = self.payloads.items, self.payloads.index
        cited = sorted(index.cited_by(texts), key=lambda number: items[number].site)
        ids = [items[number].id for number in cited]
        for number in cited:
            payload = items[number]
            if is_sent and not payload.is_full:
                continue  # its record has this access
            payload = self._accessed(payload, turn, self.rules.policy.mention_strength)
            self._replace(number, payload.associated(ids) if len(ids) > 1 else payload)

    def _accessed(self, payload: Payload, turn: int, strength: float) -> Payload:
        entry = payload.record.entry
        was_accessed = entry.decay.last_access > entry.lifecycle.created
        # Only then does the rate of its kind decide what the access changes.
        if was_accessed and entry.strength > strength and not payload.is_folded:
            payload = with_kind(payload, self.history, self.payloads, self.rules)
        return payload.accessed(turn, strength, self.rules.policy.exponent)

    def _replace(self, number: int, payload: Payload) -> None:
        self.payloads.items[number] = payload
        self.touched.add(number)

    def _bring(self, new: Arrival) -> None:
        """Let what a part brought replace what came before, and note it for the digest of its message."""
        if new.result is not None and new.key:
            self._supersede(new.result, new.key)
        if new.files != NO_FILES:
            self._follow_files(new)
        if new != Arrival(new.message, new.part):
            self.payloads.arrivals.append(new)

    def _supersede(self, number: int, key: bytes) -> None:
        """Make the older result due that this one replaces: by default, one of the same call.

        A result with the bytes of an earlier one, of any call, is noted as its repeat.
        """
        items, firsts = self.payloads.items, self.payloads.firsts
        payload = items[number]
        content, older = payload.record.content, self.payloads.latest.get(key)
        self.payloads.latest[key] = number
        if older is not None and items[older].message < payload.message:
            if items[older].record.content != content:  # only then is the stored entry unpacked
                turn = payload.record.entry.source.turn
                self._replace(older, items[older].superseded(f"superseded at turn {turn}"))
            payload = payload.associated([items[older].id])
        twin = firsts.setdefault(content, number)
        # A text that is due at once is no place to send a reader to: this one is named from here on.
        if items[twin].is_superseded:
            firsts[content] = twin = number
        if twin != number:
            first = items[twin]
            note = f"the same text as at turn {first.record.entry.source.turn}, see {first.id}"
            payload = payload._replace(note=note, twin=twin)
        items[number] = payload

    def _follow_files(self, new: Arrival) -> None:
        """Count a call that reads or writes files as an access of the payloads with their text.

        A text of the whole file, read or written, replaces earlier ones. A write mentions the files
        that were read with its file: an agent reads the files of a change together, then changes them
        one by one.
        """
        files, turn = new.files, self.history.turns[new.message]
        items, batches = self.payloads.items, self.payloads.batches
        number = new.arguments if files.written else new.result
        whole = items[number].record if number is not None and files.is_whole else None
        touched: set[int] = set()
        for path in files.paths:
            texts = self.payloads.files.get(file_key(path), ())
            same = [text.number for text in texts if is_one_file(path, text.path)]
            touched.update(same)
            gone = {text for text in same if self._touch_file(text, files, whole, turn)}
            if number is not None:
                left = (text for text in texts if text.number not in gone)
                texts = (*left, FileText(path, number))
                if items[number].file != path:
                    self._replace(number, items[number]._replace(file=path))
            self.payloads.files[file_key(path)] = texts[-MAX_BATCH:]
        if files.written:
            mentioned = {items[text].batch for text in touched}
            together = [text for at in mentioned if at is not None for text in batches[at]]
            for text in together:
                payload = items[text]
                # Not those that something newer replaces.
                if text not in touched and not (payload.is_folded or payload.note):
                    strength = self.rules.policy.mention_strength
                    self._replace(text, self._accessed(payload, turn, strength))
            if batches[-1]:
                batches.append(())
        elif number is not None:  # the last batch has the reads since the last write
            batches[-1] = (*batches[-1], number)[-MAX_BATCH:]
            self._replace(number, items[number]._replace(batch=len(batches) - 1))

    def _touch_file(self, number: int, files: Files, whole: Record | None, turn: int) -> bool:
        """Count a read or a write of its file as an access of a payload; return whether `whole` replaces it."""
        payload, is_written = self.payloads.items[number], bool(files.written)
        event = "stale: written" if is_written else "superseded"
        known, is_gone = payload.record, False
        # A text that was read is whole unless it has less than half of the tokens: tools cut, or refer to
        # an earlier read. The same text is a repeat of the earlier one, which it does not replace.
        if whole is not None and whole.content != known.content:
            is_gone = is_written or 2 * whole.tokens >= known.tokens
        if payload.is_folded and (payload.is_superseded or not is_gone):
            return is_gone  # what a digest replaces fades no more
        if not payload.is_folded:
            payload = self._accessed(payload, turn, 1.0)
        if whole is not None and is_gone:
            payload = payload.superseded(f"{event} at turn {turn}, see {whole.id}")
        elif is_written and payload.record.kind != ARGUMENTS:
            payload = payload._replace(note=f"{event} at turn {turn}", shorter=None)
        self._replace(number, payload)
        return is_gone

    # Its record

    def _origin_of(self, number: int, part: Part) -> PartOrigin:
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
            kind = UNREAD if new.is_later else self.rules.kind_of(part.text)
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
