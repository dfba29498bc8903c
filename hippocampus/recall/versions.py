"""What a source held at another time than when it was captured: entries of their own, linked. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from hippocampus import tokens
from hippocampus.entries.entry import Entry, Record, Source, Stage, content_key, entry_id, storable
from hippocampus.indexing import Hints, frame, index, kind_of, price_of
from hippocampus.prices import Prices

PLACE = "source"
"""How the place of such an entry starts; what stands in a list has the kind of its part there."""


def replaced(records: Iterable[Record]) -> dict[str, Record]:
    """Return, by the id of each entry that is stale, the entry of what its source held since."""
    return {
        each.place.split(":", 2)[1]: each for each in records if each.place.startswith(f"{PLACE}:")
    }


def newest(entry_id: str, since: Mapping[str, Record]) -> Record | None:
    """Return the entry of what a source held last, where it has changed since an entry was made."""
    found, seen = since.get(entry_id), {entry_id}
    while found is not None and found.entry.id in since and found.entry.id not in seen:
        seen.add(found.entry.id)
        found = since[found.entry.id]
    return found


def note(record: Record, newer: Record) -> str:
    """Return what a recall of a stale entry says before its stored content."""
    turn = newer.entry.source.turn
    return (
        f"(stale: the source of {record.entry.id} had changed by turn {turn}; what it held then is "
        f"{newer.entry.id})"
    )


def version(  # noqa: PLR0913, PLR0917 - what an entry is made of
    session: str, record: Record, text: str, turn: int, prices: Prices, encoding: str,
    taken: Container[str],
) -> Record:  # fmt: skip
    """Return the entry of what the source of another one holds at present."""
    content = content_key(text.encode("utf-8", "surrogatepass"))
    place = f"{PLACE}:{record.entry.id}:{content}"
    tries = (entry_id(session, place, content, attempt) for attempt in itertools.count())
    named = next(each for each in tries if each not in taken)
    weight, kind = tokens.count(text, encoding), kind_of(text)
    hints = Hints(record.tool, record.arguments, content_tokens=weight)
    kept = index(text, hints, price_of(kind, "normal", prices, weight, turn))
    opening = frame.first_line(named, record.tool, turn, weight, kind)
    closing = frame.last_line(named, kept.ways, text.count("\n") + 1)
    modifiers = record.entry.modifiers.model_copy(update={"associations": [record.entry.id]})
    entry = Entry(
        id=named,
        type="tool_result",
        source=Source(type=record.entry.source.type, ref=content, turn=turn),
        summary=storable(kept.summary),
        key_data=kept.key_data or None,
        decay=record.entry.decay.model_copy(update={"last_access": turn}),
        modifiers=modifiers,
        lifecycle=record.entry.lifecycle.model_copy(update={"created": turn}),
    )
    shown = storable("\n".join((opening, *kept.lines, closing)))
    return Record(
        entry, place, content, "text", kind, record.tool, record.arguments, weight,
        Stage.DORMANT, shown,
    )  # fmt: skip


def linked(record: Record, newer: Record) -> Record:
    """Return an entry that points to the one that stands for it since."""
    known = dict.fromkeys([*record.entry.modifiers.associations, newer.entry.id])
    told = record.entry.modifiers.model_copy(update={"associations": list(known)})
    return replace(record, entry=record.entry.model_copy(update={"modifiers": told}))
