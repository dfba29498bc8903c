"""What a session needs to serve recalls: contents read back, sliced, searched, or said to be gone.

Which entries there are, and what an access does to them, is the session's; nothing is decided here.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from hippocampus import recall
from hippocampus.entries.entry import Record
from hippocampus.errors import RecallError, StoreError
from hippocampus.formats.content import text_of, without_envelope
from hippocampus.formats.conversation import Item
from hippocampus.recall import answers
from hippocampus.recall.passages import Content, Passages
from hippocampus.recall.pending import Answer, Call, answered, pending
from hippocampus.recall.ranking import Embed
from hippocampus.storage import files, gc, ledger
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state_dir import StateDir

HEADER = re.compile(r"^([a-z2-7]{8,12}):$", re.MULTILINE)
"""Opens the lines of an entry in what a search found; lines of a content have their number first."""

Decode = Callable[[Record, bytes], str]
"""Returns the text of a content as the model would read it."""
Serve = Callable[[Call], str]
"""Serves one recall, or raises `RecallError`."""


class Found(NamedTuple):
    """What a search found, and in which entries."""

    text: str
    entry_ids: tuple[str, ...]


class Retrieval:
    """The way back to the contents of one session."""

    def __init__(
        self, state: StateDir, session: str, store: ContentStore, decode: Decode | None = None
    ) -> None:
        """Prepare it; the search index is opened when it is first filled or asked.

        `decode` reads the bytes of forms that `text_in` does not know.
        """
        self._decode = decode or text_in
        self._state = state
        self._session = session
        self._store = store
        self._records: Mapping[str, Record] = {}
        self._passages: Passages | None = None
        self._opening = threading.Lock()

    def record_of(self, entry_id: str, records: Mapping[str, Record]) -> Record:
        """Return the entry of an id, or say whose it is, or which ids look like it.

        Raises:
            RecallError: it never existed here, or belongs to another session.

        """
        if entry_id in records:
            return records[entry_id]
        owner = ledger.owner_of(self._state, entry_id)
        if owner is not None:
            raise answers.other_session(entry_id, owner)
        raise answers.never_existed(entry_id, records)

    def original(self, record: Record) -> bytes:
        """Return the exact bytes of a content.

        Raises:
            RecallError: it is no longer stored, or damaged; when it was removed, and by which rule.

        """
        try:
            content = self._store.get(record.content)
        except StoreError as damage:
            raise answers.expired(record, rule=str(damage)) from damage
        if content is not None:
            return content
        left = gc.tombstone(self._state, record.content)
        raise answers.expired(record, left.when, left.rule) if left else answers.expired(record)

    def text(self, record: Record) -> str:
        """Return the text of a content as the model would read it.

        Raises:
            RecallError: it is no longer stored, or damaged.

        """
        return self._decode(record, self.original(record))

    def take(self, record: Record, request: recall.Request, max_tokens: int) -> str:
        """Return a slice of a stored content.

        Raises:
            RecallError: nothing can be served; `reason` says why, the text what to do instead.

        """
        return slice_of(self.text(record), record, request, max_tokens)

    def fill(self, records: Mapping[str, Record]) -> None:
        """Index entries for searches, in a thread beside the turn."""
        self._records = {**self._records, **records}
        self._index().fill(records)

    def search(
        self,
        query: str,
        records: Mapping[str, Record],
        max_tokens: int,
        known: AbstractSet[str] = frozenset(),
        embed: Embed | None = None,
    ) -> Found:
        """Return the best lines of all these entries, and the ids of those that they are from.

        Raises:
            RecallError: no word of the query stands in any of them.
            StoreError: the search index cannot be used.

        """
        self._records = records
        found = recall.search(
            self._index(),
            query,
            max(1, max_tokens),
            list(records),
            self._text_or_none,
            known,
            embed,
        )
        return Found(found, tuple(dict.fromkeys(HEADER.findall(found))))

    def close(self) -> None:
        """Close the search index."""
        with self._opening:
            if self._passages is not None:
                self._passages.close()
                self._passages = None

    def _index(self) -> Passages:
        with self._opening:
            if self._passages is None:
                path = self._state.search_index(self._session)
                files.private_folder(path.parent)
                self._passages = Passages(path, self._searchable)
            return self._passages

    def _searchable(self, entry_id: str) -> Content | None:
        record = self._records.get(entry_id)
        text = self._text_or_none(entry_id) if record else ""
        return Content(text, f"{record.tool} {record.arguments}") if record and text else None

    def _text_or_none(self, entry_id: str) -> str:
        """Return a text, or nothing where it is gone: a search goes on without it."""
        try:
            return self.text(self._records[entry_id])
        except (RecallError, StoreError):
            return ""


def slice_of(text: str, record: Record, request: recall.Request, max_tokens: int) -> str:
    """Return a slice of the text that an entry stands for.

    Raises:
        RecallError: it cannot be served; the text tells what to do instead.

    """
    try:
        return recall.take(text, request, max(1, max_tokens))
    except RecallError as problem:
        raise answers.completed(problem, record) from problem


def text_in(record: Record, content: bytes) -> str:
    """Return the text of a content that a message held as text, as blocks or as an object."""
    text = content.decode("utf-8", "surrogatepass")
    if record.form == "blocks":
        text = text_of(json.loads(text))
    return without_envelope(text)


def handle(items: Sequence[Item], serve: Serve) -> list[Item]:
    """Return the items to append that answer the recalls pending at the end of a list.

    Raises:
        MessagesError: the list is in no known format.

    """
    return answered(items, {call.call_id: answer(call, serve) for call in pending(items)})


def answer(call: Call, serve: Serve) -> Answer:
    """Return what a call asks for, or in words why it cannot be served."""
    try:
        if call.problem is not None:
            raise call.problem
        return Answer(serve(call))
    except RecallError as problem:
        return Answer(answers.render(problem), is_error=True)
    except StoreError as failure:
        told = f"recall failed (the disk): {failure}. Do not retry; call the original tool again."
        return Answer(told, is_error=True)
