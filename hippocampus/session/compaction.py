"""Deep compaction: which old turns become digests when entries alone no longer fit the view.

Pure over a view: runs in, records out. The user's own words stay where they are while they fit.
"""

from __future__ import annotations

import bisect
import itertools
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hippocampus.entries.entry import (
    Decay,
    Entry,
    Lifecycle,
    Record,
    Source,
    Stage,
    content_key,
    entry_id,
    storable,
)
from hippocampus.entries.origin import DigestOrigin, EntryOrigin
from hippocampus.formats.conversation import Item, Message, write
from hippocampus.indexing import frame
from hippocampus.indexing.shapes import identifiers
from hippocampus.session import digest
from hippocampus.session.digest import Span
from hippocampus.session.payloads import Payloads
from hippocampus.session.rules import Rules
from hippocampus.session.view import View

KIND = "digest"
SMALLEST_RUN_TOKENS = 200
"""A shorter run is left as it is: its digest would be no shorter."""
DIGESTS_SHARE = 0.25
"""How much of the limit all digests together may take."""
FRAME_TOKENS = 60
"""What a digest weighs beside its lines, at most."""


class Level(NamedTuple):
    """How deep a compaction goes."""

    tail_share: float
    """How much of the limit the newest turns may keep for themselves."""
    tells_user: bool
    """Whether digests tell the user's words too; else they stay where they are."""


LEVELS = (
    Level(0.5, tells_user=False),
    Level(0.5, tells_user=True),
    Level(0.25, tells_user=True),
    Level(0.0, tells_user=True),
)
"""Tried in this order until the view fits; the opening and the newest round always stay."""


class Folding(NamedTuple):
    """Which messages digests are to stand for, and how many tokens each of these may have."""

    spans: list[Span]
    rooms: list[int]


def folding(view: View, limit_tokens: int, pinned: Collection[int] = ()) -> Folding:
    """Return what to tell as digests so that a view fits under a limit, or fits best.

    `pinned` are messages that stay, with the round of calls and results that they belong to.
    """
    closed = [at for at in digest.boundaries(view.history.raw) if not view.is_inside_fold(at)]
    best = Folding([], [])
    for level in LEVELS:
        best = _folding_at(level, view, limit_tokens, closed, pinned)
        if _weight_after(view, best) <= limit_tokens:
            break
    return best


def rounds_of(staying: Iterable[int], closed: Sequence[int]) -> set[int]:
    """Return all messages of the rounds of calls and results in which some stay."""
    found: set[int] = set()
    for number in staying:
        at = bisect.bisect_right(closed, number)
        end = closed[at] if at < len(closed) else number + 1
        found.update(range(closed[at - 1], end))
    return found


def _folding_at(
    level: Level, view: View, limit_tokens: int, closed: Sequence[int], pinned: Collection[int]
) -> Folding:
    def stays(number: int) -> bool:
        message = view.history.raw[number]
        if view.is_folded(number):
            return False
        said = not level.tells_user and digest.is_said_by_user(message)
        return number in pinned or message.role == "system" or said

    start = digest.opening_end(view.history.raw)
    tail = _tail_start(view, level.tail_share * limit_tokens)
    end = max((number for number in closed if number <= tail), default=0)
    kept = rounds_of(filter(stays, range(start, end)), closed)
    runs = digest.spans_of(start, end, kept.__contains__)
    runs = [run for run in runs if is_worth(view, run)]
    share = int(DIGESTS_SHARE * limit_tokens) // max(1, len(runs))
    most = min(digest.MOST_TOKENS, max(digest.LEAST_TOKENS, share))
    return Folding(runs, [digest.room_for(_raw_weight(view, run), most) for run in runs])


def _tail_start(view: View, most_tokens: float) -> int:
    """Return the message from which on the newest ones weigh so much at most."""
    at = len(view.history.raw)
    room = most_tokens
    while at > 0 and view.shown_tokens[at - 1] <= room:
        at -= 1
        room -= view.shown_tokens[at]
    return at


def _weight_after(view: View, folding: Folding) -> int:
    """Return what the view will weigh at most."""
    total = view.shown_total
    for span, room in zip(*folding, strict=True):
        total += room + FRAME_TOKENS - sum(view.shown_tokens[span.start : span.end])
    return total


def _raw_weight(view: View, span: Span) -> int:
    return sum(view.history.tokens[span.start : span.end])


def is_worth(view: View, span: Span) -> bool:
    """Say whether a run is long enough to be told, and not one digest that stands already."""
    weight = sum(view.shown_tokens[span.start : span.end])
    alone = view.is_folded(span.start) and view.shown_tokens[span.start] == weight
    return weight > SMALLEST_RUN_TOKENS and not alone


