"""The old turns that digests replace: where that pays, and where entries are over the limit. Pure.

Spans of messages in, records out; the text of a digest is in `digest`. The user's own messages stay
while they fit.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hippocampus.entries.entry import (
    Decay,
    Entry,
    Lifecycle,
    Record,
    Source,
    Stage,
    entry_id,
    storable,
)
from hippocampus.entries.origin import DigestOrigin
from hippocampus.formats import json_text
from hippocampus.formats.conversation import Item, Message, write
from hippocampus.indexing import frame
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.session import digest
from hippocampus.session.digest import MAX_TOKENS, MIN_TOKENS, Room, Steps
from hippocampus.session.history import Span
from hippocampus.session.payloads import Payload, Payloads
from hippocampus.session.plan import Candidate, calls_to_come
from hippocampus.session.turn_rules import CONSTANTS, Rules
from hippocampus.session.view import View
from hippocampus.session.work_files import WorkFiles

KIND = "digest"
END = 1 << 62
"""After any message."""
MIN_SPAN_TOKENS = 200
"""A shorter span is left as it is: its digest would be no shorter."""
FRAME_TOKENS = 60
"""The tokens of a digest besides its lines, at most."""
PAYS_REASON = "old turns became digests: carrying them has cost as much as the edit"


class Level(NamedTuple):
    """A depth of compaction."""

    tail_share: float
    """The share of the limit that the newest turns may keep."""
    with_user: bool
    """Whether digests replace the user's messages too; else these stay."""


LEVELS = (
    Level(0.5, with_user=False),
    Level(0.5, with_user=True),
    Level(0.25, with_user=True),
    Level(0.0, with_user=True),
)
"""Tried in this order until the view fits; the head of the list and the newest round always stay."""


class PlannedDigest(NamedTuple):
    """A span of messages that a digest replaces, and the tokens that its lines may have."""

    span: Span
    room: Room


def plan_compaction(
    view: View, limit_tokens: int, pinned: Collection[int] = (), in_use: Collection[int] = ()
) -> list[PlannedDigest]:
    """Return the digests with which a view fits under a limit, or fits best.

    `pinned` are messages that stay, with the round of calls and results that they belong to; those
    `in_use` stay as long as the user's own words do.
    """
    raw, own, start = view.history.raw, view.history.own, head_end(view.history.raw)
    inside = {at for fold in view.folds for at in range(fold.start + 1, fold.end)}
    closed = [at for at in view.history.closed if at not in inside]
    best: list[PlannedDigest] = []
    for level in LEVELS:
        # The newest turns stay, as far as their share of the limit goes; no round is cut.
        tail, left = len(raw), level.tail_share * limit_tokens
        while tail > 0 and view.shown_tokens[tail - 1] <= left:
            tail -= 1
            left -= view.shown_tokens[tail]
        end = max((number for number in closed if number <= tail), default=0)
        said = (at for at in own if not level.with_user or raw[at].role == "system")
        used = () if level.with_user else in_use
        staying = (
            at for at in {*pinned, *used, *said} if start <= at < end and not view.is_folded(at)
        )
        spans = _worth_a_digest(view, spans_between(start, end, staying, closed))
        best = _with_rooms(view, spans, int(CONSTANTS.limit_share * limit_tokens))
        size = sum(sum(room) + FRAME_TOKENS for _, room in best)
        replaced = sum(_sum_in(view.shown_tokens, span) for span, _ in best)
        if view.shown_total + size - replaced <= limit_tokens:
            break
    return best


def head_end(messages: Sequence[Message]) -> int:
    """Return how many leading messages stay: the system's and the first of the user."""
    for number, message in enumerate(messages):
        if message.role == "user":
            return number + 1
        if message.role != "system":
            return number
    return len(messages)


def spans_between(
    start: int, end: int, staying: Iterable[int], closed: Sequence[int]
) -> list[Span]:
    """Return the runs of messages between two numbers, without rounds that have a staying message.

    `closed` are the numbers of the messages before which no call is open: they start the rounds.
    """
    import numpy as np

    numbers, edges = np.fromiter(staying, np.int64), np.append(np.asarray(closed), END)
    after = np.searchsorted(edges, numbers, "right")
    ends = np.where(after < len(closed), edges[after], numbers + 1)
    depth = np.zeros(end + 1, np.int64)
    np.add.at(depth, edges[after - 1].clip(max=end), 1)
    np.add.at(depth, ends.clip(max=end), -1)
    stays = np.concatenate([[True], depth.cumsum()[start:end] > 0, [True]])
    turns = np.flatnonzero(stays[1:] != stays[:-1]) + start
    return [Span(*pair) for pair in turns.reshape(-1, 2).tolist()]


