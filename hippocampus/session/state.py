"""What a session knows between two calls: one value, replaced as a whole by each turn. Pure.

`read` takes a list in: one that grew, and one that its host has cut, edited or branched.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hippocampus.entries.entry import Entry, Record, Stage
from hippocampus.entries.origin import EntryOrigin
from hippocampus.formats.reader import common_prefix
from hippocampus.session import compaction
from hippocampus.session.arrival import arrived
from hippocampus.session.costs import Costs
from hippocampus.session.digest import Span
from hippocampus.session.history import History, joined_end
from hippocampus.session.payloads import Payload, Payloads
from hippocampus.session.redactor import redacted
from hippocampus.session.referred import referred
from hippocampus.session.rules import Rules
from hippocampus.session.view import View
from hippocampus.storage.ledger import Ledger, NextText


@dataclass(frozen=True, slots=True)
class State:
    """A message list as it was read last, its view, and what was committed."""

    history: History
    view: View
    payloads: Payloads = field(default_factory=Payloads)
    records: Mapping[EntryOrigin, Record] = field(default_factory=dict)
    """Every entry of the session by its origin, oldest first."""
    by_id: Mapping[str, Record] = field(default_factory=dict)
    """The same by their ids."""
    digests: Mapping[EntryOrigin, Record] = field(default_factory=dict)
    """The digests among these."""
    sent_keys: Sequence[str] = ()
    """The keys of the last request, as far as this list has them."""
    candidates: Mapping[str, NextText] = field(default_factory=dict)
    """By the ids of entries, the next texts that another run has written, until a list is read."""
    costs: Costs = field(default_factory=Costs)
    last_turn: int = 0
    """That of the last call before this list was read."""

    @property
    def is_read(self) -> bool:
        """Whether a list was read since the session was opened; another process that goes on ends that."""
        return bool(self.history.raw)

    @property
    def turn(self) -> int:
        """The number of the last turn."""
        return self.history.turn or self.last_turn

    @classmethod
    def empty(cls) -> State:
        """Return the state of a session of which nothing is known."""
        history = History()
        return cls(history, View(history))

    @classmethod
    def of_ledger(cls, ledger: Ledger) -> State:
        """Return the state of a session that has read nothing yet, as its ledger has it.

        Raises:
            StoreError: the ledger cannot be read.
        """
        last, sent = ledger.last_call(), ledger.sent()
        history = History(weights=dict(zip(sent.keys, sent.tokens, strict=True)))
        state = cls(
            history,
            view=View(history, sent=last.messages if last else 0),
            sent_keys=sent.keys,
            candidates={each.entry_id: each for each in ledger.candidates()},
            costs=Costs.after(last),
            last_turn=last.turn if last else 0,
        )
        return state.with_committed(ledger.records())

    def with_committed(self, records: Sequence[Record]) -> State:
        """Return the state with entries that are written down."""
        if not records:
            return self
        known = {record.origin: record for record in records}
        digests = {at: each for at, each in known.items() if each.kind == compaction.KIND}
        return replace(
            self,
            records={**self.records, **known},
            by_id={**self.by_id, **{record.entry.id: record for record in records}},
            digests={**self.digests, **digests},
        )

    def with_record(self, record: Record, rules: Rules) -> State:
        """Return the state with an entry as it stands after an access, or as the host wants it."""
        payloads = self.payloads.updated(record, rules)
        return replace(self.with_committed([record]), payloads=payloads)

    def with_saved(self, records: Iterable[Record], rules: Rules) -> State:
        """Return the state with the entries of which another process has written other records."""
        state = self
        for record in records:
            if state.records.get(record.origin) != record:
                state = state.with_record(record, rules)
        return state

    def with_candidates(self, rules: Rules) -> State:
        """Return the state whose payloads have their next texts, where nothing changed these since."""
        if not self.candidates:
            return self
        written = {}
        for entry_id, number in self.payloads.numbers.items():
            payload, held = self.payloads.items[number], self.candidates.get(entry_id)
            if held and (shorter := _next(held, payload)):
                weight = rules.count_tokens(held.shown)
                written[number] = replace(payload, shorter=shorter, shorter_weight=weight)
        return replace(self, candidates={}, payloads=self.payloads.changed(written, rules))


def _next(held: NextText, payload: Payload) -> Record | None:
    """Return the next record of a payload; None where its entry was used or noted since."""
    before = payload.record
    entry = Entry.parsed({**before.entry.fields(), **held.fields})
    is_next = (before.stage is Stage.FULL) == (held.stage is Stage.INDEXED)
    used = (held.note, entry.decay, entry.modifiers)
    is_same = used == (payload.note, before.entry.decay, before.entry.modifiers)
    if before.stage is Stage.DORMANT or not (is_next and is_same):
        return None
    return replace(before, entry=entry, stage=held.stage, shown=held.shown)


@dataclass(frozen=True, slots=True)
class ReadList:
    """A list taken in: the state with all that was committed standing where it stood."""

    state: State
    kept: int
    """How many leading messages are those of the list before."""
    noted: list[tuple[Record, bytes]]
    """What has a record though it stands in full, with its bytes: words of the user to keep, texts that
    pointers point at."""
    accessed: list[Record]
    """The entries that new messages name, with the access."""


def read(state: State, history: History, opening: str, rules: Rules) -> ReadList:
    """Take a list in: append its new messages, or branch where it differs from the list before.

    A list with other words than before is read whole, as after a restart; so is one of
    which a digest would have to stand again.
    """
    before, kept = len(state.history.raw), history.reading.kept
    kept = min([kept, *(fold.start for fold in state.view.folds if fold.end > kept)])
    payloads, view, start, sent_keys = state.payloads, state.view, before, state.sent_keys
    if not before or history.reading.kept < before:
        sent_keys = sent_keys[: common_prefix(sent_keys, history.keys)]
    sent = _sent_of(state, history, kept) if before else min(view.sent, len(sent_keys))
    if not _goes_on(state, history, kept):
        payloads, view, start = Payloads(), View(History()), 0
        sent = min(sent, len(sent_keys))
        history, kept = history.unredacted(), 0
    joins = bool(history.reading.adapter.BLOCKS_KEY)
    if joins and sent < state.view.sent and not state.view.is_folded(sent):
        sent = joined_end(state.sent_keys, history, sent)
    view = replace(view.extended(history, kept), sent=sent).opened_with(opening)
    edits = rules.policy.compression != "none"
    texts = list(referred(history, kept, sent, state.records, rules)) if edits else []
    pointers = [each[:2] for each in texts]
    history = history.with_redacted(texts, pointers) if texts else history
    if rules.policy.redacts:
        calls = {call_id: site.part for call_id, site in payloads.calls.items()}
        history, redactions, gone = redacted(history, calls, kept, rules)
        texts += gone
        payloads = replace(payloads, redactions={**payloads.redactions, **redactions})
    view = replace(view, history=history)
    digests = _digests(state, view, kept)
    hidden = {number for span, _ in digests for number in range(max(start, span.start), span.end)}
    arrival = arrived(
        history, payloads, state.records, state.by_id, rules, kept, start, sent, frozenset(hidden)
    )
    noted = [*arrival.noted, *_pointed_at(pointers, arrival.payloads, state.records, history)]
    shown = [each for each in texts if each.message not in hidden]
    view = view.with_texts(shown)
    view = view.with_texts(arrival.rendered)
    payloads = arrival.payloads
    if digests:
        payloads = payloads.collapsed((span for span, _ in digests), rules)
    view = replace(view.with_digests(digests), unchanged=sent)
    is_continued = len(sent_keys) == len(state.sent_keys)
    taken = replace(
        state,
        history=history,
        payloads=payloads,
        view=view,
        sent_keys=sent_keys,
        candidates=state.candidates if is_continued else {},
    )
    return ReadList(
        taken.with_candidates(rules),
        kept,
        noted,
        arrival.accessed,
    )


def _pointed_at(
    pointers: Iterable[tuple[int, int]],
    payloads: Payloads,
    records: Container[EntryOrigin],
    history: History,
) -> Iterator[tuple[Record, bytes]]:
    """Yield a record for each new text in place of a pointer, so that it stands there after a restart."""
    for site in pointers:
        if site in payloads.sites:
            payload = payloads.items[payloads.sites[site]]
            if payload.record.origin not in records:
                yield replace(payload.record, shown=""), payloads.original(payload, history)


def _goes_on(state: State, history: History, kept: int) -> bool:
    """Return whether a list only grows, or has the same words under other marks."""
    before = len(state.history.raw)
    if kept == before:
        return True
    same = list(history.keys[kept:before]) == list(state.history.keys[kept:])
    return kept >= state.view.folded_end and same and state.payloads.stand(kept, before, history)


def _sent_of(state: State, history: History, kept: int) -> int:
    """Return how many leading messages of a list were in the last request."""
    if kept == len(state.history.raw):
        return state.view.sent
    if state.view.is_folded(kept):
        return min(state.view.sent, kept)
    words = ([[*each.texts()] for each in raw[kept:]] for raw in (state.history.raw, history.raw))
    return min(state.view.sent, kept + common_prefix(*words))


def _digests(state: State, view: View, kept: int) -> list[tuple[Span, str]]:
    """Return the digests that were committed and whose messages are unchanged.

    Of one inside another the longer one stands, whichever of the two was made on this branch.
    """
    end = len(view.history.raw)
    known = reversed(list(state.digests.values()))
    spans = ((compaction.span_of(record), record) for record in known)
    fitting = [(span, record) for span, record in spans if span and kept < span.end <= end]
    chosen: list[tuple[Span, str]] = []
    for span, record in sorted(fitting, key=lambda pair: pair[0].start - pair[0].end):
        if view.cuts_fold(span):
            continue
        if compaction.content_of(view, span) == record.content:
            chosen.append((span, record.shown))
            view = replace(view, folds=(*view.folds, span))
    return chosen
