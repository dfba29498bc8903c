"""One turn: takes a list that was read, and returns its view with every decided change. No I/O.

The order of a turn:

1. Digests replace most of a first list that is far over its limit.
2. Due payloads get their next, shorter texts, unless they have them, and old turns are weighed as digests.
3. The plan chooses what pays; digests replace turns, then shorter texts replace payloads.
4. Over the limit, digests replace more turns, and then results are shortened that the model has not read.
5. The cost of the request is added to the sums.

Nothing is stored here; a list whose turn is not committed is dropped, since its tables have changed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from hippocampus.entries import decay
from hippocampus.entries.entry import Decision, Record, Stage
from hippocampus.formats.conversation import Message
from hippocampus.indexing.select import SLICE_TOKENS
from hippocampus.models import tokens
from hippocampus.prices.prompt_cache import kept_tokens
from hippocampus.session import compaction
from hippocampus.session.arrival import UNREAD, with_kind
from hippocampus.session.compaction import Digest, DigestWriter, PlannedDigest
from hippocampus.session.payloads import Payload, Payloads, due_from, has_faded
from hippocampus.session.plan import Candidate, PlanInput, calls_to_come, plan
from hippocampus.session.renderer import next_record
from hippocampus.session.state import ReadList, State, next_texts
from hippocampus.session.turn_rules import CONSTANTS, Rules
from hippocampus.session.view import View
from hippocampus.storage.ledger import ModelCall, TurnRows

CHANCE_TURNS = 10
"""The turns of `CONSTANTS.chance_of_use`."""
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


def take_turn(taken: ReadList, last: ModelCall, rules: Rules, *, cold: bool = False) -> Turn:
    """Return the turn of a call: the state with its view, and the rows and contents to commit.

    `taken` is its list as it was read, whose payloads change in place; `last` has the sums before this
    turn; `cold` means that the provider's cache has expired, so that an edit rewrites nothing.
    """
    before = taken.state.view
    # An edit is priced by what the cache has of the last request, so this comes before any change.
    cached = 0 if cold else before.tokens_to(before.sent)
    changes = _Changes(taken.state, rules, before, taken.state.payloads)
    changes.decide(last, cold=cold)
    view, payloads = changes.view, changes.payloads
    state = replace(taken.state, view=replace(view, sent=len(view.history.raw)))
    noted = [*taken.noted, *changes.named]
    rows = TurnRows(
        call=_call_after(last, view, payloads, rules, cached),
        records=[
            *taken.accessed,
            *changes.entries,
            *(digest.record for digest in changes.digests),
            *(record for record, _ in noted),
        ],
        decisions=[*changes.edits, *changes.folds],
        candidates=next_texts(map(payloads.items.__getitem__, changes.weighed)),
        replaced=[*taken.stale, *changes.gone],
    )
    originals = [*(original for _, original in noted), *changes.originals]
    return Turn(state, rows, originals, changes.digests, view.unchanged < view.sent)


def _call_after(
    last: ModelCall, view: View, payloads: Payloads, rules: Rules, cached_tokens: int
) -> ModelCall:
    """Return the request that sends a view, with the sums after it; `last` has those before it.

    `cached_tokens` of the last request were cached.
    """
    history, prices = view.history, rules.prices
    # Without the memory there are no recalls: the raw lists, of the last request and of this one, are
    # counted without them.
    recalls, weights = payloads.recalls, payloads.recall_tokens
    for number in recalls.keys() - weights.keys():
        message, weight = history.raw[number], history.tokens[number]
        weights[number] = recall_tokens(message, weight, recalls[number])
    fresh = sum(history.tokens[view.sent :])
    recalled_tokens = sum(weights.get(at, 0) for at in range(view.sent, len(history.raw)))
    raw_tokens = history.total - sum(weights.values())
    raw_before = raw_tokens - fresh + recalled_tokens
    read = view.tokens_to(view.unchanged)
    if view.unchanged < view.sent:  # the part before an edit, up to the last of the cache marks
        read = kept_tokens(rules.mark_tokens, read)
    unedited = max(read, min(cached_tokens, view.shown_total))
    cost, raw = prices.call_cost(read, view.shown_total), prices.call_cost(raw_before, raw_tokens)
    recalled = prices.write * recalled_tokens
    if fresh and raw_tokens == raw_before:  # only recalls are new: without the memory no such call
        raw, recalled = 0.0, cost
    return ModelCall(
        turn=history.turn,
        messages=len(history.raw),
        raw_tokens=history.total,
        sent_tokens=view.shown_total,
        raw_cost=last.raw_cost + raw,
        sent_cost=last.sent_cost + cost,
        edit_cost=last.edit_cost + cost - prices.call_cost(unedited, view.shown_total),
        recall_cost=last.recall_cost + recalled,
    )


def recall_tokens(message: Message, weight: int, recalls: Collection[int]) -> int:
    """Return the tokens that recalls add to a message of `weight` tokens; `recalls` are the parts.

    All of it, words of the model too, unless it has another call or result, or words of the user.
    """
    others = (part for at, part in enumerate(message.parts) if at not in recalls)
    is_user = message.role == "user"
    if any(p.opens_call or p.closes_call or (is_user and p.kind == "text") for p in others):
        return sum(tokens.count_part(message.parts[at]) for at in recalls)
    return weight


@dataclass(slots=True)
class _Changes:
    """The changes of a turn so far, and the view with them."""

    state: State
    """The state before the turn, but for its payloads."""
    rules: Rules
    view: View
    payloads: Payloads
    weighed: list[int] = field(default_factory=list)
    """The numbers of the payloads with a newly written next text."""
    edits: list[Decision] = field(default_factory=list)
    entries: list[Record] = field(default_factory=list)
    """The new records of the payloads that became shorter."""
    folds: list[Decision] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    originals: list[bytes] = field(default_factory=list)
    """The bytes of the payloads that left the view."""
    gone: list[str] = field(default_factory=list)
    """The entries that a digest leaves out of the view."""
    named: list[tuple[Record, bytes]] = field(default_factory=list)
    """Full results that an entry refers to, which need a record so that their ids can be recalled."""

    def decide(self, last: ModelCall, *, cold: bool) -> None:
        """Make the digests and edits that pay, then those that the limit forces."""
        rules, policy = self.rules, self.rules.policy
        if not self.view.sent:
            if rules.is_folded_first(self.view.shown_total):
                self.fold_to_limit()
            self.read_kinds()
        view = self.view
        given = PlanInput(
            turn=view.history.turn,
            sent_messages=view.sent,
            message_tokens=view.shown_tokens,
            # The savings so far, and a little: a wrong bet on the calls still to come loses little.
            balance=last.raw_cost * (1 + policy.stake) - last.sent_cost,
            limit_tokens=rules.limit_tokens,
            cold=cold,
            mark_tokens=rules.mark_tokens,
        )
        candidates = self.weigh(self.payloads.due(given.turn, view.shown_total, rules))
        fold = compaction.foldable(view, self.payloads, rules.prices, policy)
        decisions, is_folded = plan(
            candidates, fold.candidate if fold else None, given, rules.prices, policy
        )
        if fold and is_folded:
            self.fold(fold.digests, compaction.PAYS_REASON)
        self.edit(decisions)
        # Over the limit old turns go first, which the model has used; only then results it has not read.
        if excess_tokens(self.view, rules):
            self.fold_to_limit()
        if excess := excess_tokens(self.view, rules):
            self.shorten_unread(excess)

    def read_kinds(self) -> None:
        """Read the kinds of the payloads that no digest replaces."""
        history, payloads, rules = self.view.history, self.payloads, self.rules
        read = {
            number: with_kind(payloads.items[number], history, payloads, rules)
            for number in payloads.numbers.values()
            if payloads.items[number].record.kind == UNREAD
        }
        payloads.change(read, rules)

    def fold_to_limit(self) -> None:
        """Put digests in place of as many old turns as the limit requires."""
        used_from = self.view.history.turn - self.rules.policy.read_turns
        pinned, in_use = set[int](), set[int]()
        for payload in self.payloads.outside_digests():
            entry = payload.record.entry
            if payload.is_pinned:
                pinned.add(payload.message)
            if max(entry.lifecycle.created + 1, used_from) <= entry.decay.last_access:
                in_use.add(payload.message)
        limit = self.rules.limit_tokens
        self.fold(compaction.plan_compaction(self.view, limit, pinned, in_use), LIMIT_REASON)

    def weigh(self, chosen: Sequence[int]) -> list[Candidate]:
        """Write the next texts of payloads, and return these as candidates of the plan."""
        view, rules, written = self.view, self.rules, dict[int, Payload]()
        for number in chosen:
            payload = self.payloads.items[number]
            faded = has_faded(payload, view.history.turn, rules.policy)
            # A text is written once, and again only where it has faded: in a shorter form.
            if payload.shorter is None or faded:
                short = payload._replace(large=payload.large and not faded)
                shorter = next_record(short, view, self.payloads, rules)
                weight = tokens.count(shorter.shown)
                written[number] = payload._replace(shorter=shorter, shorter_weight=weight)
        self.payloads.change(written, rules)
        self.weighed += written
        return [self.candidate(self.payloads.items[number]) for number in chosen]

    def candidate(self, payload: Payload) -> Candidate:
        """Return a payload with a next text as the plan weighs it: what it saves, and the risk."""
        view, policy, turn = self.view, self.rules.policy, self.view.history.turn
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
            uses = CONSTANTS.chance_of_use * strength * turns / CHANCE_TURNS
            # No step quotes an image.
            shown = payload.record.tokens - (0 if payload.large else images)
            hidden = saves / max(1, weight) * shown / max(1, payload.record.tokens)
            risk = uses * hidden * self.rules.prices.recall_cost(view.shown_total, SLICE_TOKENS)
        return Candidate(
            entry_id=payload.id,
            message=payload.message,
            full_tokens=weight,
            indexed_tokens=payload.shorter_weight,
            risk=risk,
            stage=payload.shorter.stage if payload.shorter else payload.record.stage,
            carried=saves * max(0.0, turn - due_turn),
            kind=payload.record.kind,
        )

    def edit(self, decisions: Sequence[Decision]) -> None:
        """Shorten payloads."""
        history, payloads = self.view.history, self.payloads
        moved = payloads.move_on([decision.entry_id for decision in decisions], self.rules)
        self.view = self.view.with_texts(payload.rendered for payload in moved)
        self.edits += decisions
        self.entries += [payload.record for payload in moved]
        self.originals += [payload.original(history) for payload in moved]
        for payload in moved:
            twin = None if payload.twin is None else payloads.items[payload.twin]
            if twin is None or not twin.is_full or twin.record.origin in self.state.records:
                continue
            if twin.id in payload.record.shown:
                self.named.append((self.named_record(twin), twin.original(history)))

    def named_record(self, payload: Payload) -> Record:
        """Return the record of a full result that an entry names."""
        record = with_kind(payload, self.view.history, self.payloads, self.rules).record
        entry = record.entry
        if payload.is_folded:  # a restart without notes finds no accesses inside a digest
            entry = replace(
                entry,
                strength=self.rules.policy.initial_strength,
                decay=replace(entry.decay, last_access=entry.lifecycle.created),
                modifiers=replace(entry.modifiers, associations=[]),
            )
        return replace(record, entry=entry, shown="")

    def fold(self, planned: Sequence[PlannedDigest], reason: str) -> None:
        """Put digests in place of the spans of a plan."""
        view, prices, state = self.view, self.rules.prices, self.state
        writer = DigestWriter(
            view, self.payloads, state.by_id, state.digests, state.digest_cache, self.rules
        )
        digests = writer.write(planned)
        if not digests:
            return
        start = min(digest.span.start for digest in digests)
        rewritten = (prices.write - prices.read) * sum(view.shown_tokens[start : view.sent])
        self.view = view.with_digests([(digest.span, digest.record.shown) for digest in digests])
        for span, record, *_ in digests:
            saves = sum(view.shown_tokens[slice(*span)]) - self.view.shown_tokens[span.start]
            costs = rewritten / len(digests)
            self.folds.append(Decision(record.id, record.stage, reason, saves, costs))
        self.gone += self.payloads.fold((digest.span for digest in digests), self.rules)
        self.digests += digests

    def shorten_unread(self, excess: int) -> None:
        """Shorten results that the model has not read yet, the largest first."""
        payloads, chosen = self.payloads, list[Decision]()
        large = (number for number in payloads.numbers.values() if payloads.items[number].large)
        unread = [
            number
            for number in large
            if payloads.items[number].is_full and not payloads.items[number].is_pinned
        ]
        for candidate in sorted(self.weigh(unread), key=lambda candidate: -candidate.saves):
            if excess > 0 < candidate.saves:
                chosen.append(candidate.decided(UNREAD_REASON, 0.0))
                excess -= candidate.saves
        self.edit(chosen)


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
