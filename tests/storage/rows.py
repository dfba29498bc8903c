"""Rows of a session, as tests write them."""

from __future__ import annotations

from hippocampus.entries.entry import Decision, Entry, Record, Source, Stage
from hippocampus.entries.origin import MemoryOrigin


def record(entry_id: str, place: str = "", shown: str = "shown") -> Record:
    entry = Entry(
        id=entry_id, type="tool_result", source=Source(type="t", ref="r", turn=1), summary="s"
    )
    return Record(
        entry,
        MemoryOrigin(place or entry_id),
        "key",
        form="text",
        kind="json",
        tool="t",
        arguments="{}",
        tokens=9,
        stage=Stage.INDEXED,
        shown=shown,
    )


def decision(entry_id: str) -> Decision:
    return Decision(entry_id, Stage.INDEXED, "why", 5, 0.5)
