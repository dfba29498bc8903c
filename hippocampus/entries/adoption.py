"""Adoption: an entry of one session, taken over by another. Pure.

The host decides what is adopted; a model's recall reaches its own session alone.
"""

from __future__ import annotations

from dataclasses import replace

from hippocampus.entries.entry import Decay, Lifecycle, Record, Stage

ADOPTED = "adopted"
"""The start of an adopted entry's `place`."""


def adopted(record: Record, owner: str, turn: int) -> Record:
    """Return another session's entry as one of this session: dormant, and recallable."""
    entry = record.entry
    lasting = Lifecycle(created=turn, persist=False)
    decay = Decay(rate=entry.decay.rate, floor=entry.decay.floor, last_access=turn)
    modifiers = entry.modifiers.model_copy(update={"associations": []})
    copied = entry.model_copy(
        update={"decay": decay, "lifecycle": lasting, "modifiers": modifiers, "strength": 1.0}
    )
    place = f"{ADOPTED}:{owner}:{record.place.removeprefix(f'{ADOPTED}:')}"
    return replace(record, entry=copied, place=place, stage=Stage.DORMANT, shown="")


def is_adopted(record: Record) -> bool:
    """Return whether an entry was adopted from another session.

    >>> from hippocampus.entries.entry import Entry, Source
    >>> source = Source(type="t", ref="", turn=1)
    >>> entry = Entry(id="e", type="tool_result", source=source, summary="")
    >>> own = Record(entry, "result:c:k:0", "k", "text", "json", "t", "", 9, Stage.INDEXED, "[e · …")
    >>> is_adopted(own), is_adopted(adopted(own, "other", 3))
    (False, True)
    """
    return record.place.startswith(f"{ADOPTED}:")
