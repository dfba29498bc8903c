"""One turn: takes a list that was read, and returns its view with every decided change. No I/O.

The order of a turn:

1. Digests replace most of a first list that is far over its limit.
2. Due payloads get their next, shorter texts, unless they have them, and old turns are weighed as digests.
3. The plan chooses what pays; digests replace turns, then shorter texts replace payloads.
4. Over the limit, digests replace more turns, and then results are shortened that the model has not read.
5. The cost of the request is added to the sums.

Nothing is stored here; a list whose turn is not committed is dropped, since its tables have grown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hippocampus.entries import decay
from hippocampus.entries.entry import Decision, Record, Stage
from hippocampus.indexing.select import SLICE_TOKENS
from hippocampus.session import compaction
from hippocampus.session.arrival import UNREAD, with_kind
from hippocampus.session.compaction import Digest, DigestWriter, PlannedDigest
from hippocampus.session.constants import CONSTANTS
from hippocampus.session.costs import call_after, recall_tokens
from hippocampus.session.history import History
from hippocampus.session.payloads import Payload, Payloads, due_from, has_faded
from hippocampus.session.plan import Candidate, PlanInput, calls_to_come, plan
from hippocampus.session.renderer import EntryRenderer
from hippocampus.session.rules import Rules
from hippocampus.session.state import ReadList, State, next_texts
from hippocampus.session.view import Rendered, View
from hippocampus.storage.ledger import ModelCall, TurnRows

LIMIT_REASON = "the view passed its limit: old turns became digests"
UNREAD_REASON = "the view passes its limit: there is no room to read it in full first"
MAX_LARGEST = 3


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn decided, and the state after it."""

    state: State
    rows: TurnRows
    """The rows that the ledger gets."""
    originals: Sequence[bytes]
    """The payloads that left the view, for the store."""
    digests: Sequence[Digest]
    """The digests, with the messages that they replace for the store."""
    is_edit: bool
    """Whether the view changes what the last request held."""

    @property
    def compacted(self) -> bool:
        """Whether digests replaced old turns because the view passed its limit."""
        return any(decision.reason == LIMIT_REASON for decision in self.rows.decisions)


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes of a turn so far, and the view with them."""

    view: View
    payloads: Payloads
    weighed: tuple[int, ...] = ()
    """The numbers of the payloads with a newly written next text."""
    edits: tuple[Decision, ...] = ()
    entries: tuple[Record, ...] = ()
    """The new records of the payloads that became shorter."""
    folds: tuple[Decision, ...] = ()
    digests: tuple[Digest, ...] = ()
    originals: tuple[bytes, ...] = ()
    """The bytes of the payloads that left the view."""
    named: tuple[tuple[Record, bytes], ...] = ()
    """Full results that an entry refers to, which need a record so that their ids can be recalled."""


def take_turn(taken: ReadList, last: ModelCall, rules: Rules, *, cold: bool = False) -> Turn:
    """Return the turn of a call: the state with its view, and the rows and contents to commit.

    `taken` is its list as it was read; `last` has the sums before this turn; `cold` means that the
    provider's cache has expired, so that an edit rewrites nothing.
    """
    before = taken.state.view
    # An edit is priced by what the cache has of the last request, so this comes before any change.
    cached = 0 if cold else before.tokens_to(before.sent)
    changes = _changes(taken.state, last, rules, cold=cold)
    view = changes.view
    raw_tokens = _raw_tokens(taken.state, before.sent)
    noted = (*taken.noted, *changes.named)
    return Turn(
        replace(
            taken.state,
            view=replace(view, sent=len(view.history.raw)),
            payloads=changes.payloads,
        ),
        TurnRows(
            call_after(last, view, rules, cached, raw_tokens),
            records=[
                *taken.accessed,
                *changes.entries,
                *(digest.record for digest in changes.digests),
                *(record for record, _ in noted),
            ],
            decisions=[*changes.edits, *changes.folds],
            candidates=next_texts(map(changes.payloads.items.__getitem__, changes.weighed)),
            replaced=[
                *taken.stale,
                *(
                    entry_id
                    for entry_id in (taken.state.payloads.numbers if changes.digests else ())
                    if entry_id not in changes.payloads.numbers
                ),
            ],
        ),
        [*(original for _, original in noted), *changes.originals],
        changes.digests,
        view.unchanged < view.sent,
    )


def _raw_tokens(state: State, sent: int) -> tuple[int, int]:
    """Return the tokens of the first `sent` messages and of the list, without recalls and their answers."""
    history, recalls, weights = state.history, state.payloads.recalls, state.payloads.recall_tokens
    for number in recalls.keys() - weights.keys():
        message, weight = history.raw[number], history.tokens[number]
        weights[number] = recall_tokens(message, weight, recalls[number])
    total = history.total - sum(weights.values())
    fresh = range(sent, len(history.raw))
    return total - sum(history.tokens[sent:]) + sum(weights.get(at, 0) for at in fresh), total


def _changes(state: State, last: ModelCall, rules: Rules, *, cold: bool) -> _Changes:
    """Return the changes of a turn: digests and edits that pay, then those that the limit forces."""
    policy, prices = rules.policy, rules.prices
    changes = _Changes(state.view, state.payloads)
    if not state.view.sent:
        if rules.is_folded_first(state.view.shown_total):
            changes = _folded_to_limit(changes, state, rules)
        changes = _with_kinds(changes, rules)
    view = changes.view
    given = PlanInput(
        view.history.turn,
        view.sent,
        view.shown_tokens,
        # The savings so far, and a little: a wrong bet on the calls still to come loses little.
        last.raw_cost * (1 + policy.stake) - last.sent_cost,
        rules.limit_tokens,
        cold,
        rules.mark_tokens,
    )
    due = changes.payloads.due(given.turn, view.shown_total, rules)
    changes, candidates = _weighed(changes, due, rules)
    fold = compaction.foldable(view, changes.payloads, prices, policy)
    decisions, is_folded = plan(candidates, fold.candidate if fold else None, given, prices, policy)
    if fold and is_folded:
        changes = _with_digests(changes, state, fold.digests, compaction.PAYS_REASON, rules)
    changes = _with_edits(changes, decisions, state, rules)
    # Over the limit old turns go first, which the model has used; only then results it has not read.
    if excess_tokens(changes.view, rules):
        changes = _folded_to_limit(changes, state, rules)
    if excess_tokens(changes.view, rules):
        changes = _last_resort(changes, state, rules)
    return changes


def _with_kinds(changes: _Changes, rules: Rules) -> _Changes:
    """Return the changes with the kinds of the payloads that no digest replaces."""
    payloads, history = changes.payloads, changes.view.history
    read = {
        number: with_kind(payloads.items[number], history, payloads, rules)
        for number in payloads.numbers.values()
        if payloads.items[number].record.kind == UNREAD
    }
    return replace(changes, payloads=payloads.changed(read, rules))


def _folded_to_limit(changes: _Changes, state: State, rules: Rules) -> _Changes:
    """Return the changes with digests in place of as many old turns as the limit requires."""
    view, payloads = changes.view, changes.payloads
    in_use = payloads.in_use(view.history.turn, rules.policy.read_turns)
    planned = compaction.plan_compaction(view, rules.limit_tokens, payloads.pinned(), in_use)
    return _with_digests(changes, state, planned, LIMIT_REASON, rules)


def _weighed(
    changes: _Changes, chosen: Sequence[int], rules: Rules
) -> tuple[_Changes, list[Candidate]]:
    """Return the changes with the next texts of payloads, and these as candidates of the plan."""
    view, payloads = changes.view, changes.payloads
    writer = EntryRenderer(view.history, view.shown_total, payloads, rules)
    written = {}
    for number in chosen:
        payload = payloads.items[number]
        faded = has_faded(payload, view.history.turn, rules.policy)
        # A text is written once, and again only where it has faded: in a shorter form.
        if payload.shorter is None or faded:
            twin = None if payload.twin is None else payloads.items[payload.twin]
            shorter = writer.next_record(payload._replace(large=payload.large and not faded), twin)
            weight = rules.count_tokens(shorter.shown)
            written[number] = payload._replace(shorter=shorter, shorter_weight=weight)
    payloads = payloads.changed(written, rules)
    return replace(changes, payloads=payloads, weighed=(*changes.weighed, *written)), [
        _candidate(payloads, number, view, rules) for number in chosen
    ]


def _candidate(payloads: Payloads, number: int, view: View, rules: Rules) -> Candidate:
    payload, policy, turn = payloads.items[number], rules.policy, view.history.turn
    entry = payload.record.entry
    sleeps = payload.shorter is not None and payload.shorter.stage is Stage.DORMANT
    images = view.history.image_tokens(payload.message, payload.part)
    weight = payload.weight + (images if payload.large and sleeps else 0)
    saves = weight - payload.shorter_weight
    due_turn = max(due_from(payload, policy), view.history.turns[payload.message])
    risk = 0.0
    if payload.is_fresh or not (payload.large and payload.is_full):
        strength = decay.strength(entry, turn, policy.exponent, policy.initial_strength)
        turns = min(CONSTANTS.risky_turns, calls_to_come(turn))
        uses = CONSTANTS.chance_of_use * strength * turns / 10
        shown = payload.record.tokens - (0 if payload.large else images)  # no step quotes an image
        hidden = saves / max(1, weight) * shown / max(1, payload.record.tokens)
        risk = uses * hidden * rules.prices.recall_cost(view.shown_total, SLICE_TOKENS)
    return Candidate(
        payload.id,
        payload.message,
        weight,
        payload.shorter_weight,
        risk,
        payload.shorter.stage if payload.shorter else payload.record.stage,
        carried=saves * max(0.0, turn - due_turn),
        kind=payload.record.kind,
    )


def _with_edits(
    changes: _Changes, decisions: Sequence[Decision], state: State, rules: Rules
) -> _Changes:
    """Return the changes with payloads shortened."""
    history = changes.view.history
    payloads, moved = changes.payloads.moved_on(
        [decision.entry_id for decision in decisions], rules
    )
    texts = [
        Rendered(payload.message, payload.part, payload.record.shown, payload.without_images)
        for payload in moved
    ]
    twins = [
        payloads.items[payload.twin]
        for payload in moved
        if payload.twin is not None and payloads.items[payload.twin].id in payload.record.shown
    ]
    named = [
        (_named(twin, history, payloads, rules), payloads.original(twin, history))
        for twin in twins
        if twin.is_full and twin.record.origin not in state.records
    ]
    return replace(
        changes,
        view=changes.view.with_texts(texts),
        payloads=payloads,
        edits=(*changes.edits, *decisions),
        entries=(*changes.entries, *(payload.record for payload in moved)),
        originals=(
            *changes.originals,
            *(payloads.original(payload, history) for payload in moved),
        ),
        named=(*changes.named, *named),
    )


def _named(payload: Payload, history: History, payloads: Payloads, rules: Rules) -> Record:
    """Return the record of a full result that an entry names."""
    record = with_kind(payload, history, payloads, rules).record
    entry = record.entry
    if payload.collapsed:  # a restart without notes finds no accesses inside a digest
        entry = replace(
            entry,
            strength=rules.policy.initial_strength,
            decay=replace(entry.decay, last_access=entry.lifecycle.created),
            modifiers=replace(entry.modifiers, associations=[]),
        )
    return replace(record, entry=entry, shown="")


def _with_digests(
    changes: _Changes, state: State, planned: Sequence[PlannedDigest], reason: str, rules: Rules
) -> _Changes:
    """Return the changes with digests in place of the spans of a plan."""
    view, prices = changes.view, rules.prices
    writer = DigestWriter(view, changes.payloads, state.by_id, state.digests, rules)
    digests = writer.write(planned)
    if not digests:
        return changes
    start = min(digest.span.start for digest in digests)
    rewritten = (prices.write - prices.read) * sum(view.shown_tokens[start : view.sent])
    texts = [(digest.span, digest.record.shown) for digest in digests]
    folded = view.with_digests(texts)
    decisions = [
        Decision(
            digest.record.entry.id,
            digest.record.stage,
            reason,
            sum(view.shown_tokens[slice(*digest.span)]) - folded.shown_tokens[digest.span.start],
            rewritten / len(digests),
        )
        for digest in digests
    ]
    return replace(
        changes,
        view=folded,
        payloads=changes.payloads.collapsed((digest.span for digest in digests), rules),
        folds=(*changes.folds, *decisions),
        digests=(*changes.digests, *digests),
    )


def _last_resort(changes: _Changes, state: State, rules: Rules) -> _Changes:
    """Return the changes with results shortened that the model has not read yet."""
    payloads = changes.payloads
    unread = [
        number
        for number in payloads.numbers.values()
        if payloads.items[number].is_full
        and payloads.items[number].large
        and not payloads.items[number].is_pinned
    ]
    changes, candidates = _weighed(changes, unread, rules)
    excess, chosen = excess_tokens(changes.view, rules), []
    for candidate in sorted(candidates, key=lambda candidate: -candidate.saves):
        if excess > 0 < candidate.saves:
            chosen.append(
                Decision(candidate.entry_id, candidate.stage, UNREAD_REASON, candidate.saves, 0.0)
            )
            excess -= candidate.saves
    return _with_edits(changes, chosen, state, rules)


def excess_tokens(view: View, rules: Rules) -> int:
    """Return the tokens by which a view passes its limit; 0 where it fits or has no limit."""
    limit = rules.limit_tokens
    return max(0, view.shown_total - limit) if limit else 0


def largest_messages(view: View, rules: Rules) -> list[str]:
    """Return the largest messages of a view that passes its limit, in words; else nothing."""
    if not excess_tokens(view, rules):
        return []
    weights = sorted(enumerate(view.shown_tokens), key=lambda pair: -pair[1])[:MAX_LARGEST]
    return [f"message {at} ({view.shown[at].role}): {weight:,} tokens" for at, weight in weights]
