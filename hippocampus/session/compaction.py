"""Deep compaction: which old turns become digests when entries alone no longer fit the window.

Pure over a window: runs in, records out. The user's own words stay where they are while they fit.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
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
from hippocampus.formats.conversation import Item, Message, write
from hippocampus.indexing import frame
from hippocampus.indexing.shapes import identifiers
from hippocampus.session import digest
from hippocampus.session.digest import Run
from hippocampus.session.view import Window

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

    runs: list[Run]
    rooms: list[int]


def folding(window: Window, limit_tokens: int, pinned: Collection[int] = ()) -> Folding:
    """Return what to tell as digests so that a view fits under a limit, or fits best.

    `pinned` are messages that stay, with the round of calls and results that they belong to.
    """
    closed = [at for at in digest.boundaries(window.raw) if not window.is_inside_fold(at)]
    best = Folding([], [])
    for level in LEVELS:
        best = _folding_at(level, window, limit_tokens, closed, pinned)
        if _weight_after(window, best) <= limit_tokens:
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
    level: Level, window: Window, limit_tokens: int, closed: Sequence[int], pinned: Collection[int]
) -> Folding:
    def stays(number: int) -> bool:
        message = window.raw[number]
        if window.is_folded(number):
            return False
        said = not level.tells_user and digest.is_said_by_user(message)
        return number in pinned or message.role == "system" or said

    start = digest.opening_end(window.raw)
    tail = _tail_start(window, level.tail_share * limit_tokens)
    end = max((number for number in closed if number <= tail), default=0)
    kept = rounds_of(filter(stays, range(start, end)), closed)
    runs = digest.runs_of(start, end, kept.__contains__)
    runs = [run for run in runs if is_worth(window, run)]
    share = int(DIGESTS_SHARE * limit_tokens) // max(1, len(runs))
    most = min(digest.MOST_TOKENS, max(digest.LEAST_TOKENS, share))
    return Folding(runs, [digest.room_for(_raw_weight(window, run), most) for run in runs])


def _tail_start(window: Window, most_tokens: float) -> int:
    """Return the message from which on the newest ones weigh so much at most."""
    at = len(window.raw)
    room = most_tokens
    while at > 0 and window.shown_tokens[at - 1] <= room:
        at -= 1
        room -= window.shown_tokens[at]
    return at


def _weight_after(window: Window, folding: Folding) -> int:
    """Return what the view will weigh at most."""
    total = window.shown_total
    for run, room in zip(*folding, strict=True):
        total += room + FRAME_TOKENS - sum(window.shown_tokens[run.start : run.end])
    return total


def _raw_weight(window: Window, run: Run) -> int:
    return sum(window.raw_tokens[run.start : run.end])


def is_worth(window: Window, run: Run) -> bool:
    """Say whether a run is long enough to be told, and not one digest that stands already."""
    weight = sum(window.shown_tokens[run.start : run.end])
    alone = window.is_folded(run.start) and window.shown_tokens[run.start] == weight
    return weight > SMALLEST_RUN_TOKENS and not alone


def _names_lost(window: Window, run: Run) -> list[str]:
    """Return what the view names in a run alone, the most often named first."""
    inside = _names_in(window.shown[run.start : run.end])
    outside = _names_in([*window.shown[: run.start], *window.shown[run.end :]])
    lost = inside.keys() - outside.keys()
    named = _names_in(window.telling(0, run.end))
    return sorted(lost, key=lambda name: (-named[name], name))


def _names_in(messages: Iterable[Message]) -> Counter[str]:
    """Count the texts that name each identifier."""
    return Counter(
        name for message in messages for text in message.texts() for name in identifiers(text)
    )


def original_of(window: Window, run: Run) -> bytes:
    """Return the provider's own items of a run, as JSON; redacted where a rule says so."""
    items: list[Item] = write(window.telling(run.start, run.end))
    return json.dumps(items, ensure_ascii=False).encode("utf-8", "surrogatepass")


def place_of(run: Run, content: str) -> str:
    """Return what names a run in its conversation: where it stands, and what it says."""
    return f"{KIND}:{run.start}:{run.end}:{content}"


def run_of(record: Record) -> Run | None:
    """Return the run that a digest stands for."""
    kind, _, rest = record.place.partition(":")
    if kind != KIND:
        return None
    start, end, _ = rest.split(":")
    return Run(int(start), int(end))


def record_of(  # noqa: PLR0913, PLR0917 - what it tells, under which id, and how long
    session: str,
    window: Window,
    run: Run,
    ids: Mapping[str, Sequence[str]],
    taken: Iterable[str],
    room: int,
) -> Record:
    """Return the digest of a run as a record of so many tokens; `ids` names the entries of a call."""
    content = content_key(original_of(window, run))
    place = place_of(run, content)
    used = set(taken)
    attempt = 0
    while entry_id(session, place, content, attempt) in used:
        attempt += 1
    named = entry_id(session, place, content, attempt)
    weight = _raw_weight(window, run)
    turn = window.turn_of(run.end - 1)
    first = window.turn_of(run.start)
    told = digest.tell(window.telling(run.start, run.end), ids, _names_lost(window, run), room)
    opening = f"[{named} · digest · turns {first}–{turn} · {weight} tokens · {KIND}]"
    closing = frame.last_line(named, (), run.end - run.start + 1)
    entry = Entry(
        id=named,
        type="message",
        source=Source(type=KIND, ref=content, turn=first),
        summary=f"turns {first} to {turn}",
        decay=Decay(last_access=window.turn),
        lifecycle=Lifecycle(created=window.turn),
    )
    shown = storable(f"{opening}\n{told}\n{closing}")
    return Record(entry, place, content, "messages", KIND, KIND, "", weight, Stage.DORMANT, shown)
