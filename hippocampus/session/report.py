"""The figures of a session: tokens, costs, entries, strengths, and the largest messages. Pure."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hippocampus.entries.decay import explained
from hippocampus.entries.entry import Decision, Record
from hippocampus.errors import StoreError
from hippocampus.formats.conversation import Message
from hippocampus.models import tokens
from hippocampus.session.billing import Bill
from hippocampus.session.guard import Guard
from hippocampus.session.payloads import Payload
from hippocampus.session.run import SessionRun
from hippocampus.session.turn import excess_tokens, largest_messages
from hippocampus.storage.ledger import NO_CALL
from hippocampus.storage.session_costs import SessionCosts, costs_at


class Status(SessionCosts):
    """The live figures of a session."""

    turn: int
    failures: int
    """Calls that failed inside and sent the raw messages."""
    raw: int
    """All calls that sent the raw messages, for any reason."""
    problem: str
    """Why the last call failed, or why nothing can be stored; empty where all is well."""
    raw_tokens: int
    """Tokens of the list."""
    sent_tokens: int
    """Tokens of its view; those of the list where it was sent raw."""
    entries: int
    stages: dict[str, int]
    """The number of entries by stage."""
    strengths: dict[str, dict[str, Any]]
    """By entry its strength, the factors of that, and its strength in ten turns."""
    due: int
    """Payloads that may leave the view and stay, since the edit does not pay yet."""
    over_limit_tokens: int
    """The tokens by which the view passes its limit; 0 where it fits."""
    too_large: list[str]
    """The largest messages of a view that passes its limit."""
    recalls: dict[str, int]
    """How many had the full content, its summary only (`partial`), or nothing (`failed`)."""
    billed: dict[str, Any] | None
    """The bill next to the prediction; None until `billed` is called."""


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The rows of a session and the outcomes of its calls, for measurements."""

    _run: SessionRun
    _guard: Guard

    @property
    def failures(self) -> int:
        """The number of calls that failed inside and sent the raw messages."""
        return self._guard.failures

    @property
    def problem(self) -> str:
        """Why the last call failed, or why nothing can be stored; empty where all is well."""
        return self._guard.problem

    @property
    def raw_reason(self) -> str:
        """Why the last call sent the raw messages; empty where it sent a view."""
        return self._guard.raw_reason

    def is_newest(self) -> bool:
        """Return whether no other process has changed the session since its last turn, as far as is known."""

        def is_newest() -> bool:
            with self._run.lock, self._run.deadline():
                return self._run.ledger.is_newest()

        return self._guard.run(is_newest, lambda: False, lost="")

    def records(self) -> list[Record]:
        """Return the entries with their texts in the view, oldest first; that of a digest in a digest is empty."""
        return self._run.records()

    def payloads(self) -> list[Payload]:
        """Return everything that may leave the view, in full or as an entry, oldest first."""
        with self._run.lock:
            return list(self._run.state.payloads.items)

    def view_pairs(self) -> list[tuple[Message, Message]]:
        """Return pairs of a raw message and the message sent for it; inside a digest that is empty."""
        with self._run.lock:
            return list(zip(self._run.state.history.raw, self._run.state.view.shown, strict=True))

    def decisions(self) -> list[tuple[int, Decision]]:
        """Return every change made to the view, with the turn in which it was made."""
        with self._run.lock, self._run.deadline():
            return self._run.ledger.decisions()

    def status(
        self, recalls: Mapping[str, int], bill: Bill, unmanaged: Sequence[Message]
    ) -> Status:
        """Return the live figures; `recalls` are counted by their outcome.

        `unmanaged` are the messages of the last list where it was sent raw.
        """
        guard, state, rules = self._guard, self._run.state, self._run.rules
        view, history, policy = state.view, state.history, rules.policy
        entries = []
        for record in state.records.values():
            with contextlib.suppress(StoreError):  # a damaged one, which is read when it is needed
                entries.append(record.entry)
        # A list that was not read yet, or is to be read again, has the figures of its last request.
        call = state.last or NO_CALL
        if state.is_read:
            call = replace(call, raw_tokens=history.total, sent_tokens=view.shown_total)
        if guard.raw_reason:
            sent_tokens = sum(map(tokens.count_message, unmanaged))
            call = replace(call, raw_tokens=sent_tokens, sent_tokens=sent_tokens)
        bounds = state.turn, policy.exponent, policy.initial_strength
        return {
            "turn": state.turn,
            "failures": guard.failures,
            "raw": guard.raw_calls,
            "problem": guard.problem,
            "raw_tokens": call.raw_tokens,
            "sent_tokens": call.sent_tokens,
            **costs_at(call, rules.prices),
            "entries": len(state.records),
            "stages": dict(Counter(str(record.stage) for record in state.records.values())),
            "strengths": {entry.id: explained(entry, *bounds)._asdict() for entry in entries},
            "due": len(state.payloads.due(history.turn, view.shown_total, rules)),
            "over_limit_tokens": excess_tokens(view, rules),
            "too_large": largest_messages(view, rules),
            "recalls": dict(recalls),
            "billed": bill.figures() if bill.calls else None,
        }
