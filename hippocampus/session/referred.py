"""The text that a result points at, in place of "unchanged since last read". Pure.

A host answers a repeated read with such a sentence. Where the view has shortened the earlier text, the
agent could not read at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hippocampus.entries.entry import Record, Stage
from hippocampus.entries.origin import EntryOrigin, PartOrigin
from hippocampus.formats.calls import points_back
from hippocampus.formats.conversation import Part
from hippocampus.session.compaction import span_of
from hippocampus.session.history import History
from hippocampus.session.payloads import origin_of
from hippocampus.session.rules import Rules
from hippocampus.session.view import Rendered


def referred(
    history: History, start: int, sent: int, records: Mapping[EntryOrigin, Record], rules: Rules
) -> Iterator[Rendered]:
    """Yield the texts for results from a message on that point at a read which the view has shortened.

    In the messages that were `sent`, those are the texts that got a record. A small text never gets
    one: it replaces every result that points at it.
    """
    new = (part for message in history.raw[start:] for part in message.parts)
    if not any(part.kind == "result" and points_back(part.text) for part in new):
        return
    texts: dict[tuple[str, str], tuple[int, PartOrigin, str]] = {}
    ranks = Counter[PartOrigin]()
    for number, at, part, asked in _results(history):
        before, origin, text = number, None, part.text
        is_pointer = points_back(text)
        if is_pointer:
            if asked not in texts:
                continue
            before, origin, text = texts[asked]
        unranked = origin_of(part, text)
        own = replace(unranked, rank=ranks[unranked])
        if is_pointer:
            is_needed = own in records if number < sent else _is_short(before, origin, records)
            if not is_needed and rules.count_tokens(text) > rules.policy.fade_over_tokens:
                continue
            if number >= start:
                yield Rendered(number, at, text)
        ranks[unranked] += 1
        texts[asked] = number, own, text


def _results(history: History) -> Iterator[tuple[int, int, Part, tuple[str, str]]]:
    """Yield the results of a list: message, part, and the tool and the arguments of its call."""
    calls: dict[str, tuple[str, str]] = {}
    for number, message in enumerate(history.raw):
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                calls[part.call_id] = part.tool, part.text
            elif part.kind == "result" and part.call_id in calls:
                yield number, at, part, calls[part.call_id]


def _is_short(
    number: int, origin: EntryOrigin | None, records: Mapping[EntryOrigin, Record]
) -> bool:
    """Return whether the view shows less of a result than its text: as an entry, or in a digest."""
    record = records.get(origin) if origin else None
    if record is not None and record.stage is not Stage.FULL:
        return True
    spans = filter(None, map(span_of, records.values()))
    return any(span.start <= number < span.end for span in spans)
