"""Adoption: a session takes over an entry of another session. Pure.

The host decides which entries are adopted; a model's recall reaches only its own session.
"""

from __future__ import annotations

from dataclasses import replace

from hippocampus.entries.entry import Decay, Lifecycle, Record, Stage
from hippocampus.entries.origin import AdoptedOrigin


def adopted(record: Record, owner: str, turn: int) -> Record:
    """Return another session's entry as a dormant, recallable entry of this session."""
    entry = record.entry
    lasting = Lifecycle(created=turn, persist=False)
    decay = Decay(rate=entry.decay.rate, floor=entry.decay.floor, last_access=turn)
    modifiers = replace(entry.modifiers, associations=[])
    copied = replace(entry, decay=decay, lifecycle=lasting, modifiers=modifiers, strength=1.0)
    first = record.origin.origin if isinstance(record.origin, AdoptedOrigin) else record.origin
    origin = AdoptedOrigin(owner, first)
    return replace(record, entry=copied, origin=origin, stage=Stage.DORMANT, shown="")


def is_adopted(record: Record) -> bool:
    """Return whether an entry was adopted from another session.

    >>> from hippocampus.entries.entry import Entry, Source
    >>> from hippocampus.entries.origin import PartOrigin
    >>> source = Source(type="t", ref="", turn=1)
    >>> entry = Entry(id="e", type="tool_result", source=source, summary="")
    >>> origin = PartOrigin("result", "c", "k", 0)
    >>> own = Record(entry, origin, "k", "text", "json", "t", "", 9, Stage.INDEXED, "[e · …")
    >>> is_adopted(own), is_adopted(adopted(own, "other", 3))
    (False, True)
    """
    return isinstance(record.origin, AdoptedOrigin)
