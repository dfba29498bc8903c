"""What the policy's rules take out of a message as it arrives, before anything else reads it.

Pure over a window; what is taken out, and which words decide it, is the policy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hippocampus import tokens
from hippocampus.entries.entry import Record
from hippocampus.formats.conversation import Item, Message, Part
from hippocampus.indexing import kind_of
from hippocampus.policy import ERROR_SOURCE, Policy, Redaction, Subject
from hippocampus.session.view import Window

ARGUMENTS = "arguments"
"""The kind of a content that is the arguments of a call."""
Weigh = Callable[[str], int]


def subject_of(message: Message, part: Part, call: Part | None, weigh: Weigh) -> Subject | None:
    """Return what rules can ask about a part: a result, arguments, or words of user or assistant.

    Of a call's own arguments they can ask what they ask of its result: the tool, and the text.
    """
    if part.kind in {"result", "call"}:
        asked = part if part.kind == "call" else call
        return result_subject(part, asked, weigh)
    if part.kind == "text" and message.role != "system":
        return Subject("message", source_type=message.role, text=part.text, tokens=weigh(part.text))
    return None


def result_subject(part: Part, call: Part | None, weigh: Weigh) -> Subject:
    """Return what rules can ask about a tool result, given its call."""
    return Subject(
        "tool_result",
        tool=part.tool or (call.tool if call else ""),
        text=part.text,
        tokens=weigh(part.text),
        kind=lambda: kind_of(part.text),
        is_error=part.is_error,
        arguments=call.text if call else "",
    )


def subject_in(record: Record, text: str) -> Subject:
    """Return what rules can ask about an entry whose content is a text."""
    source = record.entry.source.type
    return Subject(
        record.entry.type,
        tool=record.tool,
        source_type=source,
        text=text,
        tokens=record.tokens,
        kind=record.kind,
        is_error=source == ERROR_SOURCE,
        arguments=record.arguments or text,
    )


def screened(record: Record, text: str, policy: Policy) -> str:
    """Return the text of a stored content as it may come back into a view."""
    if not policy.redacts or record.form == "messages":  # a digest's messages were told screened
        return text
    treatment = policy.treat(subject_in(record, text))
    return (treatment.redacted_json if record.kind == ARGUMENTS else treatment.redacted)(text)


def screened_list(items: Sequence[Item], policy: Policy, encoding: str) -> list[Item]:
    """Return a list with nothing done to it but to take out what the rules take out.

    Raises:
        MessagesError: the list is in no known format.

    """
    if not policy.redacts:
        return list(items)
    window = Window(encoding)
    window.read(items)
    screen = Screen(window, policy, lambda text: tokens.count(text, encoding))
    calls: dict[str, Part] = {}
    for number in range(len(window.raw)):
        screen.take(number, calls.get)
        parts = window.told_of(number).parts
        calls |= {part.call_id: part for part in parts if part.kind == "call"}
    return window.write(items)


class Screen:
    """Takes out of the messages of a window what no view, entry, fact or archive may show."""

    def __init__(self, window: Window, policy: Policy, weigh: Weigh) -> None:
        self._window = window
        self._policy = policy
        self._weigh = weigh
        self._found: dict[tuple[int, int], Redaction] = {}

    def take(self, number: int, call_of: Callable[[str], Part | None]) -> None:
        """Screen a message; `call_of` returns the call of an id, of which it may bring the result."""
        if not self._policy.redacts:
            return
        message = self._window.raw[number]
        for at, part in enumerate(message.parts):
            subject = subject_of(message, part, call_of(part.call_id), self._weigh)
            redaction = self._policy.treat(subject).redact if subject else None
            if redaction is None:
                continue
            self._found[number, at] = redaction
            is_call = part.kind == "call"
            text = (redaction.redacted_json if is_call else redaction.redacted)(part.text)
            if text != part.text:
                self._window.redact(number, at, text, original=redaction.original)

    def of(self, number: int, at: int) -> Redaction | None:
        """Return what is taken out of a part."""
        return self._found.get((number, at))
