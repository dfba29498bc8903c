"""Redacts messages by the policy's rules as they arrive, before anything else reads them. Pure.

The policy decides which parts are redacted, and by which words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from hippocampus.entries.entry import ARGUMENTS, Record
from hippocampus.formats.conversation import Item, Message, Part
from hippocampus.indexing import kind_of
from hippocampus.policy import Policy, Redaction, Subject, record_subject
from hippocampus.session.history import History
from hippocampus.session.rules import Rules
from hippocampus.session.view import Rendered, View


def subject_of(
    message: Message, part: Part, call: Part | None, count_tokens: Callable[[str], int]
) -> Subject | None:
    """Return the fields of a part that rules match: a result, arguments, or words of user or assistant.

    The arguments of a call have the fields of its result: the tool, and the text.
    """
    if part.kind in {"result", "call"}:
        asked = part if part.kind == "call" else call
        return result_subject(part, asked, count_tokens(part.text))
    if part.kind == "text" and message.role != "system":
        weight = count_tokens(part.text)
        return Subject("message", source_type=message.role, text=part.text, tokens=weight)
    return None


def result_subject(part: Part, call: Part | None, tokens: int) -> Subject:
    """Return the fields of a tool result that rules match, given its call."""
    return Subject(
        "tool_result",
        tool=part.tool or (call.tool if call else ""),
        text=part.text,
        tokens=tokens,
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


def redactions(
    message: Message, call_of: Callable[[str], Part | None], rules: Rules
) -> dict[int, tuple[Redaction, str]]:
    """Return the redactions of a message: by part number, the redaction and the redacted text.

    `call_of` returns the call of an id, to which the message may have the result.
    """
    found = {}
    for at, part in enumerate(message.parts):
        subject = subject_of(message, part, call_of(part.call_id), rules.count_tokens)
        redaction = rules.policy.resolve(subject).redact if subject else None
        if redaction is not None:
            is_call = part.kind == "call"
            redacted = (redaction.redacted_json if is_call else redaction.redacted)(part.text)
            found[at] = (redaction, redacted)
    return found


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
        found = redactions(message, known.get, rules)
        for at, part in enumerate(message.parts):
            redaction, text = found.get(at, (None, part.text))
            if redaction is not None:
                taken.redactions[number, at] = redaction
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