class _NameCounts:
    """How many texts of a view have each identifier, while digests replace some of them."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._counts = _names_in(view.shown)

    def lost(self, span: Span) -> list[str]:
        """Return the identifiers that a view has in a span alone, the most frequent first."""
        inside = _names_in(self._view.shown[span.start : span.end])
        lost = {name for name, count in inside.items() if self._counts[name] == count}
        named = _names_in(self._view.history.telling(0, span.end), lost)
        return sorted(lost, key=lambda name: (-named[name], name))

    def replace(self, span: Span, text: str) -> None:
        """Count the text of a digest in place of a span."""
        self._counts.subtract(_names_in(self._view.shown[span.start : span.end]))
        self._counts.update(identifiers(text))


def _names_in(messages: Iterable[Message], wanted: AbstractSet[str] | None = None) -> Counter[str]:
    """Count the texts that have each identifier, or each of those wanted."""
    texts = (text for message in messages for text in message.texts())
    if wanted is None:
        return Counter(name for text in texts for name in identifiers(text))
    return Counter(name for text in texts for name in identifiers(text) & wanted)


def original_of(view: View, span: Span) -> bytes:
    """Return the provider's own items of a span, as JSON; redacted where a rule says so."""
    items: list[Item] = write(view.history.telling(span.start, span.end))
    return json.dumps(items, ensure_ascii=False).encode("utf-8", "surrogatepass")


def content_of(view: View, span: Span) -> str:
    """Return the key of the bytes that a digest of a span replaces."""
    return content_key(original_of(view, span))


def span_of(record: Record) -> Span | None:
    """Return the messages that a digest stands for."""
    origin = record.origin
    return Span(origin.start, origin.end) if isinstance(origin, DigestOrigin) else None


class Digest(NamedTuple):
    """The record of a digest, the messages that it replaces, and their bytes."""

    span: Span
    record: Record
    original: bytes


def digests_of(  # noqa: PLR0913, PLR0917 - a view, what is known of it, and what to replace
    view: View,
    payloads: Payloads,
    records: Mapping[EntryOrigin, Record],
    ids: AbstractSet[str],
    folding: Folding,
    rules: Rules,
) -> list[Digest]:
    """Return the digests that replace the spans of a folding, each in as many tokens as it says.

    `records` are the entries of the session by their origin, and `ids` their ids.
    """
    taken = set(ids)
    if not folding.spans:
        return []
    counts = _NameCounts(view)
    found: list[Digest] = []
    for span, room in zip(*folding, strict=True):
        original = original_of(view, span)
        origin = DigestOrigin(span.start, span.end, content_key(original))
        record = records.get(origin)
        if record is None:
            inner = payloads.ids_in(span, records, view.history)
            record = _record(
                view,
                span,
                origin,
                content_key(original),
                inner,
                counts.lost(span),
                taken,
                room,
                rules,
            )
        counts.replace(span, record.shown)
        taken.add(record.entry.id)
        found.append(Digest(span, record, original))
    return found


def _record(  # noqa: PLR0913, PLR0917 - what a digest says, under which id, and how long
    view: View,
    span: Span,
    origin: DigestOrigin,
    content: str,
    ids: Mapping[str, Sequence[str]],
    names: Sequence[str],
    taken: AbstractSet[str],
    room: int,
    rules: Rules,
) -> Record:
    history = view.history
    tries = (entry_id(rules.session, origin, content, attempt) for attempt in itertools.count())
    named = next(each for each in tries if each not in taken)
    weight = _raw_weight(view, span)
    first, last = history.turns[span.start], history.turns[span.end - 1]
    messages = history.telling(span.start, span.end)
    lines = digest.tell(messages, ids, names, room)
    opening = f"[{named} · digest · turns {first}–{last} · {weight} tokens · {KIND}]"
    closing = frame.last_line(named, (), span.end - span.start + 1)
    entry = Entry(
        id=named,
        type="message",
        source=Source(type=KIND, ref=content, turn=first),
        summary=f"turns {first} to {last}",
        decay=Decay(last_access=history.turn),
        lifecycle=Lifecycle(created=history.turn),
    )
    line = rules.summary_of(str(origin), lambda: digest.transcript(messages))
    summary = [frame.as_content(line)] if line else []
    text = "\n".join((opening, *summary, lines, closing))
    return Record(
        entry, origin, content, "messages", KIND, KIND, "", weight, Stage.DORMANT, storable(text)
    )
