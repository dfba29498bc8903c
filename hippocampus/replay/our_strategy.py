"""Our own strategy in replay: a real session in a new state directory, and its entries.

Measured like all other strategies, except that a recall can bring hidden values back.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hippocampus.entries import decay
from hippocampus.entries.entry import Entry
from hippocampus.errors import RecallError
from hippocampus.formats.conversation import Item
from hippocampus.memory import Hippocampus
from hippocampus.policy import Policy
from hippocampus.policy.policy import NOTHING
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import OWN_MARKS, MarkPlacement
from hippocampus.replay.measure import IDEAL, CacheModel, Measured, Script, measure
from hippocampus.replay.texts import ViewTexts
from hippocampus.session.session import Session
from hippocampus.storage import files
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import state_of

SESSION, MARK = "replay", "re"
"""The session's name and the mark of its ids: fixed, so that a recording always has the same views."""


@contextlib.contextmanager
def fresh_session(
    policy: Policy, prices: Prices, marks: MarkPlacement = "ideal"
) -> Iterator[Session]:
    """Yield a session in a temporary state directory."""
    own, tail = OWN_MARKS if marks == "ours" else 0, marks != "ideal"
    with (
        files.temporary_folder("hippocampus-replay") as folder,
        contextlib.closing(Ledger(state_of(folder), SESSION, mark=MARK)),
        contextlib.closing(
            Hippocampus(folder, policy=offline(policy), prices=prices, marks=own, tail_mark=tail)
        ) as memory,
        memory.session(SESSION) as session,
    ):
        yield session


def offline(policy: Policy) -> Policy:
    """Return a policy without live sources and without consolidation."""
    rules = tuple(
        rule.model_copy(update={"action": rule.action.model_copy(update={"source": None})})
        for rule in policy.lifecycle_policies
    )
    return policy.model_copy(update={"lifecycle_policies": rules, "consolidation": NOTHING})


def measure_ours(
    script: Script, policy: Policy, model: CacheModel = IDEAL, texts: ViewTexts | None = None
) -> tuple[Measured, list[dict[str, Any]]]:
    """Measure a session with a policy, and return its entries as JSON; `texts` notes its views."""
    with fresh_session(policy, model.prices, model.marks) as session:
        histories = EntryHistories(session, texts)
        measured = measure(script, histories.view, histories.recover, model)
        if session.report.failures:
            problem = (
                f"{session.report.failures} calls failed inside and sent the messages as they were"
            )
            measured = replace(measured, problems=(*measured.problems, problem))
        return measured, list(histories.rows(script, measured, policy))


class EntryHistories:
    """A session, with the versions of its entries by turn, and their full texts."""

    def __init__(self, session: Session, texts: ViewTexts | None = None) -> None:
        self.session = session
        self.texts = texts
        self.calls = 0
        self.by_id: dict[str, list[tuple[int, Entry]]] = {}
        self.text = functools.cache(session.entries.text)

    def view(self, items: list[Item]) -> list[Item]:
        """Return the session's view, and record the entries that the call has changed."""
        view = self.session(items)
        for payload in self.session.report.payloads():
            entry = payload.record.entry
            known = self.by_id.setdefault(entry.id, [])
            if not known or known[-1][1] is not entry:
                known.append((self.calls, entry))
        if self.texts:
            self.texts.note(self.calls, self.session.report.view_pairs())
        self.calls += 1
        return view

    def accesses(self, entry_id: str) -> list[int]:
        """Return the turns in which an entry was accessed."""
        versions = [entry for _, entry in self.by_id.get(entry_id, ())]
        created = {version.lifecycle.created for version in versions}
        return sorted({version.decay.last_access for version in versions} - created)

    def recover(self, value: str) -> bool:
        """Return whether one recall, of the oldest entry with the value, returns it by its pattern."""
        for entry in self.session.entries:
            if value in self.text(entry.id):
                with contextlib.suppress(RecallError):
                    return value in self.session.recall(entry.id, pattern=re.escape(value))
                break
        return False

    def strengths(self, entry: Entry, policy: Policy) -> Iterator[list[float]]:
        """Yield pairs of a turn and the strength of an entry, at growing distances after a change."""
        versions = self.by_id.get(entry.id) or [(entry.lifecycle.created, entry)]
        ends = [turn - 1 for turn, _ in versions[1:]] + [self.calls - 1]
        for (start, version), end in zip(versions, ends, strict=True):
            sampled = {start + 2**n - 1 for n in range((end - start + 1).bit_length())} | {end}
            expires = version.lifecycle.expires
            if expires is not None and start <= expires < end:
                sampled |= {expires, expires + 1}
            for turn in sorted(sampled):
                found = decay.strength(version, turn, policy.exponent, policy.initial_strength)
                yield [turn, round(found, 3)]

    def rows(self, script: Script, measured: Measured, policy: Policy) -> Iterator[dict[str, Any]]:
        """Yield what became of the shortened entries, with calls and turns from 0, as SPEC's JSON has it."""
        records = {record.entry.id: record for record in self.session.report.records()}
        for turn, decision in self.session.report.decisions():
            record = records[decision.entry_id]
            values = script.values_in(self.text(decision.entry_id))
            # Before the entry was shortened, a value of it came from another entry.
            calls = range(turn, len(script.uses))
            used = [at for at in calls if not values.isdisjoint(script.uses[at])]
            yield {
                "entry_id": decision.entry_id,
                "tool": record.tool,
                "kind": record.kind,
                "tokens": record.tokens,
                "arrived": record.entry.source.turn,
                "shortened": turn,
                "reason": decision.reason,
                "saves": decision.saves,
                "costs": round(decision.costs, 1),
                "used": used,
                "recalled": [at for at in used if not values.isdisjoint(measured.calls[at].hidden)],
                "accessed": self.accesses(decision.entry_id),
                "strength": list(self.strengths(record.entry, policy)),
            }
