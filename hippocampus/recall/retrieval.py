"""Serves recalls from the stored contents of a session: reads, slices and searches them.

The session owns the entries and counts the accesses; nothing is decided here.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

from hippocampus import recall
from hippocampus.entries.entry import Record
from hippocampus.errors import RecallError, StoreError
from hippocampus.formats.content import text_of, without_envelope
from hippocampus.formats.conversation import Item, ToolResult
from hippocampus.formats.writing import tool_results
from hippocampus.recall import answers
from hippocampus.recall.passages import Content, Passages
from hippocampus.recall.pending import Answer, RecallCall, pending, unanswered
from hippocampus.storage import files, ledger, tombstones
from hippocampus.storage.content_store import ContentStore
from hippocampus.storage.state_dir import StateDir

HEADER = re.compile(r"^([a-z2-7]{8,12}):$", re.MULTILINE)
"""The line before the lines of an entry in a search result; other lines start with a number."""

Decode = Callable[[Record, bytes], str]
"""Returns the text of a stored content as the model reads it."""
Serve = Callable[[RecallCall], str]
NO_TOOLS: Mapping[str, Callable[[str], str]] = MappingProxyType({})
"""Serves one recall, or raises `RecallError`."""


class Retrieval:
    """Reads the stored contents of one session."""

    def __init__(
        self, state: StateDir, session: str, store: ContentStore, decode: Decode | None = None
    ) -> None:
        """Prepare it; the search index is opened at its first use.

        `decode` reads the bytes of all forms; without it `text_in` does.
        """
        self._decode = decode or text_in
        self._state = state
        self._session = session
        self._store = store
        self._records: Mapping[str, Record] = {}
        self._passages: Passages | None = None
        self._opening = threading.Lock()

    def record_of(self, entry_id: str, records: Mapping[str, Record]) -> Record:
        """Return the entry of an id.

        Raises:
            RecallError: it never existed here (the error lists similar ids), or belongs to another
                session (the error names it).

        """
        if entry_id in records:
            return records[entry_id]
        owner = ledger.owner_of(self._state, entry_id)
        if owner is not None:
            raise answers.other_session(entry_id, owner)
        raise answers.never_existed(entry_id, records)

    def original(self, record: Record) -> bytes:
        """Return the exact bytes of an entry's content.

        Raises:
            RecallError: it is damaged or no longer stored; with the time and the rule of its removal.

        """
        try:
            content = self._store.get(record.content)
        except StoreError as damage:
            raise answers.expired(record, rule=str(damage)) from damage
        if content is not None:
            return content
        left = tombstones.tombstone(self._state, record.content) or ()
        raise answers.expired(record, *left)

    def text(self, record: Record) -> str:
        """Return the text of an entry's content as the model reads it.

        Raises:
            RecallError: it is no longer stored, or damaged.

        """
        return self._decode(record, self.original(record))

    def take(self, record: Record, request: recall.Request, max_tokens: int) -> str:
        """Return a slice of an entry's content.

        Raises:
            RecallError: nothing can be served; with the reason, and what to do instead.

        """
        return slice_of(self.text(record), record, request, max_tokens)

    def search(
        self,
        query: str,
        records: Mapping[str, Record],
        max_tokens: int,
        known: AbstractSet[str] = frozenset(),
    ) -> tuple[str, tuple[str, ...]]:
        """Return the best lines of all these entries, and the ids of their entries.

        Raises:
            RecallError: no entry contains a word of the query.
            StoreError: the search index cannot be used.

        """
        self._records = records
        with self._opening:
            if self._passages is None:
                path = self._state.search_index(self._session)
                files.private_folder(path.parent)
                self._passages = Passages(path, self._searchable)
            index = self._passages
        most, ids = max(1, max_tokens), list(records)
        found = recall.search(index, query, most, ids, self._text_or_none, known)
        return found, tuple(dict.fromkeys(HEADER.findall(found)))

    def close(self) -> None:
        """Close the search index."""
        with self._opening:
            if self._passages is not None:
                self._passages.close()
                self._passages = None

    def _searchable(self, entry_id: str) -> Content | None:
        record = self._records.get(entry_id)
        text = self._text_or_none(entry_id) if record else ""
        return Content(text, f"{record.tool} {record.arguments}") if record and text else None

    def _text_or_none(self, entry_id: str) -> str:
        """Return a text, or an empty one where it is lost: a search continues without it."""
        try:
            return self.text(self._records[entry_id])
        except (RecallError, StoreError):
            return ""


def slice_of(text: str, record: Record, request: recall.Request, max_tokens: int) -> str:
    """Return a slice of an entry's text.

    Raises:
        RecallError: it cannot be served; the message has the alternative.

    """
    try:
        return recall.take(text, request, max(1, max_tokens), record.arguments)
    except RecallError as problem:
        raise answers.completed(problem, record) from problem


def text_in(record: Record, content: bytes) -> str:
    """Return the text of content that a message held as text, as blocks or as an object."""
    text = content.decode("utf-8", "surrogatepass")
    if record.form == "blocks":
        text = text_of(json.loads(text))
    return without_envelope(text)


def handle(
    items: Sequence[Item],
    serve: Serve,
    name: str = recall.TOOL_NAME,
    others: Mapping[str, Callable[[str], str]] = NO_TOOLS,
) -> list[Item]:
    """Return the items to append that answer the pending recalls at the end of a list.

    `others` are further tools by name, from the text of their arguments to their answer.

    Raises:
        MessagesError: the list is in no known format.

    """
    answered = [(call.call_id, answer(call, serve)) for call in pending(items, name)]
    results = [ToolResult(key, each.text, each.is_error, name) for key, each in answered]
    results += [
        ToolResult(call_id, others[tool](text), tool=tool)
        for call_id, tool, text in (unanswered(items) if others else ())
        if tool in others
    ]
    return tool_results(items, results)


def answer(call: RecallCall, serve: Serve) -> Answer:
    """Return the slice that a call requests, or a text that explains why it cannot be served."""
    try:
        if call.problem is not None:
            raise call.problem
        return Answer(serve(call))
    except RecallError as problem:
        return Answer(answers.render(problem), is_error=True)
    except StoreError as failure:
        text = f"recall failed (the disk): {failure}. Do not retry; call the original tool again."
        return Answer(text, is_error=True)
