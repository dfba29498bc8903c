"""The entries of a session, for its host to read and to adopt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hippocampus.entries.entry import Entry, adopted
from hippocampus.formats import json_text
from hippocampus.session.recalls import SessionRecalls
from hippocampus.session.resources import Resources
from hippocampus.session.run import SessionRun


class SessionEntries:
    """The entries that left the view, oldest first."""

    def __init__(self, run: SessionRun, resources: Resources, recalls: SessionRecalls) -> None:
        """Share the session's run, resources and recalls."""
        self._run = run
        self._resources = resources
        self._recalls = recalls

    def __iter__(self) -> Iterator[Entry]:
        """Yield the entries as they are now."""
        return (record.entry for record in self._run.records())

    def __getitem__(self, number: int) -> Entry:
        """Return an entry by its position, from 0, or from the end with a negative number."""
        return self._run.records()[number].entry

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._run.records())

    def content(self, entry_id: str) -> Any:
        """Return the whole content of an entry exactly as the message list held it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause.
        """
        record = self._recalls.record_of(entry_id)
        original = self._recalls.retrieval.original(record).decode("utf-8", "surrogatepass")
        return original if record.form == "text" else json_text.read_exactly(original)

    def text(self, entry_id: str) -> str:
        """Return the whole text of an entry's content as the model would read it.

        Raises:
            RecallError: nothing can be served; `reason` has the cause.
        """
        return self._recalls.retrieval.text(self._recalls.record_of(entry_id))

    def adopt(self, entry_id: str) -> None:
        """Take over an entry of another session of this memory, so that it can be recalled here.

        Raises:
            RecallError: no session has an entry of that id, or its content is gone.
        """
        with self._run.lock:
            if entry_id in self._run.known():
                return
            found = self._resources.state.entry_of(entry_id)
            if found is None:
                self._recalls.record_of(entry_id)
                return
            owner, record = found
            self._recalls.retrieval.original(record)
            self._run.save(adopted(record, owner, self._run.state.turn))
