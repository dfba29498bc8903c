"""One turn: a list in, the view of it and every change that was decided out. Pure.

`take_turn` is the whole way: read, decide, account. Nothing is stored here; until its result is
committed, the state before it holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from hippocampus.entries import decay
from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record, Stage
from hippocampus.indexing.worth import SLICE_TOKENS
from hippocampus.session import compaction
from hippocampus.session.costs import Costs, call_of
from hippocampus.session.history import History
from hippocampus.session.payloads import Payloads, due_from, has_faded
from hippocampus.session.plan import Candidate, PlanInput, calls_to_come, plan
from hippocampus.session.renderer import EntryRenderer
from hippocampus.session.rules import Rules
from hippocampus.session.state import State, read
from hippocampus.session.view import Rendered, View
from hippocampus.storage.ledger import NEXT_FIELDS, NextText, TurnRows

LIMIT_REASON = "the view passed its limit: old turns became digests"
UNREAD_REASON = "the view passes its limit: there is no room to read it in full first"
FOLDED_LIMITS = 3
"""A new list that passes its limit by this many limits has digests first: no entries are written for what
they replace."""
CHANCE_OF_USE = 0.5
"""How likely a payload at full strength is used in the next ten turns: a record has the curve."""
RISKY_TURNS = 30
"""The turns in which a payload is taken to have the strength that it has now."""


class Original(NamedTuple):
    """Bytes for the store, and the payloads that they repeat."""

    content: bytes
    parts: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn decided, and the state after it."""

    state: State
    kept: int
    """How many leading messages of the list are those of the list before."""
    rows: TurnRows
    """What the ledger has of it."""
    originals: Sequence[Original]
    """The contents that left the view, for the store."""

    @property
    def compacted(self) -> bool:
        """Whether digests replaced old turns because the view passed its limit."""
        return any(each.reason == LIMIT_REASON for each in self.rows.decisions)


@dataclass(frozen=True, slots=True)
class _Changes:
    """The changes of a turn so far, and the view with them."""

    view: View
    payloads: Payloads
    weighed: tuple[int, ...] = ()
    """The numbers of the payloads whose next text was written."""
    edits: tuple[Decision, ...] = ()
    entries: tuple[Record, ...] = ()
    """The payloads that became shorter, as they stand since."""
    folds: tuple[Decision, ...] = ()
    digests: tuple[Record, ...] = ()
    originals: tuple[Original, ...] = ()
    """What left the view: the bytes of payloads and of the messages that digests replace."""
    named: tuple[tuple[Record, bytes], ...] = ()
    """Results that an entry names and that stand in full, so that their ids are known."""


def take_turn(  # noqa: PLR0913 - a state, a list, and by what to decide
    state: State,
    history: History,
    costs: Costs,
    rules: Rules,
    opening: str = "",
    *,
    cold: bool = False,
) -> Turn:
    """Return what a call sends for a list: the state with its view, and what to commit.

    `history` is the list, extended from that of `state`; `costs` are the sums before this turn;
    `opening` stands in front of the user's first words; `cold` means that the provider's cache has
    expired, so that an edit rewrites nothing.
    """
    taken = read(state, history, opening, rules)
    before = taken.state.view
    cached = 0 if cold else before.tokens_to(before.sent)
    changes = _changes(taken.state, costs, rules, cold=cold)
    view = changes.view
    recalled = _recalled(taken.state, before.sent, rules)
    costs = costs.plus(view, rules.prices, cached, rules.standing_tokens, recalled)
    noted = (*taken.noted, *changes.named)
    return Turn(
        replace(
            taken.state,
            view=replace(view, sent=len(view.history.raw)),
            payloads=changes.payloads,
            costs=costs,
        ),
        taken.kept,
        TurnRows(
            call_of(view, costs),
            records=[
                *taken.accessed,
                *changes.entries,
                *changes.digests,
                *(record for record, _ in noted),
            ],
            decisions=[*changes.edits, *changes.folds],
            candidates=[
                NextText(
                    payload.id,
                    {name: fields[name] for name in NEXT_FIELDS},
                    shorter.stage,
                    shorter.shown,
                    payload.note,
                )
                for payload in map(changes.payloads.items.__getitem__, changes.weighed)
                if (shorter := payload.shorter) and (fields := shorter.entry.fields())
            ],
            replaced=[
                each
                for each in taken.state.payloads.numbers
                if each not in changes.payloads.numbers
            ]
            if changes.digests
            else [],
        ),
        [*(Original(original) for _, original in noted), *changes.originals],
    )


def _recalled(state: State, start: int, rules: Rules) -> Iterator[int]:
    """Yield the tokens of each answer to a recall in the messages from `start` on."""
    history = state.history
    for number in range(start, len(history.raw)):
        for at, part in enumerate(history.raw[number].parts):
            called = state.payloads.calls.get(part.call_id) if part.kind == "result" else None
            if called and rules.is_recall(part.tool or called.part.tool):
                yield history.tokens_of(number, at)


