"""The text that a result points at, in place of "unchanged since last read". Pure.

A host answers a repeated read with such a sentence. Where the view has shortened the earlier text, the
agent could not read at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from hippocampus.entries.entry import Record, Stage, content_key, storable
from hippocampus.entries.origin import EntryOrigin, PartOrigin
from hippocampus.formats.conversation import Part
from hippocampus.formats.reads import points_back
from hippocampus.session.compaction import span_of
from hippocampus.session.history import History
from hippocampus.session.rules import Rules
from hippocampus.session.view import Rendered


def referred(
    history: History,
    start: int,
    sent: int,
    records: Mapping[EntryOrigin, Record],
    rules: Rules,
) -> Iterator[Rendered]:
    """Yield the texts for results from a message on that point at a read which the view has shortened.

    Of the messages that were `sent`, it is those whose text has a record since. A small text never
    has one: it stands wherever the host points at it.
    """
    new = (part for message in history.raw[start:] for part in message.parts)
    if not any(part.kind == "result" and points_back(part.text) for part in new):
        return
    folded = [span for record in records.values() if (span := span_of(record))]
    calls: dict[str, tuple[str, str]] = {}
    texts: dict[tuple[str, str], tuple[int, PartOrigin, str]] = {}
    ranks = Counter[PartOrigin]()
    for number, message in enumerate(history.raw):
        for at, part in enumerate(message.parts):
            if part.kind == "call":
                calls[part.call_id] = part.tool, part.text
            asked = calls.get(part.call_id) if part.kind == "result" else None
            if asked is None:
                continue
            text = part.text
            if points_back(text):
                if asked not in texts:
                    continue
                before, origin, text = texts[asked]
                record = records.get(origin)
                is_short = record is not None and record.stage is not Stage.FULL
                is_short |= any(span.start <= before < span.end for span in folded)
                own = _origin(part, text, ranks)
                small = rules.count_tokens(text) <= rules.policy.fade_over_tokens
                if not ((own in records if number < sent else is_short) or small):
                    continue
                if number >= start:
                    yield Rendered(number, at, text)
            own = _origin(part, text, ranks)
            ranks[replace(own, rank=0)] += 1
            texts[asked] = number, own, text


def _origin(part: Part, text: str, ranks: Mapping[PartOrigin, int]) -> PartOrigin:
    """Return what names a part with another text, as its record has it."""
    key = content_key(text.encode("utf-8", "surrogatepass"))
    origin = PartOrigin(part.kind, storable(part.call_id), key, 0)
    return replace(origin, rank=ranks[origin])
