"""When consolidations run: at a session's end, beside a turn, or after a crash; one at a time.

What one does is `deep`; what one keeps, `keeping`.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace

from hippocampus.consolidation.inputs import Means, Session, Trigger
from hippocampus.consolidation.outcome import Outcome
from hippocampus.consolidation.transcript import Utterance, heard
from hippocampus.entries.entry import Record
from hippocampus.formats import reader
from hippocampus.storage import archive
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state_dir import StateDir

LOG = logging.getLogger("hippocampus")


class Consolidations:
    """The consolidations of one memory."""

    def __init__(self, state: StateDir, store: ContentStore, means: Means) -> None:
        self._store = store
        self._state = state
        self._means = means
        self._beside: dict[str, threading.Thread] = {}
        self.closed = False
        """Whether the memory is closed: a session that ends later is consolidated after the start."""

    def run(self, session: Session, ledger: Ledger) -> Outcome:
        """Consolidate a session, once what runs beside it is done; a model has its time but once.

        Raises:
            StoreError: the ledger cannot be read or written.

        """
        if not self._means.policy.consolidation.facts:
            ledger.consolidated(ledger.pending())
            return Outcome(session.name, session.turn, (), finished=True)
        patience = self._means.policy.consolidation.model_seconds
        started = time.monotonic()
        self._wait(session.name, patience)
        left = max(0.0, patience - (time.monotonic() - started))
        return self._done(session, ledger, left, Trigger.SESSION_END)

    def _done(
        self, session: Session, ledger: Ledger, model_seconds: float, trigger: Trigger
    ) -> Outcome:
        """Consolidate; the fact store is loaded where a session ends, not where one is made."""
        from hippocampus.consolidation.daily_log import did
        from hippocampus.consolidation.deep import consolidate
        from hippocampus.consolidation.publish import leave

        def told(outcome: Outcome) -> bool:
            done, facts = did(session.records, ledger.last_call()), self._means.facts()
            form = self._means.render or policy.consolidation.memory_format
            at = time.time()
            return leave(self._state, outcome, facts, policy, at=at, did=done, form=form)

        LOG.debug("session %s: consolidating at %s", session.name, trigger)
        policy = self._means.policy
        block = policy.consolidation.model_copy(update={"model_seconds": model_seconds})
        bounded = policy.model_copy(update={"consolidation": block})
        return consolidate(session, ledger, replace(self._means, policy=bounded, leave=told))

    def start(self, session: Session, *, last: bool) -> None:
        """Consolidate a session beside its turns: nothing waits for it, and one runs at a time.

        `last` says that its messages will not be seen again; otherwise a later run has them too.
        """
        before = self._beside.get(session.name)
        busy = before is not None and before.is_alive()
        if not self._means.policy.consolidation.facts or (busy and not last):
            return
        thread = threading.Thread(
            target=self._run_beside,
            args=(session, before),
            name="hippocampus-consolidation",
            daemon=True,
        )
        self._beside[session.name] = thread
        thread.start()

    def _run_beside(self, session: Session, before: threading.Thread | None) -> None:
        if before is not None:
            before.join()
        try:
            with contextlib.closing(Ledger(self._state, session.name)) as ledger:
                patience = self._means.policy.consolidation.model_seconds
                self._done(session, ledger, patience, Trigger.CONTEXT_THRESHOLD)
        except Exception:  # law 3: the session's end tries again, and no turn is to notice
            LOG.exception("session %s: not consolidated beside its turns", session.name)

    def _wait(self, name: str, seconds: float) -> None:
        running = self._beside.pop(name, None)
        if running is not None and running is not threading.current_thread():
            running.join(seconds + 1.0)

    def recover(self, name: str) -> Outcome:
        """Consolidate a session from what is on disk: its archive and its ledger.

        Raises:
            StoreError: one of them cannot be read or written.

        """
        with contextlib.closing(Ledger(self._state, name)) as ledger:
            last = ledger.last_call()
            turn = last.turn if last else 0
            session = Session(name, ledger.agent(), turn, (), ledger.records())
            return self.run(self.completed(session), ledger)

    def completed(self, session: Session) -> Session:
        """Return a session with what its archive has beside its messages; without one, its ledger.

        Raises:
            StoreError: the archive cannot be read.

        """
        *earlier, last = (
            reader.read(each.items) for each in archive.lists(self._state, session.name)
        )
        said = session.messages or last
        before = earlier if said is last else [*earlier, last]
        noted = [one for each in before for one in heard(each).utterances]
        noted += [] if last else self._noted(session.records)
        return replace(session, messages=said, noted=noted)

    def _noted(self, records: Iterable[Record]) -> Iterator[Utterance]:
        """Yield the user's instructions as they are stored, where there is no archive."""
        for record in records:
            if record.kind == "message":
                content = self._store.get(record.content)
                text = (content or b"").decode("utf-8", "surrogatepass")
                yield Utterance("user", text, record.entry.source.turn, answers=False)

    def close(self) -> None:
        """Wait for what runs beside turns, a bounded time; what is left is finished at a next start."""
        for name in list(self._beside):
            self._wait(name, self._means.policy.consolidation.model_seconds)
        self.closed = True
