"""Entries of one session in another: how one takes them over, and what it then holds. Pure.

Who may take what is the host's decision; a recall by a model reaches its own session alone.
"""

from __future__ import annotations

from dataclasses import replace

from hippocampus.entries.entry import Decay, Lifecycle, Record, Stage

ADOPTED = "adopted"


def adopted(record: Record, owner: str, turn: int) -> Record:
    """Return another session's entry as it stands in this one: out of the view, recallable."""
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
    """Say whether an entry was taken over from another session.

    >>> from hippocampus.entry import Entry, Source
    >>> source = Source(type="t", ref="", turn=1)
    >>> entry = Entry(id="e", type="tool_result", source=source, summary="")
    >>> own = Record(entry, "result:c:k:0", "k", "text", "json", "t", "", 9, Stage.INDEXED, "[e · …")
    >>> is_adopted(own), is_adopted(adopted(own, "other", 3))
    (False, True)
    """
    return record.place.startswith(f"{ADOPTED}:")
