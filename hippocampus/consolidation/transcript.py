"""The words of each side of a conversation, and the results of its tools.

Pure: messages in, data out. What of it is kept is decided in `extract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.formats.conversation import Message


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of one message."""

    role: str
    """`user` or `assistant`."""
    text: str
    turn: int
    answers: bool
    """Whether it is a message of its own, and not the words next to tool calls."""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as far as consolidation reads it."""

    utterances: tuple[Utterance, ...]
    results: tuple[str, ...]
    """The texts of tool results, recalled parts among them."""


def transcript_of(messages: Sequence[Message], noted: Sequence[Utterance] = ()) -> Transcript:
    """Return a conversation, with `noted` before it; turns count the assistant's messages."""
    utterances: list[Utterance] = list(noted)
    results: list[str] = []
    turn = 0
    for message in messages:
        turn += message.role == "assistant"
        if message.role in {"user", "assistant"}:
            answers = not any(part.kind == "call" for part in message.parts)
            utterances += [
                Utterance(message.role, part.text, turn, answers)
                for part in message.parts
                if part.kind == "text" and part.text.strip()
            ]
        results += [part.text for part in message.parts if part.kind == "result"]
    return Transcript(tuple(utterances), tuple(results))
