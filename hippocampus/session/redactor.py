"""Replaces texts of messages as they arrive, before anything else reads them. Pure.

A rule of the policy redacts a part. A host answers a repeated read with "unchanged since last read": the
text that it points at replaces that, where the view has shortened the earlier one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.entries.entry import ARGUMENTS, Record, Stage
from hippocampus.entries.origin import EntryOrigin, PartOrigin
from hippocampus.formats.calls import points_back
from hippocampus.formats.conversation import Item, Message, Part
from hippocampus.indexing import kind_of
from hippocampus.policy import Policy, Redaction, Subject, record_subject
from hippocampus.session.compaction import span_of
from hippocampus.session.history import History
from hippocampus.session.payloads import origin_of
from hippocampus.session.rules import Rules
from hippocampus.session.view import Rendered, View


def subject_of(message: Message, part: Part, call: Part | None) -> Subject | None:
    """Return the fields of a part that rules match: a result, arguments, or words of user or assistant.

    The arguments of a call have the fields of its result: the tool, and the text.
    """
    if part.kind in {"result", "call"}:
        return result_subject(part, part if part.kind == "call" else call)
    if part.kind == "text" and message.role != "system":
        return Subject("message", source_type=message.role, text=part.text)
    return None


def result_subject(part: Part, call: Part | None) -> Subject:
    """Return the fields of a tool result that rules match, given its call."""
    return Subject(
        "tool_result",
        tool=part.tool or (call.tool if call else ""),
        text=part.text,
        kind=lambda: kind_of(part.text),
        is_error=part.is_error,
        arguments=call.text if call else "",
    )


def redacted_text(record: Record, text: str, policy: Policy) -> str:
    """Return the text of a stored content as it may come back into a view."""
    if not policy.redacts or record.form == "messages":  # those of a digest were redacted when read
        return text
    resolution = policy.resolve(record_subject(record, text))
    return (resolution.redacted_json if record.kind == ARGUMENTS else resolution.redacted)(text)


class Redacted(NamedTuple):
    """A list with the rules' redactions."""

    history: History
    redactions: dict[tuple[int, int], Redaction]
    """The redactions by message and part."""
    rendered: list[Rendered]
    """The texts that replace parts of the messages."""


def redacted(history: History, calls: Mapping[str, Part], start: int, rules: Rules) -> Redacted:
    """Redact the messages from `start` on, before anything else reads them.

    `calls` are the earlier calls by their ids, as they may be quoted.
    """
    taken = Redacted(history, {}, [])
    known = dict(calls)
    originals = []
    for number, message in enumerate(history.raw[start:], start):
        for at, part in enumerate(message.parts):
            subject, text = subject_of(message, part, known.get(part.call_id)), part.text
            redaction = rules.policy.resolve(subject).redact if subject else None
            if redaction is not None:
                taken.redactions[number, at] = redaction
                is_call = part.kind == "call"
                text = (redaction.redacted_json if is_call else redaction.redacted)(part.text)
            if redaction is not None and text != part.text:
                taken.rendered.append(Rendered(number, at, text))
                originals += [(number, at)] if redaction.original else []
            if part.kind == "call":
                known[part.call_id] = replace(part, text=text)
    return taken._replace(history=history.with_redacted(taken.rendered, originals))


def redacted_list(items: Sequence[Item], rules: Rules) -> list[Item]:
    """Return a list as it is, but for the parts that the rules redact.

    Raises:
        MessagesError: the list is in no known format.
    """
    if not rules.policy.redacts:
        return list(items)
    history = History().extended(items)
    texts = redacted(history, {}, 0, rules).rendered
    return View(history).extended(history, 0).with_texts(texts).write(items, {})


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
