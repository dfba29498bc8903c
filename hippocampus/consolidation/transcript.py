"""What was said and tried in a conversation: the words of each side, and calls with their results.

Pure: messages in, data out. What of it is worth keeping is decided in `keeping`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hippocampus.formats.conversation import Message, Part
from hippocampus.recall.pending import is_named

FAILED = re.compile(
    r"""(?ix) \A \W* (?: \w*error | \w*exception | traceback | fatal | failed | failure | panic
        | command\ not\ found | permission\ denied | fehler | ошибка | 错误 | エラー ) \b
    | \A \W* "? (?: is_?error"?\s*:\s*true | error"?\s*:\s*["{\[] )
    | \b exit (?:\ |_|ed\ with\ )? (?:code|status) \W{0,3} [1-9]
    """
)
"""How a result says at its start, or by an exit status, that its call failed."""
LOOKED_AT = 400
"""Characters at either end of a result in which it says so."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """Words of one message."""

    role: str
    """`user` or `assistant`."""
    text: str
    turn: int
    answers: bool
    """Whether it is a message of its own, and not the words beside tool calls."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A tool call with its result."""

    tool: str
    arguments: str
    result: str
    failed: bool
    call_id: str
    turn: int


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as far as consolidation reads it."""

    utterances: tuple[Utterance, ...]
    attempts: tuple[Attempt, ...]


def transcript_of(messages: Sequence[Message], noted: Sequence[Utterance] = ()) -> Transcript:
    """Return what was said and tried, behind what was noted of it; turns count the assistant's messages."""
    utterances: list[Utterance] = list(noted)
    attempts: list[Attempt] = []
    calls: dict[str, Part] = {}
    turn = 0
    for message in messages:
        turn += message.role == "assistant"
        calls |= {part.call_id: part for part in message.parts if part.kind == "call"}
        utterances += _utterances(message, turn)
        results = [part for part in message.parts if part.kind == "result"]
        attempts += [_attempt(calls.get(part.call_id, part), part, turn) for part in results]
    return Transcript(
        tuple(utterances), tuple(each for each in attempts if not is_named(each.tool))
    )


def _utterances(message: Message, turn: int) -> list[Utterance]:
    if message.role not in {"user", "assistant"}:
        return []
    texts = [part.text for part in message.parts if part.kind == "text" and part.text.strip()]
    answers = not any(part.kind == "call" for part in message.parts)
    return [Utterance(message.role, text, turn, answers) for text in texts]


def _attempt(call: Part, result: Part, turn: int) -> Attempt:
    arguments = call.text if call is not result else ""
    return Attempt(
        call.tool or result.tool,
        arguments,
        result.text,
        result.is_error or has_failed(result.text),
        result.call_id,
        turn,
    )


def has_failed(text: str) -> bool:
    """Say whether a result tells at its start or its end that the call failed.

    >>> has_failed("Error: no such file"), has_failed("3 errors fixed"), has_failed("exit code 2")
    (True, False, True)
    """
    return bool(FAILED.search(text[:LOOKED_AT]) or FAILED.search(text[LOOKED_AT:][-LOOKED_AT:]))
