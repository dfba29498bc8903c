"""Deep compaction: which old turns become digests when entries alone no longer fit the window.

Pure over a window: runs in, records out. The user's own words stay where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from hippocampus import digest
from hippocampus.conversation import Item, write
from hippocampus.digest import Run
from hippocampus.entry import (
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
from hippocampus.indexing import frame
from hippocampus.window import Window

KIND = "digest"
TAIL_SHARE = 0.5
"""How much of the limit the newest turns may keep for themselves."""
SMALLEST_RUN_TOKENS = 200
"""A shorter run is left as it is: its digest would be no shorter."""


def old_runs(window: Window, limit_tokens: int) -> list[Run]:
    """Return the runs of messages that are too old to stand in full under a limit."""
    tail = 0
    end = len(window.raw)
    while end > 0 and tail + window.shown_tokens[end - 1] <= TAIL_SHARE * limit_tokens:
        end -= 1
        tail += window.shown_tokens[end]
    closed = [number for number in digest.boundaries(window.raw) if number <= end]
    start = digest.opening_end(window.raw)
    runs = digest.runs_of(window.raw, start, max(closed, default=0))
    return [run for run in runs if _is_worth(window, run)]


def _is_worth(window: Window, run: Run) -> bool:
    weight = sum(window.shown_tokens[run.start : run.end])
    alone = window.is_folded(run.start) and window.shown_tokens[run.start] == weight
    return weight > SMALLEST_RUN_TOKENS and not alone


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


def record_of(
    session: str, window: Window, run: Run, ids: Mapping[str, str], taken: Iterable[str]
) -> Record:
    """Return the digest of a run as a record; `ids` names the entry of a call."""
    content = content_key(original_of(window, run))
    place = place_of(run, content)
    used = set(taken)
    attempt = 0
    while entry_id(session, place, content, attempt) in used:
        attempt += 1
    named = entry_id(session, place, content, attempt)
    weight = sum(window.raw_tokens[run.start : run.end])
    turn = window.turn_of(run.end - 1)
    first = window.turn_of(run.start)
    told = digest.tell(window.telling(run.start, run.end), ids, weight)
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
