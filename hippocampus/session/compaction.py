"""The old turns that digests replace: where that pays, and where entries are over the limit. Pure.

Spans of messages in, records out; the text of a digest is in `digest`. The user's own messages stay
while they fit.
"""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
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
from hippocampus.session.constants import CONSTANTS
from hippocampus.session.digest import MAX_TOKENS, MIN_TOKENS, Room, Steps
from hippocampus.session.history import is_said_by_user
from hippocampus.session.payloads import Payloads
from hippocampus.session.plan import Candidate, calls_to_come
from hippocampus.session.rules import Rules
from hippocampus.session.view import Span, View
from hippocampus.session.work_files import WorkFile

KIND = "digest"
MIN_SPAN_TOKENS = 200
"""A shorter span is left as it is: its digest would be no shorter."""
DIGESTS_SHARE = 0.25
"""The share of the limit that all digests together may take."""
FRAME_TOKENS = 60
"""The tokens of a digest besides its lines, at most."""
PAYS_REASON = "old turns became digests: carrying them has cost as much as the edit"
MIN_SAVED_TOKENS = 2_000
"""Many digests of few turns show less than one of many turns, even where no provider caches anything."""


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
"""Tried in this order until the view fits; the opening and the newest round always stay."""


class CompactionPlan(NamedTuple):
    """The spans of messages that digests replace, and the tokens that their lines may have.

    Only the last digest shows files, with their text after all spans.
    """

    spans: list[Span]
    rooms: list[Room]


def plan_compaction(
    view: View, limit_tokens: int, pinned: Collection[int] = (), in_use: Collection[int] = ()
) -> CompactionPlan:
    """Return the digests with which a view fits under a limit, or fits best.

    `pinned` are messages that stay, with the round of calls and results that they belong to; those
    `in_use` stay as long as the user's own words do.
    """
    inside = {at for fold in view.folds for at in range(fold.start + 1, fold.end)}
    closed = [at for at in view.history.closed if at not in inside]
    best = CompactionPlan([], [])
    for level in LEVELS:
        staying = pinned if level.with_user else {*pinned, *in_use}
        best = _plan_at(level, view, limit_tokens, closed, staying)
        if _weight_after(view, best) <= limit_tokens:
            break
    return best


def _plan_at(
    level: Level, view: View, limit_tokens: int, closed: Sequence[int], pinned: Collection[int]
) -> CompactionPlan:
    def stays(number: int) -> bool:
        message = view.history.raw[number]
        if view.is_folded(number):
            return False
        own = not level.with_user and is_said_by_user(message)
        return number in pinned or message.role == "system" or own

    start = opening_end(view.history.raw)
    tail = _tail_start(view, level.tail_share * limit_tokens)
    end = max((number for number in closed if number <= tail), default=0)
    spans = spans_between(start, end, filter(stays, range(start, end)), closed)
    spans = [span for span in spans if is_worth(view, span)]
    share = int(DIGESTS_SHARE * limit_tokens) // max(1, len(spans))
    most = min(MAX_TOKENS, max(MIN_TOKENS, share))
    rooms = [room_of(_share_tokens(view, span), most) for span in spans]
    files = sum(room.files for room in rooms)
    rooms = [
        Room(room.steps, files if at == len(rooms) - 1 else 0) for at, room in enumerate(rooms)
    ]
    return CompactionPlan(spans, rooms)


def opening_end(messages: Sequence[Message]) -> int:
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

    numbers, edges = np.fromiter(staying, np.int64), np.append(np.asarray(closed), 1 << 62)
    after = np.searchsorted(edges, numbers, "right")
    ends = np.where(after < len(closed), edges[after], numbers + 1)
    depth = np.zeros(end + 1, np.int64)
    np.add.at(depth, edges[after - 1].clip(max=end), 1)
    np.add.at(depth, ends.clip(max=end), -1)
    stays = np.concatenate([[True], depth.cumsum()[start:end] > 0, [True]])
    turns = np.flatnonzero(stays[1:] != stays[:-1]) + start
    return [Span(*pair) for pair in turns.reshape(-1, 2).tolist()]


