"""The words of each side of a conversation, and the results of its tools.

Pure: messages in, data out. What of it is kept is decided in `extract`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from hippocampus.facts.pasted import announces
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
    is_announced: bool = False
    """Whether another message of the user, before it or of the same turn, is about a text that this one has."""


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
    # A list that its host has shortened repeats a text without the message that announced it.
    known = {said.text for said in utterances if said.is_announced}
    marked: list[Utterance] = []
    is_next = False
    for (role, _), group in itertools.groupby(utterances, lambda said: (said.role, said.turn)):
        said = list(group)
        if role == "user":
            about = [announces(one.text) for one in said]
            said = [
                replace(one, is_announced=is_next or one.text in known or sum(about) > is_about)
                for one, is_about in zip(said, about, strict=True)
            ]
            is_next = any(about)
        marked += said
    return Transcript(tuple(marked), tuple(results))
