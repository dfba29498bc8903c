"""Our own strategy in replay: a real session in a fresh state directory, and its entries.

Measured like every other strategy, except that its hidden values can be recalled.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import re2

from hippocampus.entries.decision import Decision
from hippocampus.entries.entry import Record
from hippocampus.errors import RecallError
from hippocampus.memory import Hippocampus
from hippocampus.policy import Policy
from hippocampus.policy.consolidation import NOTHING
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import OWN_MARKS, MarkPlacement
from hippocampus.replay.measure import IDEAL, CacheModel, Measured, Script, measure
from hippocampus.session.session import Session
from hippocampus.storage import files


@dataclass(frozen=True, slots=True)
class EntryTimeline:
    """When one entry arrived, was shortened, used and recalled: in calls, counted from 0."""

    entry_id: str
    tool: str
    kind: str
    tokens: int
    arrived: int
    shortened: int
    reason: str
    saves: int
    costs: float
    """Cost of the edit in base input tokens, once; 0 where nothing was cached yet."""
    used: tuple[int, ...]
    """Calls that wrote a value of it."""
    recalled: tuple[int, ...]
    """Calls that wrote a value of it that the view did not show."""


@contextlib.contextmanager
def fresh_session(
    policy: Policy, prices: Prices, marks: MarkPlacement = "ideal"
) -> Iterator[Session]:
    """Yield a session in a state directory that is gone afterwards."""
    own, tail = OWN_MARKS if marks == "ours" else 0, marks != "ideal"
    with files.temporary_folder("hippocampus-replay") as folder:
        memory = Hippocampus(
            folder, policy=offline(policy), prices=prices, marks=own, tail_mark=tail
        )
        try:
            with memory.session("replay") as session:
                yield session
        finally:
            memory.close()


def offline(policy: Policy) -> Policy:
    """Return a policy that asks no live source and consolidates nothing."""
    rules = tuple(
        rule.model_copy(update={"action": rule.action.model_copy(update={"source": None})})
        for rule in policy.lifecycle_policies
    )
    return policy.model_copy(update={"lifecycle_policies": rules, "consolidation": NOTHING})


def measure_ours(
    script: Script, policy: Policy, prices: Prices, model: CacheModel = IDEAL
) -> tuple[Measured, list[EntryTimeline]]:
    """Measure a session with a policy, and return the timelines of its entries."""
    with fresh_session(policy, prices, model.marks) as session:
        contents = _Contents(session)
        measured = measure(script, session, contents.recover, model)
        recalls = session.status()["recalls"]
        measured = replace(
            measured, recalled_full=recalls["full"], recalled_partial=recalls["partial"]
        )
        if session.failures:
            problem = f"{session.failures} calls failed inside and sent the messages as they were"
            measured = replace(measured, problems=(*measured.problems, problem))
        return measured, _timelines(script, session, measured, contents)


class _Contents:
    """The full texts of a session's entries."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._texts: dict[str, str] = {}

    def with_value(self, value: str) -> list[str]:
        """Return the ids of the entries whose content contains a value, oldest first."""
        for entry in self._session.entries():
            if entry.id not in self._texts:
                self._texts[entry.id] = self._session.text(entry.id)
        return [entry_id for entry_id, text in self._texts.items() if value in text]

    def recover(self, value: str) -> bool:
        """Return whether one recall with the value as pattern brings it back."""
        for entry_id in self.with_value(value)[:1]:
            with contextlib.suppress(RecallError):
                return value in self._session.recall(entry_id, pattern=re2.escape(value))
        return False


def _timelines(
    script: Script, session: Session, measured: Measured, contents: _Contents
) -> list[EntryTimeline]:
    used: dict[str, set[int]] = {}
    recalled: dict[str, set[int]] = {}
    for number, values in enumerate(script.uses):
        for value in values:
            for entry_id in contents.with_value(value):
                used.setdefault(entry_id, set()).add(number)
                if value in measured.calls[number].hidden:
                    recalled.setdefault(entry_id, set()).add(number)
    records = {record.entry.id: record for record in session.records()}
    return [
        _timeline(
            turn,
            decision,
            records[decision.entry_id],
            used.get(decision.entry_id, ()),
            recalled.get(decision.entry_id, ()),
        )
        for turn, decision in session.decisions()
    ]


def _timeline(
    turn: int, decision: Decision, record: Record, used: Iterable[int], recalled: Iterable[int]
) -> EntryTimeline:
    return EntryTimeline(
        entry_id=decision.entry_id,
        tool=record.tool,
        kind=record.kind,
        tokens=record.tokens,
        arrived=record.entry.source.turn,
        shortened=turn,
        reason=decision.reason,
        saves=decision.saves,
        costs=round(decision.costs, 1),
        used=_since(turn, used),
        recalled=_since(turn, recalled),
    )


def _since(turn: int, calls: Iterable[int]) -> tuple[int, ...]:
    """Return the calls from a turn on: before it, the value came from another entry."""
    return tuple(sorted(call for call in calls if call >= turn))
