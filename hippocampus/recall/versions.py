"""Newer versions of an entry's content, fetched from its source: linked entries. Pure."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from hippocampus.entries.entry import Entry, Record, Source, Stage, content_key, entry_id, storable
from hippocampus.entries.origin import SourceOrigin
from hippocampus.indexing import ExtractionContext, frame, index, kind_of, price_of
from hippocampus.models import tokens
from hippocampus.prices import Prices


def replaced(records: Iterable[Record]) -> dict[str, Record]:
    """Return by the id of each stale entry the entry of its newer version."""
    return {each.origin.entry_id: each for each in records if isinstance(each.origin, SourceOrigin)}


def newest(entry_id: str, since: Mapping[str, Record]) -> Record | None:
    """Return the entry of the newest version, or None where an entry is not stale."""
    found, seen = since.get(entry_id), {entry_id}
    while found is not None and found.entry.id in since and found.entry.id not in seen:
        seen.add(found.entry.id)
        found = since[found.entry.id]
    return found


def note(record: Record, newer: Record) -> str:
    """Return the note before the stored content of a stale entry."""
    turn = newer.entry.source.turn
    return (
        f"(stale: the source of {record.entry.id} had changed by turn {turn}; its version of then is "
        f"{newer.entry.id})"
    )


def version(  # noqa: PLR0913, PLR0917 - an entry is made of all of these
    session: str, record: Record, text: str, turn: int, prices: Prices, encoding: str,
    taken: Container[str],
) -> Record:  # fmt: skip
    """Return the entry of the present text of another entry's source."""
    content = content_key(text.encode("utf-8", "surrogatepass"))
    origin = SourceOrigin(record.entry.id, content)
    tries = (entry_id(session, origin, content, attempt) for attempt in itertools.count())
    named = next(each for each in tries if each not in taken)
    count, kind = tokens.count(text, encoding), kind_of(text)
    hints = ExtractionContext(record.tool, record.arguments, content_tokens=count)
    kept = index(text, hints, price_of(kind, "normal", prices, count, turn))
    opening = frame.first_line(named, record.tool, turn, count, kind)
    closing = frame.last_line(named, kept.selectors, text.count("\n") + 1)
    modifiers = replace(record.entry.modifiers, associations=[record.entry.id])
    entry = Entry(
        id=named,
        type="tool_result",
        source=Source(type=record.entry.source.type, ref=content, turn=turn),
        summary=storable(kept.summary),
        key_data=kept.key_data or None,
        decay=replace(record.entry.decay, last_access=turn),
        modifiers=modifiers,
        lifecycle=replace(record.entry.lifecycle, created=turn),
    )
    rendered = storable("\n".join((opening, *kept.lines, closing)))
    return Record(
        entry, origin, content, "text", kind, record.tool, record.arguments, count,
        Stage.DORMANT, rendered,
    )  # fmt: skip


def linked(record: Record, newer: Record) -> Record:
    """Return an entry that is linked to its newer version."""
    known = dict.fromkeys([*record.entry.modifiers.associations, newer.entry.id])
    modifiers = replace(record.entry.modifiers, associations=list(known))
    return replace(record, entry=replace(record.entry, modifiers=modifiers))
