"""Explains the changes of a view at a turn, and the treatment of entries by a policy's rules."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hippocampus.entries.decay import explained
from hippocampus.errors import RecordingError
from hippocampus.formats.conversation import Message, Part
from hippocampus.formats.json_text import visible
from hippocampus.formats.reader import read
from hippocampus.models import tokens
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.replay.measure import Script
from hippocampus.replay.our_strategy import fresh_session
from hippocampus.replay.recording import Recording
from hippocampus.session.renderer import subject_of

SHOWN_CHARACTERS = 600
"""A side shows at most this much of a message."""
SAME_CHARACTERS = 100
"""The limit for a message that is the same on both sides."""
OPENING_CHARACTERS = 60
"""The limit for a text next to the fields that rules set."""


def print_explanation(
    recording: Recording, turn: int, policy: Policy, prices: Prices, console: Console
) -> None:
    """Print both lists at a turn, and the reasons of their differences.

    Raises:
        RecordingError: the recording has no such turn.
    """
    script = Script(recording)
    if not 0 <= turn < len(script.call_ends):
        last = len(script.call_ends) - 1
        raise RecordingError(recording.path, f"no turn {turn}; the turns are 0 to {last}")
    with fresh_session(policy, prices, "ours") as session:
        for end in script.call_ends[: turn + 1]:
            view = session(recording.messages[:end])
        reasons = {
            made.entry_id: f"turn {at}: {made.stage}, {made.reason}; saves {made.saves:,} a call"
            for at, made in session.report.decisions()
        }
        for entry in session.entries:
            sentence = str(explained(entry, turn, policy.exponent, policy.initial_strength))
            reasons[entry.id] = "\n".join(filter(None, [reasons.get(entry.id), sentence]))
        pairs = session.report.view_pairs()
    before = sum(tokens.count_message(raw) for raw, _ in pairs)
    after = sum(map(tokens.count_message, read(view)))
    table = Table(title=f"turn {turn}, at prices {prices.name}", show_lines=True)
    table.add_column("#", justify="right")
    table.add_column(f"raw list ({before:,} tokens)", ratio=1, overflow="fold")
    table.add_column(f"view ({after:,} tokens)", ratio=1, overflow="fold")
    table.add_column("why", ratio=1, overflow="fold")
    for number, (raw, rendered) in enumerate(pairs):
        text = "\n".join(rendered.texts())
        why = "\n".join(reason for id_, reason in reasons.items() if f"[{id_} " in text)
        other = _text(rendered) if rendered.raw else "(in the digest above)"
        is_same = raw.raw == rendered.raw
        left = _text(raw, SAME_CHARACTERS if is_same else SHOWN_CHARACTERS)
        cells = (str(number), left, "(the same)" if is_same else other, why)
        table.add_row(*map(Text, cells))
    console.print(table)


def _text(message: Message, most: int = SHOWN_CHARACTERS) -> str:
    text = "\n".join(filter(None, message.texts()))
    cut = f"… (+{len(text) - most:,} characters)" if len(text) > most else ""
    shown = visible(text[:most])
    return f"{message.role}, {tokens.count_message(message):,} tokens\n{shown}{cut}"


def rule_lines(recording: Recording, policy: Policy) -> Iterator[str]:
    """Yield a line per tool result and text, by number of its message, and an indented line per rule.

    Fields that content may not set by itself are named as withheld.
    """
    calls: dict[str, Part] = {}
    for number, message in enumerate(read(recording.messages)):
        for part in message.parts:
            if part.kind == "call":
                calls[part.call_id] = part
                continue
            subject = subject_of(message, part, calls.get(part.call_id))
            if subject is None:
                continue
            source = subject.source_type
            source = source or policy.source_type_of(subject.tool, is_error=subject.is_error)
            opening = " ".join(subject.text[:OPENING_CHARACTERS].split())
            yield f"{number}  {subject.type} {source}, {tokens.count(part.text):,} tokens: {opening}"
            found = policy.resolve(subject)
            for name, rule in found.because.items():
                value = getattr(found, name)
                if isinstance(value, BaseModel):
                    value = value.model_dump(exclude_defaults=True)
                shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
                yield f"    {name}: {shown} ({rule})"
            for name, rule in found.withheld.items():
                yield f"    {name} withheld: content cannot raise itself ({rule})"
