"""Pattern completion (protocol, section 7): what a recall of an entry has to work on.

The live content where the policy declares a source, else the stored copy, else the summary with a
stale mark, else a clear loss. Only recalls come here: no turn waits for a source.
"""

from __future__ import annotations

import logging
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import NamedTuple, Protocol

from hippocampus import tokens
from hippocampus.entries.entry import Record
from hippocampus.errors import RecallError
from hippocampus.formats import json_text
from hippocampus.recall import Request, answers, versions
from hippocampus.recall.fitting import start_of
from hippocampus.recall.retrieval import Retrieval, slice_of
from hippocampus.recall.sources import (
    Captured,
    Fetched,
    Outcomes,
    SourcePlan,
    Wanted,
    fetch,
    plan_of,
)
from hippocampus.session.redactor import ARGUMENTS, redacted_text, subject_in
from hippocampus.session.resources import Means

LOG = logging.getLogger("hippocampus")


class Entries(Protocol):
    """The entries of a session."""

    def records(self) -> list[Record]:
        """Return the entries, oldest first."""

    def turn(self) -> int:
        """Return the turn that comes."""

    def save(self, record: Record) -> None:
        """Write an entry down."""


class Completed(NamedTuple):
    """What is at hand of an entry."""

    text: str
    note: str = ""
    """What has to be said before any part of it."""
    is_summary: bool = False
    """Whether only the summary is left: it is told whole, whatever part was asked for."""


class Completion:
    """The way from an entry to its content, by the sources that the policy declares."""

    def __init__(
        self,
        session: str,
        means: Means,
        entries: Entries,
        retrieval: Retrieval,
        lock: AbstractContextManager[object],
    ) -> None:
        self.outcomes = Outcomes()
        """How the recalls of this session went, since it was opened."""
        self._session = session
        self._means = means
        self._entries = entries
        self._retrieval = retrieval
        self._lock = lock
        rules = means.policy.lifecycle_policies
        self._declared = any(rule.action.source is not None for rule in rules)

    def slice(self, record: Record, request: Request, max_tokens: int) -> str:
        """Return a part of the content of an entry, within `max_tokens`.

        Raises:
            RecallError: nothing is left of it, the part cannot be served, or its source has changed
                since; then what it holds at present has become an entry of its own.
            StoreError: the disk cannot be read, or does not take that entry.

        """
        found = self._of(record, max_tokens)
        if found.is_summary:
            return slice_of(found.text, record, Request(), max_tokens)
        if not found.note:
            return slice_of(found.text, record, request, max_tokens)
        room = max_tokens - tokens.count(found.note) - 1
        return f"{found.note}\n{slice_of(found.text, record, request, room)}"

    def _of(self, record: Record, max_tokens: int) -> Completed:
        """Return what a recall of an entry works on, and count how that went."""
        newer = self.newer(record)
        if newer is not None:
            return Completed(self._stored(record), versions.note(record, newer))
        plan = self._plan(record)
        if plan is None:
            return Completed(self._stored(record))
        wanted = Wanted(record.tool, _arguments(record))
        found = fetch(wanted, self._captured(record), plan, self._means.sources)
        return self._taken(record, found, max_tokens)

    def newer(self, record: Record) -> Record | None:
        """Return the entry of what the source of this one held last, where that is known to differ."""
        with self._lock:
            since = versions.replaced(self._entries.records())
        return versions.newest(record.entry.id, since)

    def is_current(self, record: Record) -> bool | None:
        """Say whether the file that is an entry's source still holds it; None, where none is declared.

        Sources of other kinds are not asked: whether they still do is not known, so they do not.
        """
        plan = self._plan(record)
        if self.newer(record) is not None:
            return False
        if plan is None or not plan.order:
            return None
        if plan.order[0] != "file":
            return False
        wanted = Wanted(record.tool, _arguments(record))
        alone = replace(plan, order=("file",), fallbacks=())
        found = fetch(wanted, self._captured(record), alone, self._means.sources)
        return found.outcome == "full" and not found.changed

    def _taken(self, record: Record, found: Fetched, max_tokens: int) -> Completed:
        for told in found.tried:
            LOG.info("session %s: recall of %s: %s", self._session, record.entry.id, told)
        newer = self._keep(record, found) if found.changed else None
        self.outcomes.add(found.outcome)
        if found.outcome == "failed":
            raise answers.lost(record, found.tried)
        if newer is not None:
            told = start_of(found.difference, max_tokens)
            raise answers.stale(record, newer.entry.id, found.source, told)
        return Completed(found.content, is_summary=found.outcome == "partial")

    def _stored(self, record: Record) -> str:
        try:
            text = self._retrieval.text(record)
        except RecallError:
            self.outcomes.add("failed")
            raise
        self.outcomes.add("full")
        return text

    def _stored_or_none(self, record: Record) -> str | None:
        try:
            return self._retrieval.text(record)
        except RecallError:
            return None

    def _plan(self, record: Record) -> SourcePlan | None:
        """Return how an entry is had again; only a tool's result can be."""
        is_result = record.entry.type == "tool_result" and record.kind != ARGUMENTS
        if not (self._declared and is_result):
            return None
        told = self._stored_or_none(record) or ""
        source = self._means.policy.resolve(subject_in(record, told)).source
        return plan_of(source.type, source.declared()) if source else None

    def _captured(self, record: Record) -> Captured:
        return Captured(
            lambda: self._stored_or_none(record),
            record.entry.summary,
            lambda present: redacted_text(record, present, self._means.policy),
        )

    def _keep(self, record: Record, found: Fetched) -> Record:
        """Make what the source holds at present an entry of its own, linked to the old one."""
        entries, means = self._entries, self._means
        with self._lock:
            taken = {each.entry.id for each in entries.records()}
            turn = entries.turn()
            newer = versions.version(
                self._session, record, found.content, turn, means.prices, means.encoding, taken
            )
            means.store.put(found.content.encode("utf-8", "surrogatepass"))
            entries.save(newer)
            entries.save(versions.linked(record, newer))
        self._retrieval.fill({newer.entry.id: newer})
        return newer


def _arguments(record: Record) -> dict[str, object]:
    """Return the arguments of the call that made a content; what is no object names nothing."""
    found = json_text.read(record.arguments or "{}")
    return found if isinstance(found, dict) else {}