def _worth_a_digest(view: View, spans: Iterable[Span]) -> list[Span]:
    """Return the spans that a digest would shorten, and that are not one digest already."""

    def is_worth(span: Span) -> bool:
        weight = _sum_in(view.shown_tokens, span)
        is_digest = view.is_folded(span.start) and view.shown_tokens[span.start] == weight
        return weight > MIN_SPAN_TOKENS and not is_digest

    return list(filter(is_worth, spans))


def _with_rooms(
    view: View, spans: Sequence[Span], max_tokens: int = MAX_TOKENS, hot_tokens: int = 0
) -> list[PlannedDigest]:
    """Return the digests of spans, which share the budget of one: many show no more than a long one.

    Each has a share of its span's tokens, and at most half of its tokens in the view. Only the last one shows
    files, with their text after all spans; `hot_tokens` are for those that it shows whole.
    """
    if not spans:
        return []
    shares = []
    for span in spans:
        share = CONSTANTS.digest_share * _sum_in(view.history.tokens, span)
        shares.append(int(min(share, CONSTANTS.shown_share * _sum_in(view.shown_tokens, span))))
    together = sum(shares)
    total = min(max(max_tokens, MIN_TOKENS), MAX_TOKENS, max(MIN_TOKENS, together))
    steps = int(CONSTANTS.steps_share * total)
    rooms = [Room(max(MIN_TOKENS, steps * own // together)) for own in shares]
    rooms[-1] = rooms[-1]._replace(files=hot_tokens + total - steps)
    return list(map(PlannedDigest, spans, rooms))


def _sum_in(weights: Sequence[int], span: Span) -> int:
    """Return the sum over a span, which may have most messages of a list: without a loop in Python."""
    import numpy as np

    return int(np.asarray(weights)[slice(*span)].sum())


class Fold(NamedTuple):
    """The old turns that digests may replace together, as the plan weighs them, and the digests."""

    candidate: Candidate
    digests: list[PlannedDigest]


def foldable(view: View, payloads: Payloads, prices: Prices, policy: Policy) -> Fold | None:
    """Return the weak turns that digests may replace, with those that digests replace already.

    None where the savings could not pay for the edit: most turns end there.
    """
    off = policy.compression == "none" or not policy.digest_below
    if off or not view.sent or view.shown_total < policy.fade_view_tokens:
        return None
    import numpy as np

    # By message, the turn from which it is cold; digests are, so that a longer one may replace them.
    turn, raw = view.history.turn, view.history.raw
    start = head_end(raw)
    weights = np.asarray(view.shown_tokens)[: view.sent]
    cold_from = payloads.cold_from(view.history.turns[: view.sent], policy)
    cold_from[:start] = np.inf
    for fold in view.folds:
        cold_from[slice(*fold)] = turn
    cold = cold_from <= turn
    gone = cold.copy()
    for fold in view.folds:
        gone[slice(*fold)] = False
    # An upper bound of the gain comes first, since the spans take most of the time.
    first = int(cold.argmax())
    saved = int(weights[gone].sum()) * (1 - CONSTANTS.digest_share)
    written = int(weights[first:].sum()) - saved
    gains = calls_to_come(turn) * prices.read * saved
    if saved < CONSTANTS.min_saved_tokens or gains <= (prices.write - prices.read) * written:
        return None
    closed = view.history.closed[: bisect.bisect_right(view.history.closed, view.sent)]
    last = closed[-1] if closed else 0
    own = view.history.own
    hot = (np.flatnonzero(~cold[start:last]) + start).tolist()
    staying = [*hot, *own[bisect.bisect_left(own, start) : bisect.bisect_left(own, last)]]
    spans = spans_between(start, last, staying, closed)
    spans = _worth_a_digest(view, spans)
    if not spans:
        return None
    replaced = np.concatenate([np.arange(*span) for span in spans])
    weight = int(weights[replaced].sum())
    digests = _with_rooms(view, spans, hot_tokens=payloads.hot_tokens(spans, turn))
    left = sum(sum(room) + FRAME_TOKENS for _, room in digests)
    if left >= weight:
        return None
    carried = float((weights * (turn - cold_from))[replaced].sum()) * (1 - left / weight)
    start, stage = spans[0].start, Stage.DORMANT
    candidate = Candidate("", start, weight, left, stage=stage, spans=tuple(spans), carried=carried)
    return Fold(candidate, digests)


def original_of(view: View, span: Span) -> bytes:
    """Return the provider's own items of a span, as JSON; redacted where a rule does so."""
    items: list[Item] = write(view.history.quotable_range(span.start, span.end))
    return json_text.written(items).encode("utf-8", "surrogatepass")


def span_of(record: Record) -> Span | None:
    """Return the messages that a digest replaces."""
    origin = record.origin
    return Span(origin.start, origin.end) if isinstance(origin, DigestOrigin) else None


class Digest(NamedTuple):
    """The record of a digest, the messages that it replaces, and their bytes for the store."""

    span: Span
    record: Record
    items: bytes
    parts: tuple[bytes, ...]
    """The payloads that `items` repeat."""
    start: str
    """The key of the stored list that `items` continue; empty where they are the whole."""


@dataclass(frozen=True, slots=True)
class DigestCache:
    """What the last digests of a list have, from which longer ones go on."""

    files: WorkFiles = field(default_factory=WorkFiles)
    """The files of the list up to the end of its last digest."""
    lists: dict[str, tuple[Any, Steps]] = field(default_factory=dict)
    """By the key of a list that a digest replaces, its hash but for its end, and its steps."""


@dataclass(frozen=True, slots=True)
class DigestWriter:
    """Writes the digests of a plan, within their budgets."""

    view: View
    payloads: Payloads
    records: Mapping[str, Record]
    """The entries of the session by their ids."""
    digests: Mapping[DigestOrigin, Record]
    """The digests among these."""
    cache: DigestCache
    rules: Rules

    def write(self, planned: Sequence[PlannedDigest]) -> list[Digest]:
        """Return the digests of a plan."""
        view, history, known_lists = self.view, self.view.history, self.cache.lists
        self.cache.files.read_to(max((span.end for span, _ in planned), default=0), history)
        shown = {
            origin.start: origin
            for origin, record in self.digests.items()
            if (origin.start, origin.end) in view.folds
            and view.shown[origin.start].parts[0].text == record.shown
        }
        for gone in known_lists.keys() - {origin.content for origin in shown.values()}:
            del known_lists[gone]  # of a turn that failed, or of another branch
        found: list[Digest] = []
        for span, room in planned:
            # What a digest in the view has is stored: a longer digest adds to it, and is hashed on from there.
            start, end, hashed, steps = "", span.start, hashlib.sha256(b"["), Steps()
            if before := shown.get(span.start):
                inner, known = Span(before.start, before.end), known_lists.pop(before.content, None)
                if known is None:
                    opened = hashlib.sha256(original_of(view, inner)[:-1])
                    known = opened, steps.extended(history.quotable_range(*inner))
                if _closed(known[0]) == before.content:
                    start, end, (hashed, steps) = before.content, inner.end, known
                    hashed.update(b", ")
            added = Span(end, span.end)
            items = original_of(view, added)
            hashed.update(items[1:-1])
            origin = DigestOrigin(span.start, span.end, _closed(hashed))
            steps = steps.extended(history.quotable_range(*added))
            known_lists[origin.content] = hashed, steps
            every = (p for p in self.payloads.items if span.start <= p.message < span.end)
            inside = sorted((p for p in every if p.id in self.records), key=lambda p: p.site)
            record = self.digests.get(origin)
            if record is None:  # else another branch of the list has made it
                taken = {digest.record.id for digest in found}
                record = self._record(origin, steps, inside, room, taken)
            parts = tuple(payload.original(history) for payload in inside if payload.message >= end)
            found.append(Digest(span, record, items, parts, start))
        return found

    def _record(
        self,
        origin: DigestOrigin,
        steps: Steps,
        inside: Iterable[Payload],
        room: Room,
        taken: Container[str],
    ) -> Record:
        """Return the record of a digest; `inside` are the payloads in it, `taken` the ids of others."""
        history, rules = self.view.history, self.rules

        def is_taken(named: str) -> bool:
            return named in self.records or named in taken

        named = entry_id(rules.mark, rules.session, origin, origin.content, is_taken)
        weight = _sum_in(history.tokens, Span(origin.start, origin.end))
        first, last = history.turns[origin.start], history.turns[origin.end - 1]
        ids: dict[str, str] = {}  # texts: thousands of lists start the garbage collector
        for payload in inside:
            if self.records[payload.id].stage is not Stage.FULL:
                call_id = payload.part_in(history).call_id
                ids[call_id] = f"{ids[call_id]} {payload.id}" if call_id in ids else payload.id
        lines = digest.lines_of(steps, ids, self.cache.files.newest(), history.turn, room)
        opening = f"[{named} · digest · turns {first}–{last} · {weight} tokens · {KIND}]"
        closing = frame.last_line(named, ('query="…"',))
        entry = Entry(
            id=named,
            type="message",
            source=Source(type=KIND, ref=origin.content, turn=first),
            summary=f"turns {first} to {last}",
            decay=Decay(rate=rules.policy.decay_rate_of("message"), last_access=history.turn),
            lifecycle=Lifecycle(created=history.turn),
        )
        line = rules.summary_of(
            str(origin),
            lambda: digest.transcript(history.quotable_range(origin.start, origin.end)),
        )
        summary = [frame.as_content(line)] if line else []
        shown = storable("\n".join((opening, *summary, lines, closing)))
        return Record(
            entry, origin, origin.content, form="messages", kind=KIND, tool=KIND, tokens=weight,
            stage=Stage.DORMANT, shown=shown,
        )  # fmt: skip


def _closed(hashed: Any) -> str:
    """Return the key of the list that a hash has, but for its end."""
    closed = hashed.copy()
    closed.update(b"]")
    return str(closed.hexdigest())
