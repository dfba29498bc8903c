"""When consolidations run: at a session's end, in a thread between turns, or after a crash.

One runs at a time for each session. `deep` does the work, and `extract` chooses the statements.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from hippocampus.consolidation.transcript import Utterance, transcript_of
from hippocampus.entries.entry import Record
from hippocampus.errors import HippocampusError, StoreError
from hippocampus.formats import reader
from hippocampus.policy import Policy
from hippocampus.session.resources import (
    END_SECONDS,
    ConsolidationOutcome,
    ContextLoadRequest,
    SessionSnapshot,
)
from hippocampus.storage.archive import contexts, parsed
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.deadline import bounded
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import StateStore

if TYPE_CHECKING:
    from hippocampus.facts.store import Facts

LOG = logging.getLogger("hippocampus")
LEFT = "session %s: not consolidated, which the next start or `hippocampus consolidate` does: %s"


@dataclass(frozen=True, slots=True)
class ConsolidationResources:
    """What the consolidations and the context loads of one memory work with."""

    state: StateStore
    store: ContentStore
    policy: Policy
    facts: Callable[[], Facts]
    """Opens the long-term memory, made if missing: it is loaded only where it is needed."""
    complete: Callable[[str], str] | None = None
    """Returns a model's answer to a prompt."""


class ConsolidationScheduler:
    """The consolidations and context loads of one memory: `session.resources.Consolidator`."""

    def __init__(self, resources: ConsolidationResources) -> None:
        self._resources = resources
        self._threads: dict[str, threading.Thread] = {}
        self.closed = False
        """Whether the memory is closed; a session that ends later is consolidated at the next start."""

    def context_load(self, request: ContextLoadRequest, ledger: Ledger) -> str:
        """Return the text before a session's first message, decided once and stored in its ledger.

        What fails is left out for good, so that no later call changes what a provider has cached.

        Raises:
            StoreError: the ledger cannot be read or written.
        """
        from hippocampus.consolidation.context_load import opening

        text, size, records = "", 0, tuple[Record, ...]()
        try:
            text, size, records = opening(request, self._resources)
        except HippocampusError as failure:
            LOG.warning("session %s starts without memories: %s", request.session, failure)
        return ledger.settle_context_load(text, size, records)

    def consolidate(self, session: SessionSnapshot, *, is_whole: bool) -> ConsolidationOutcome:
        """Consolidate a session; unless `is_whole`, what the disk has of it is read first.

        Raises:
            StoreError: the ledger or the archive cannot be read or written.
        """
        # One that runs in a thread ends first, and both share the time of the model.
        patience = self._resources.policy.consolidation.model_seconds
        started = time.monotonic()
        self._wait(session.name, patience)
        left = max(0.0, patience - (time.monotonic() - started))
        return self._consolidated(session, left, is_whole=is_whole)

    def _consolidated(
        self, session: SessionSnapshot, model_seconds: float, *, is_whole: bool
    ) -> ConsolidationOutcome:
        """Consolidate; the fact store is loaded here, and not where a session is made."""
        from hippocampus.consolidation.deep import consolidate

        with contextlib.closing(self._resources.state.session(session.name)) as ledger:
            if not self._resources.policy.consolidation.facts:
                with bounded(END_SECONDS):
                    ledger.consolidated(ledger.pending())
                return ConsolidationOutcome(session.name, session.turn, (), finished=True)
            noted: list[Utterance] = []
            if not is_whole:
                *earlier, last = (
                    reader.read(context.items)
                    for context in contexts(parsed(self._resources.state.exported(session.name)))
                )
                before = [*earlier, last] if session.messages else earlier
                session = replace(session, messages=session.messages or last)
                noted = [one for part in before for one in transcript_of(part).utterances]
                # Without an archive, the user's instructions are in the store.
                for record in () if last else session.records:
                    if record.kind == "message":
                        content = self._resources.store.get(record.content) or b""
                        text = content.decode("utf-8", "surrogatepass")
                        turn = record.entry.source.turn
                        noted.append(Utterance("user", text, turn, answers=False))
            return consolidate(session, noted, ledger, self._resources, model_seconds)

    def end(self, session: SessionSnapshot, *, is_whole: bool) -> None:
        """Consolidate a session that ends in a thread, and wait for it for a bounded time."""
        self.start(session, last=True, is_whole=is_whole)
        if thread := self._threads.get(session.name):
            thread.join(END_SECONDS)
            if not thread.is_alive():
                self._threads.pop(session.name, None)  # two sessions of one name may end at once

    def start(self, session: SessionSnapshot, *, last: bool, is_whole: bool = True) -> None:
        """Consolidate a session in a thread; nothing waits for it, and one runs at a time.

        `last` if no later run has these messages; otherwise it is skipped while another one runs.
        """
        before = self._threads.get(session.name)
        if self.closed or (before is not None and before.is_alive() and not last):
            return
        thread = threading.Thread(
            target=self._run_in_thread,
            args=(session, before, is_whole),
            name="hippocampus-consolidation",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending, and starts no threads
            self._run_in_thread(session, before, is_whole)
        else:
            self._threads[session.name] = thread

    def _run_in_thread(
        self,
        session: SessionSnapshot,
        before: threading.Thread | None,
        is_whole: bool,  # noqa: FBT001 - a thread's arguments are positional
    ) -> None:
        if before is not None:
            before.join()
        try:
            patience = self._resources.policy.consolidation.model_seconds
            self._consolidated(session, patience, is_whole=is_whole)
        except StoreError as failure:
            LOG.error(LEFT, session.name, failure)  # noqa: TRY400 - the cause is in the text
        except Exception:  # law 3: the session's end tries again, and no turn fails
            LOG.exception("session %s: not consolidated in its thread", session.name)

    def _wait(self, name: str, seconds: float) -> None:
        running = self._threads.pop(name, None)
        if running is not None and running is not threading.current_thread():
            running.join(seconds + 1.0)

    def recover(self, name: str) -> ConsolidationOutcome:
        """Consolidate a session from the disk: its archive and its ledger.

        Raises:
            StoreError: they cannot be read or written.
        """
        with contextlib.closing(self._resources.state.session(name)) as ledger:
            last = ledger.last_call()
            turn = last.turn if last else 0
            session = SessionSnapshot(name, ledger.agent(), turn, (), ledger.records())
        return self.consolidate(session, is_whole=False)

    def close(self) -> None:
        """Wait a bounded time for running consolidations; the next start finishes the others."""
        ends = time.monotonic() + self._resources.policy.consolidation.model_seconds
        for name in list(self._threads):
            self._wait(name, max(0.0, ends - time.monotonic()))
        self.closed = True
