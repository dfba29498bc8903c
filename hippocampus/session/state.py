"""The state of a session between two calls: a value, but for tables that change with its list. No I/O.

`read` takes in a list that grew, or that its host has cut, edited or branched.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hippocampus.entries.entry import Record, Stage, content_key
from hippocampus.entries.origin import DigestOrigin, EntryOrigin
from hippocampus.formats.reader import common_prefix
from hippocampus.models import tokens
from hippocampus.session import compaction
from hippocampus.session.arrival import MessageReader
from hippocampus.session.history import History, Notes, Span, chain_of, joined_end
from hippocampus.session.payloads import Payload, Payloads
from hippocampus.session.renderer import redacted, referred
from hippocampus.session.turn_rules import Rules
from hippocampus.session.view import View
from hippocampus.storage.ledger import NEXT_FIELDS, Ledger, ModelCall, NextText, NotedPart


@dataclass(frozen=True, slots=True)
class State:
    """The last message list, its view, and the committed entries."""

    history: History = field(default_factory=History)
    view: View = field(default_factory=lambda: View(History()))
    payloads: Payloads = field(default_factory=Payloads)
    records: dict[EntryOrigin, Record] = field(default_factory=dict)
    """Every entry of the session by its origin, oldest first; it grows in place, as the ledger does."""
    by_id: dict[str, Record] = field(default_factory=dict)
    """The same by their ids."""
    digests: dict[DigestOrigin, Record] = field(default_factory=dict)
    """The digests among these."""
    digest_cache: compaction.DigestCache = field(default_factory=compaction.DigestCache)
    sent_keys: Sequence[str] = ()
    """The keys of the last request, as far as this list has them."""
    candidates: Mapping[str, NextText] = field(default_factory=dict)
    """By entry id, the next texts that another run has written, until a list is read."""
    notes: Notes = field(default_factory=dict)
    """What the messages of digests brought, until a list is read."""
    last: ModelCall | None = None
    """The last request, as the ledger has it."""
    is_dropped: bool = False
    """Whether a turn failed: the next list is read as after a restart."""

    @property
    def is_read(self) -> bool:
        """Whether a list was read since the session was opened, or since another process took a turn."""
        return bool(self.history.raw)

    @property
    def turn(self) -> int:
        """The number of the last turn."""
        return self.history.turn or (self.last.turn if self.last else 0)

    @property
    def shown_tokens(self) -> int:
        """The tokens of the view; of the last request, where no list is read."""
        return self.view.shown_total if self.is_read or not self.last else self.last.sent_tokens

    @classmethod
    def of_ledger(cls, ledger: Ledger) -> State:
        """Return the state that a ledger has, with no list read yet.

        Raises:
            StoreError: the ledger cannot be read.
        """
        last, sent = ledger.last_call(), ledger.sent()
        history = History(weights=dict(sent))
        state = cls(
            history,
            view=View(history, sent=last.messages if last else 0),
            sent_keys=[key for key, _ in sent],
            candidates={candidate.entry_id: candidate for candidate in ledger.candidates()},
            notes={(own.start, own.content): own for own in ledger.notes()},
            last=last,
        )
        return state.with_committed(ledger.records())

    def dropped(self) -> State:
        """Return the state without its list: a turn that failed may have changed the tables of it."""
        history = History()
        view = View(history, sent=self.view.sent)
        return replace(self, history=history, view=view, payloads=Payloads(), is_dropped=True)

    def with_committed(self, records: Sequence[Record]) -> State:
        """Add recorded entries to the tables, since no later failure takes them back; return the state."""
        for record in records:
            self.records[record.origin] = self.by_id[record.id] = record
            if isinstance(record.origin, DigestOrigin):
                self.digests[record.origin] = record
        return self

    def drop_texts(self) -> None:
        """Drop the texts of digests inside those that the view shows; the ledger has them."""
        for origin, record in [*self.digests.items()]:
            span = Span(origin.start, origin.end)
            others = (fold for fold in self.view.folds if fold != span)
            if record.shown and any(fold.holds(span) for fold in others):
                self.with_committed([replace(record, shown="")])

    def save(self, records: Iterable[Record], rules: Rules) -> None:
        """Take in entries that an access, the host or another process has changed."""
        for record in records:
            if self.records.get(record.origin) != record:
                self.with_committed([record])
                self.payloads.update(record, rules)


def next_texts(payloads: Iterable[Payload]) -> list[NextText]:
    """Return the next texts of payloads, as far as they are written."""
    return [
        NextText(
            payload.id,
            {name: fields[name] for name in NEXT_FIELDS},
            shorter.stage,
            shorter.shown,
            payload.note,
        )
        for payload in payloads
        if (shorter := payload.shorter) and (fields := shorter.entry.fields())
    ]


def _take_next_texts(
    held: Mapping[str, NextText], payloads: Payloads, rules: Rules
) -> Collection[str]:
    """Give payloads their next texts, by entry id; return the entries with which that was possible.

    The entry of another was used or noted since.
    """
    written: dict[int, Payload] = {}
    for entry_id in held.keys() & payloads.numbers.keys():
        number, text = payloads.numbers[entry_id], held[entry_id]
        payload = payloads.items[number]
        before, fields = payload.record, payload.record.entry.fields()
        is_next = (before.stage is Stage.FULL) == (text.stage is Stage.INDEXED)
        is_same = text.note == payload.note and all(
            text.fields.get(name) == fields[name] for name in ("decay", "modifiers")
        )
        if before.stage is not Stage.DORMANT and is_next and is_same:
            summary, key_data = text.fields["summary"], text.fields["key_data"]
            entry = replace(before.entry, summary=summary, key_data=key_data)
            shorter = replace(before, entry=entry, stage=text.stage, shown=text.shown)
            weight = tokens.count(text.shown)
            written[number] = payload._replace(shorter=shorter, shorter_weight=weight)
    payloads.change(written, rules)
    return {payload.id for payload in written.values()}


@dataclass(frozen=True, slots=True)
class ReadList:
    """The result of reading a list: the state, with every committed change in the view again."""

    state: State
    noted: list[tuple[Record, bytes]]
    """Full parts that get a record, with their bytes: the user's words to keep, and texts in place of
    pointers."""
    accessed: list[Record]
    """The entries that new messages refer to, with the access."""
    stale: list[str]
    """The entries whose stored next texts are of another list, or of an entry as it was before an access."""


def read(state: State, history: History, context_load: str, rules: Rules) -> ReadList:
    """Take in a list that only grows, or the first one after a restart.

    The steps: compare, replace pointers, redact, find payloads, render.
    """
    kept, start, payloads = history.reading.kept, len(state.history.raw), state.payloads
    if kept < start:  # the same words, but an image may have other tokens
        payloads.recall_tokens.clear()
    sent_keys, sent = _sent_start(state, history)
    view = replace(state.view.extended(history, kept), sent=sent).with_context_load(context_load)
    # Redaction sees the texts that replace pointers, and all that follows sees redacted texts only.
    edits = rules.policy.compression != "none"
    texts = list(referred(history, kept, sent, state.records, rules)) if edits else []
    pointers = {rendered[:2]: None for rendered in texts}
    history = history.with_redacted(texts, pointers.keys()) if texts else history
    if rules.policy.redacts:
        calls = {call_id: site.part for call_id, site in payloads.calls.items()}
        history, redactions, gone = redacted(history, calls, kept, rules)
        texts += gone
        payloads.redactions.update(redactions)
    view = replace(view, history=history)
    # Payloads in the messages of a committed digest are not rendered.
    digests = _digests(state, view, kept)
    notes = {
        span.start: (span, parts)
        for span, record in digests
        if not rules.policy.redacts  # a rule may have come after the notes
        and (parts := _noted_in(span.start, record.content, state)) is not None
    }
    folded = {number for span, _ in digests for number in range(max(start, span.start), span.end)}
    reader = MessageReader(
        history=history,
        payloads=payloads,
        records=state.records,
        by_id=state.by_id,
        rules=rules,
        sent=sent,
        folded=folded,
        is_later=not sent and not pointers and rules.is_folded_first(history.total),
        notes=notes,
    )
    accessed = reader.read(kept, start)
    # Texts in place of pointers get records, so that a restart shows them again.
    pointed = [payloads.items[payloads.sites[at]] for at in pointers if at in payloads.sites]
    noted = reader.noted + [
        (replace(payload.record, shown=""), payload.original(history))
        for payload in pointed
        if payload.record.origin not in state.records
    ]
    # An entry replaces the text of its part, and a digest replaces both.
    shown = [rendered for rendered in texts if rendered.message not in folded]
    view = view.with_texts([*shown, *reader.rendered])
    if digests:
        payloads.fold((span for span, _ in digests), rules)
    # The last request did not have a digest whose messages were not all in it.
    unchanged = min([sent, *(span.start for span, _ in digests if span.end > sent)])
    texts_of_digests = [(span, record.shown) for span, record in digests]
    view = replace(view.with_digests(texts_of_digests), unchanged=unchanged)
    is_continued = len(sent_keys) == len(state.sent_keys)
    used = _take_next_texts(state.candidates if is_continued else {}, payloads, rules)
    taken = replace(state, history=history, view=view, sent_keys=sent_keys, candidates={}, notes={})
    return ReadList(taken, noted, accessed, [*(state.candidates.keys() - used)])


def _sent_start(state: State, history: History) -> tuple[Sequence[str], int]:
    """Return the keys of the last request that a list begins with, and the number of its messages."""
    sent_keys, sent = state.sent_keys, state.view.sent
    if not state.is_read:
        sent_keys = sent_keys[: common_prefix(sent_keys, history.keys)]
        sent = min(sent, len(sent_keys))
        if history.reading.adapter.BLOCKS_KEY and sent < state.view.sent:
            sent = joined_end(state.sent_keys, history, sent)
    return sent_keys, sent


def only_grows(state: State, history: History) -> bool:
    """Return whether a list only grows, or has the same words under other marks."""
    before, kept, end = len(state.history.raw), history.reading.kept, len(history.raw)
    if not before:
        return True
    # A digest of another branch may fit again, and one with another mark in its messages may not.
    if any(kept < origin.end <= end for origin in state.digests):
        return False
    same = list(history.keys[kept:before]) == list(state.history.keys[kept:])
    return same and state.payloads.are_unchanged(kept, before, history)


def _noted_in(start: int, content: str, state: State) -> list[NotedPart] | None:
    """Return what the messages of a digest brought; None where that was not noted, or entries are missing."""
    notes = chain_of(start, content, state.notes)
    parts = [part for own in notes for part in own.parts]
    payloads = (payload for part in parts for payload in (part.result, part.arguments) if payload)
    is_whole = all(payload.columns or payload.entry_id in state.by_id for payload in payloads)
    return parts if notes and is_whole else None


def _digests(state: State, view: View, kept: int) -> list[tuple[Span, Record]]:
    """Return the committed digests with unchanged messages.

    Where one lies inside another, the longer one is used, even if it was made on another branch.
    """
    end = len(view.history.raw)
    fitting = [
        (Span(origin.start, origin.end), record)
        for origin, record in reversed([*state.digests.items()])
        if kept < origin.end <= end
    ]
    chosen: list[tuple[Span, Record]] = []
    for span, record in sorted(fitting, key=lambda pair: pair[0].start - pair[0].end):
        if view.cuts_fold(span):
            continue
        is_same = record.origin in view.history.verified
        if is_same or content_key(compaction.original_of(view, span)) == record.content:
            chosen.append((span, record))
            view = replace(view, folds=(*view.folds, span))
    return chosen
