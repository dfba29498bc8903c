"""How a policy's rules treat each entry of a recording, without a session; nothing is measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from hippocampus.formats.conversation import Part
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.policy import Policy, Resolution, Subject
from hippocampus.replay.recording import Recording
from hippocampus.session.redactor import subject_of


@dataclass(frozen=True, slots=True)
class Treated:
    """One tool result or message with the rules' treatment of it."""

    message: int
    """Its number in the recorded list, from 0."""
    subject: Subject
    treatment: Resolution


def treated(recording: Recording, policy: Policy) -> Iterator[Treated]:
    """Yield the treatment of every tool result and every text of user and assistant."""
    calls: dict[str, Part] = {}
    for number, message in enumerate(read(recording.messages)):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = part
                continue
            subject = subject_of(message, part, calls.get(part.call_id), tokens.count)
            if subject is None:
                continue
            source = subject.source_type or policy.source_type_of(
                subject.tool, is_error=subject.is_error
            )
            sourced = replace(subject, source_type=source)
            yield Treated(number, sourced, policy.resolve(subject))
