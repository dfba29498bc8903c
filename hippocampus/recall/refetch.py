"""Refetching (the protocol's pattern completion, section 7): the text that a recall is served from.

The live content where the policy declares a source, else the stored copy, else the summary with a
note that it is stale, else an error. Only recalls come here: no turn waits for a source.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from hippocampus.entries.entry import ARGUMENTS, Record
from hippocampus.errors import RecallError
from hippocampus.formats import json_text
from hippocampus.models import tokens
from hippocampus.policy import Policy, Refetch, record_subject
from hippocampus.recall import Request, answers, versions
from hippocampus.recall.fitting import start_of
from hippocampus.recall.retrieval import Retrieval, slice_of
from hippocampus.recall.sources import (
    PROTOCOL_PERCENT,
    FetchRequest,
    FetchResult,
    Sources,
    StoredCopy,
    fetch,
)

LOG = logging.getLogger("hippocampus")


@dataclass(frozen=True, slots=True)
class RefetchPorts:
    """What refetching needs of a session: callables that the session fills in."""

    records: Callable[[], list[Record]]
    """Returns the session's entries, oldest first."""
    redacted: Callable[[Record, str], str]
    """Returns a fetched text of an entry as the policy redacts it."""
    add_version: Callable[[Record, str], Record]
    """Stores a newer text of an entry as an entry of its own, and returns that."""


class Refetcher:
    """Finds the text of an entry, by the sources that the policy declares."""

    def __init__(
        self,
        session: str,
        policy: Policy,
        sources: Sources,
        retrieval: Retrieval,
        ports: RefetchPorts,
    ) -> None:
        self.outcomes = Counter(dict.fromkeys(PROTOCOL_PERCENT, 0))
        """How the recalls of this session ended, since it was opened."""
        self._session = session
        self._policy = policy
        self._sources = sources
        self._retrieval = retrieval
        self._ports = ports
        rules = policy.lifecycle_policies
        self._has_sources = any(rule.action.source is not None for rule in rules)

    def slice(self, record: Record, request: Request, max_tokens: int) -> str:
        """Return a part of an entry's content, within `max_tokens`.

        Raises:
            RecallError: nothing is left of it, the part cannot be served, or its source has changed;
                then the source's present content has become an entry of its own.
            StoreError: the disk cannot be read, or that entry cannot be written.

        """
        newer = self.newer(record)
        if newer is not None:
            note = versions.note(record, newer)
            budget_tokens = max_tokens - tokens.count(note) - 1
            return f"{note}\n{slice_of(self._stored(record), record, request, budget_tokens)}"
        plan = self._plan(record)
        if plan is None:
            return slice_of(self._stored(record), record, request, max_tokens)
        found = self._fetched(record, plan)
        for failure in found.tried:
            LOG.info("session %s: recall of %s: %s", self._session, record.entry.id, failure)
        if found.changed:
            newer = self._ports.add_version(record, found.content)
        self.outcomes[found.outcome] += 1
        if found.outcome == "failed":
            raise answers.lost(record, found.tried)
        if newer is not None:
            difference = start_of(found.difference, max_tokens)
            raise answers.stale(record, newer.entry.id, found.source, difference)
        # Where only the summary is left, it is returned whole for any request.
        wanted = Request() if found.outcome == "partial" else request
        return slice_of(found.content, record, wanted, max_tokens)

    def newer(self, record: Record) -> Record | None:
        """Return the entry of the source's last known content, where that differs from this one."""
        return versions.newest(record.entry.id, versions.replaced(self._ports.records()))

    def is_current(self, record: Record) -> bool | None:
        """Return whether the file that is an entry's source still has it; None without a source.

        Sources of other kinds are not asked, and count as changed.
        """
        plan = self._plan(record)
        if self.newer(record) is not None:
            return False
        if plan is None or not plan.asked:
            return None
        if plan.asked[0] != "file":
            return False
        found = self._fetched(record, plan.model_copy(update={"order": ("file",), "fallbacks": ()}))
        return found.outcome == "full" and not found.changed

    def _plan(self, record: Record) -> Refetch | None:
        """Return how an entry is fetched again; only tool results are."""
        is_result = record.entry.type == "tool_result" and record.kind != ARGUMENTS
        if not (self._has_sources and is_result):
            return None
        subject = record_subject(record, self._stored_or_none(record) or "")
        return self._policy.resolve(subject).source

    def _fetched(self, record: Record, plan: Refetch) -> FetchResult:
        arguments = json_text.read(record.arguments or "{}")
        named = arguments if isinstance(arguments, dict) else {}
        copy = StoredCopy(
            lambda: self._stored_or_none(record),
            record.entry.summary,
            lambda present: self._ports.redacted(record, present),
        )
        return fetch(FetchRequest(record.tool, named), copy, plan, self._sources)

    def _stored(self, record: Record) -> str:
        try:
            text = self._retrieval.text(record)
        except RecallError:
            self.outcomes["failed"] += 1
            raise
        self.outcomes["full"] += 1
        return text

    def _stored_or_none(self, record: Record) -> str | None:
        try:
            return self._retrieval.text(record)
        except RecallError:
            return None
