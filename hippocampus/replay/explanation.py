"""One turn of a replay, message by message: what stood in the list, what in the view, and why."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from hippocampus import tokens
from hippocampus.entries.decision import Decision
from hippocampus.errors import RecordingError
from hippocampus.formats.conversation import Message
from hippocampus.formats.reader import read
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.replay.managed import fresh_session
from hippocampus.replay.measure import prepare
from hippocampus.replay.recording import Recording

SHOWN_CHARACTERS = 600
"""How much of a message each side shows."""


def print_explanation(
    recording: Recording, turn: int, policy: Policy, prices: Prices, console: Console
) -> None:
    """Print both lists at a turn and the reason for each difference.

    Raises:
        RecordingError: the recording has no such turn.

    """
    script = prepare(recording)
    if not 0 <= turn < len(script.call_ends):
        last = len(script.call_ends) - 1
        raise RecordingError(recording.path, f"no turn {turn}; the turns are 0 to {last}")
    with fresh_session(policy, prices) as session:
        for end in script.call_ends[: turn + 1]:
            view = read(session(recording.messages[:end]))
        reasons = dict(_reasons(session.decisions()))
        beside = session.beside()
    console.print(_table(turn, view, beside, reasons))


def _reasons(decisions: list[tuple[int, Decision]]) -> list[tuple[str, str]]:
    return [
        (each.entry_id, f"turn {turn}: {each.stage}, {each.reason}; saves {each.saves:,} a call")
        for turn, each in decisions
    ]


def _table(
    turn: int, view: list[Message], beside: list[tuple[Message, Message]], reasons: dict[str, str]
) -> Table:
    before, after = (
        sum(map(tokens.count_message, each)) for each in ([raw for raw, _ in beside], view)
    )
    table = Table(title=f"turn {turn}", show_lines=True)
    table.add_column("#", justify="right")
    table.add_column(f"raw list ({before:,} tokens)", ratio=1, overflow="fold")
    table.add_column(f"view ({after:,} tokens)", ratio=1, overflow="fold")
    table.add_column("why", ratio=1, overflow="fold")
    for number, (raw, shown) in enumerate(beside):
        why = "\n".join(told for id_, told in reasons.items() if _has(shown, id_))
        table.add_row(str(number), _text(raw), _shown(raw, shown), why)
    return table


def _shown(raw: Message, shown: Message) -> str:
    if raw.raw == shown.raw:
        return "(the same)"
    return _text(shown) if shown.raw else "(told by the digest above)"


def _has(message: Message, entry_id: str) -> bool:
    return any(f"[{entry_id} " in text for text in message.texts())


def _text(message: Message) -> str:
    text = "\n".join(filter(None, message.texts()))
    cut = (
        f"… (+{len(text) - SHOWN_CHARACTERS:,} characters)" if len(text) > SHOWN_CHARACTERS else ""
    )
    shown = text[:SHOWN_CHARACTERS].replace("[", "\\[")
    return f"{message.role}, {tokens.count_message(message):,} tokens\n{shown}{cut}"
