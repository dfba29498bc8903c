"""What a policy's rules say of each entry of a recording, before any session. Nothing is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hippocampus import tokens
from hippocampus.conversation import Message, Part
from hippocampus.indexing import kind_of
from hippocampus.messages import read
from hippocampus.policy import Policy, Subject, Treatment
from hippocampus.replay.recording import Recording


@dataclass(frozen=True, slots=True)
class Treated:
    """One tool result or message, and what the rules say of it."""

    message: int
    """Its place in the recorded list, from 0."""
    subject: Subject
    treatment: Treatment


def treated(recording: Recording, policy: Policy) -> Iterator[Treated]:
    """Yield what the rules say of every tool result and every text of user and assistant."""
    calls: dict[str, Part] = {}
    for number, message in enumerate(read(recording.messages)):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = part
                continue
            subject = _subject(message, part, calls)
            if subject is not None:
                yield Treated(number, _sourced(subject, policy), policy.treat(subject))


def _subject(message: Message, part: Part, calls: dict[str, Part]) -> Subject | None:
    if part.kind == "result":
        return result_subject(part, calls.get(part.call_id))
    if part.kind == "text" and message.role in {"user", "assistant"}:
        return Subject(
            "message", source_type=message.role, text=part.text, tokens=tokens.count(part.text)
        )
    return None


def result_subject(part: Part, call: Part | None) -> Subject:
    """Return what rules can ask about a tool result, given its call."""
    return Subject(
        "tool_result",
        tool=part.tool or (call.tool if call else ""),
        text=part.text,
        tokens=tokens.count(part.text),
        kind=lambda: kind_of(part.text),
        is_error=part.is_error,
        arguments=call.text if call else "",
    )


def _sourced(subject: Subject, policy: Policy) -> Subject:
    if subject.source_type is not None:
        return subject
    source = policy.source_type_of(subject.tool, is_error=subject.is_error)
    return replace(subject, source_type=source)