def room_of(share_tokens: int, max_tokens: int = MAX_TOKENS) -> Room:
    """Return the room for the lines of a digest: its share, within bounds."""
    total = min(max_tokens, max(MIN_TOKENS, share_tokens))
    steps = int(CONSTANTS.steps_share * total)
    return Room(steps, total - steps)


def _tail_start(view: View, most_tokens: float) -> int:
    """Return the first of the newest messages that together have `most_tokens` at most."""
    at = len(view.history.raw)
    left = most_tokens
    while at > 0 and view.shown_tokens[at - 1] <= left:
        at -= 1
        left -= view.shown_tokens[at]
    return at


def _weight_after(view: View, planned: CompactionPlan) -> int:
    """Return the tokens of the view after a plan, at most."""
    total = view.shown_total
    for span, room in zip(planned.spans, planned.rooms, strict=True):
        total += sum(room) + FRAME_TOKENS - _sum_in(view.shown_tokens, span)
    return total


def _share_tokens(view: View, span: Span) -> int:
    """Return the tokens of a digest of a span: a share of its tokens, and at most half of its tokens in the view."""
    share = CONSTANTS.digest_share * _sum_in(view.history.tokens, span)
    return int(min(share, CONSTANTS.shown_share * _sum_in(view.shown_tokens, span)))


def _sum_in(weights: Sequence[int], span: Span) -> int:
    """Return the sum over a span, which may have most messages of a list: without a loop in Python."""
    import numpy as np

    return int(np.asarray(weights)[slice(*span)].sum())