def _changes(state: State, costs: Costs, rules: Rules, *, cold: bool) -> _Changes:
    """Return the changes of a turn: digests that pay, edits, what the limit forces, and reloaded texts."""
    policy, prices = rules.policy, rules.prices
    changes = _Changes(state.view, state.payloads)
    if (
        not state.view.sent
        and excess_tokens(state.view, rules) > FOLDED_LIMITS * rules.limit_tokens
    ):
        changes = _folded_to_limit(changes, state, rules)
    view = changes.view
    given = PlanInput(
        view.history.turn,
        view.sent,
        view.shown_tokens,
        costs.balance(policy.stake),
        rules.limit_tokens,
        cold,
        rules.standing_tokens,
    )
    due = changes.payloads.due(given.turn, view.shown_total, rules)
    changes, candidates = _weighed(changes, due, rules)
    fold = compaction.foldable(view, changes.payloads, prices, policy)
    decisions, is_folded = plan(candidates, fold.candidate if fold else None, given, prices, policy)
    if fold and is_folded:
        changes = _with_digests(changes, state, fold.digests, compaction.PAYS_REASON, rules)
    changes = _with_edits(changes, decisions, state, rules)
    if excess_tokens(changes.view, rules):
        changes = _folded_to_limit(changes, state, rules)
    if excess_tokens(changes.view, rules):
        changes = _last_resort(changes, state, rules)
    return changes


def _folded_to_limit(changes: _Changes, state: State, rules: Rules) -> _Changes:
    """Return the changes with digests in place of as many old turns as the limit asks for."""
    view, payloads = changes.view, changes.payloads
    in_use = payloads.in_use(view.history.turn, rules.policy.read_turns)
    planned = compaction.plan_compaction(view, rules.limit_tokens, payloads.pinned(), in_use)
    return _with_digests(changes, state, planned, LIMIT_REASON, rules)


def _weighed(
    changes: _Changes, chosen: Sequence[int], rules: Rules
) -> tuple[_Changes, list[Candidate]]:
    """Return payloads as the plan weighs them, each with its next text written."""
    view, payloads = changes.view, changes.payloads
    writer = EntryRenderer(view.history, view.shown_total, payloads, rules)
    written = {}
    for each in chosen:
        payload = payloads.items[each]
        faded = has_faded(payload, view.history.turn, rules.policy)
        if payload.shorter is None or faded:
            twin = None if payload.twin is None else payloads.items[payload.twin]
            shorter = writer.next_record(replace(payload, large=payload.large and not faded), twin)
            weight = rules.count_tokens(shorter.shown)
            written[each] = replace(payload, shorter=shorter, shorter_weight=weight)
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
    if payload.is_fresh or not (payload.large and payload.stands_full):
        strength = decay.strength(entry, turn, policy.exponent, policy.initial_strength)
        uses = CHANCE_OF_USE * strength * min(RISKY_TURNS, calls_to_come(turn)) / 10
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
        Rendered(each.message, each.part, each.record.shown, each.without_images) for each in moved
    ]
    twins = [
        payloads.items[each.twin]
        for each in moved
        if each.twin is not None and payloads.items[each.twin].id in each.record.shown
    ]
    named = [
        (replace(twin.record, shown=""), payloads.original(twin, history))
        for twin in twins
        if twin.stands_full and twin.record.origin not in state.records
    ]
    return replace(
        changes,
        view=changes.view.with_texts(texts),
        payloads=payloads,
        edits=(*changes.edits, *decisions),
        entries=(*changes.entries, *(each.record for each in moved)),
        originals=(
            *changes.originals,
            *(Original(payloads.original(each, history)) for each in moved),
        ),
        named=(*changes.named, *named),
    )


def _with_digests(
    changes: _Changes, state: State, planned: compaction.CompactionPlan, reason: str, rules: Rules
) -> _Changes:
    """Return the changes with digests in place of the spans of a plan."""
    view, prices = changes.view, rules.prices
    digests = compaction.digests_of(view, changes.payloads, state.records, planned, rules)
    if not digests:
        return changes
    start = min(each.span.start for each in digests)
    rewritten = (prices.write - prices.read) * sum(view.shown_tokens[start : view.sent])
    texts = [(each.span, each.record.shown) for each in digests]
    folded = view.with_digests(texts)
    decisions = [
        Decision(
            each.record.entry.id,
            each.record.stage,
            reason,
            sum(view.shown_tokens[slice(*each.span)]) - folded.shown_tokens[each.span.start],
            rewritten / len(digests),
        )
        for each in digests
    ]
    return replace(
        changes,
        view=folded,
        payloads=changes.payloads.collapsed((each.span for each in digests), rules),
        folds=(*changes.folds, *decisions),
        digests=(*changes.digests, *(each.record for each in digests)),
        originals=(
            *changes.originals,
            *(Original(each.original, each.parts) for each in digests),
        ),
    )


def _last_resort(changes: _Changes, state: State, rules: Rules) -> _Changes:
    """Return the changes with what must be shortened before the model has read it."""
    payloads = changes.payloads
    unread = [
        number
        for number in payloads.numbers.values()
        if payloads.items[number].stands_full
        and payloads.items[number].large
        and not payloads.items[number].is_pinned
    ]
    changes, candidates = _weighed(changes, unread, rules)
    excess, chosen = excess_tokens(changes.view, rules), []
    for each in sorted(candidates, key=lambda each: -each.saves):
        if excess > 0 < each.saves:
            chosen.append(Decision(each.entry_id, each.stage, UNREAD_REASON, each.saves, 0.0))
            excess -= each.saves
    return _with_edits(changes, chosen, state, rules)


def excess_tokens(view: View, rules: Rules) -> int:
    """Return by how much a view passes its limit; 0 where it fits or there is none."""
    limit = rules.limit_tokens
    return max(0, view.shown_total - limit) if limit else 0