class Fold(NamedTuple):
    """The old turns that digests may replace together, as the plan weighs them, and the digests."""

    candidate: Candidate
    digests: CompactionPlan


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
    start = opening_end(raw)
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
    if saved < MIN_SAVED_TOKENS or gains <= (prices.write - prices.read) * written:
        return None
    closed = view.history.closed[: bisect.bisect_right(view.history.closed, view.sent)]
    last = closed[-1] if closed else 0
    own = view.history.own
    hot = (np.flatnonzero(~cold[start:last]) + start).tolist()
    staying = [*hot, *own[bisect.bisect_left(own, start) : bisect.bisect_left(own, last)]]
    spans = spans_between(start, last, staying, closed)
    spans = [span for span in spans if is_worth(view, span)]
    if not spans:
        return None
    # The digests share the budget of one, so that many short spans show no more than a long one.
    replaced = np.concatenate([np.arange(*span) for span in spans])
    weight = int(weights[replaced].sum())
    shares = [_share_tokens(view, span) for span in spans]
    hot_tokens = payloads.hot_tokens(spans, turn)
    together = room_of(sum(shares))
    rooms = [Room(max(MIN_TOKENS, together.steps * own // sum(shares))) for own in shares]
    rooms[-1] = Room(rooms[-1].steps, hot_tokens + together.files)
    left = sum(sum(room) + FRAME_TOKENS for room in rooms)
    if left >= weight:
        return None
    carried = float((weights * (turn - cold_from))[replaced].sum()) * (1 - left / weight)
    start, stage = spans[0].start, Stage.DORMANT
    candidate = Candidate("", start, weight, left, stage=stage, spans=tuple(spans), carried=carried)
    return Fold(candidate, CompactionPlan(spans, rooms))


def is_worth(view: View, span: Span) -> bool:
    """Return whether a digest would shorten a span, which is not one digest already."""
    weight = _sum_in(view.shown_tokens, span)
    is_digest = view.is_folded(span.start) and view.shown_tokens[span.start] == weight
    return weight > MIN_SPAN_TOKENS and not is_digest


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


def digests_of(  # noqa: PLR0913, PLR0917 - a view, its rows, a plan
    view: View,
    payloads: Payloads,
    records: Mapping[str, Record],
    digests: Mapping[DigestOrigin, Record],
    planned: CompactionPlan,
    rules: Rules,
) -> list[Digest]:
    """Return the digests of a plan, within their budgets.

    `records` are the entries of the session by their ids, and `digests` those among them.
    """
    found: list[Digest] = []
    history = view.history
    rules.files.read_to(max((span.end for span in planned.spans), default=0), history)
    files = rules.files.newest()
    shown = {
        origin.start: origin
        for origin, record in digests.items()
        if (origin.start, origin.end) in view.folds
        and view.shown[origin.start].parts[0].text == record.shown
    }
    contents = {origin.content for origin in shown.values()}
    for gone in rules.digested.keys() - contents:  # of a turn that failed, or of another branch
        del rules.digested[gone]

    def is_taken(named: str) -> bool:
        return named in records or any(named == other.record.entry.id for other in found)

    for span, room in zip(planned.spans, planned.rooms, strict=True):
        # What a digest in the view has is stored: a longer digest adds to it, and is hashed on from there.
        start, end, hashed, steps = "", span.start, hashlib.sha256(b"["), Steps()
        if before := shown.get(span.start):
            inner, known = Span(before.start, before.end), rules.digested.pop(before.content, None)
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
        rules.digested[origin.content] = hashed, steps
        inside = payloads.entries_in(span, records)
        ids: dict[str, str] = {}  # texts: thousands of lists start the garbage collector
        for payload in inside:
            if records[payload.id].stage is not Stage.FULL:
                call_id = history.raw[payload.message].parts[payload.part].call_id
                ids[call_id] = f"{ids[call_id]} {payload.id}" if call_id in ids else payload.id
        record = digests.get(origin)
        if record is None:  # else another branch of the list has made it
            record = _record(view, span, origin, steps, ids, files, is_taken, room, rules)
        parts = tuple(
            payloads.original(payload, history) for payload in inside if payload.message >= end
        )
        found.append(Digest(span, record, items, parts, start))
    return found


def _closed(hashed: Any) -> str:
    """Return the key of the list that a hash has, but for its end."""
    closed = hashed.copy()
    closed.update(b"]")
    return str(closed.hexdigest())


def _record(  # noqa: PLR0913, PLR0917 - a span, its names and ids, and a budget
    view: View,
    span: Span,
    origin: DigestOrigin,
    steps: Steps,
    ids: Mapping[str, str],
    files: Sequence[WorkFile],
    is_taken: Callable[[str], bool],
    room: Room,
    rules: Rules,
) -> Record:
    history = view.history
    named = entry_id(rules.mark, rules.session, origin, origin.content, is_taken)
    weight = _sum_in(view.history.tokens, span)
    first, last = history.turns[span.start], history.turns[span.end - 1]
    lines = digest.lines_of(steps, ids, files, history.turn, room)
    opening = f"[{named} · digest · turns {first}–{last} · {weight} tokens · {KIND}]"
    closing = frame.last_line(named, (), span.end - span.start + 1)
    entry = Entry(
        id=named,
        type="message",
        source=Source(type=KIND, ref=origin.content, turn=first),
        summary=f"turns {first} to {last}",
        decay=Decay(rate=rules.policy.decay_rate_of("message"), last_access=history.turn),
        lifecycle=Lifecycle(created=history.turn),
    )
    line = rules.summary_of(
        str(origin), lambda: digest.transcript(history.quotable_range(span.start, span.end))
    )
    summary = [frame.as_content(line)] if line else []
    text = "\n".join((opening, *summary, lines, closing))
    return Record(
        entry,
        origin,
        origin.content,
        "messages",
        KIND,
        KIND,
        "",
        weight,
        Stage.DORMANT,
        storable(text),
    )
