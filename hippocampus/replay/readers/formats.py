"""The table of formats, and the choice of a reader by a file's content.

This is the one place that knows every reader; none of them knows another.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

from hippocampus.errors import RecordingError
from hippocampus.replay.readers import (
    anthropic,
    archive,
    claude_code,
    codex,
    gemini_chat,
    gemini_stream,
    inspect_ai,
    langgraph,
    openai_chat,
    openai_responses,
    otel,
    pi,
    swe_agent,
)
from hippocampus.replay.readers.documents import Document
from hippocampus.replay.readers.draft import Draft
from hippocampus.replay.readers.fields import Record, as_records, as_text


class Reading(NamedTuple):
    """What is in a document."""

    format: str
    drafts: list[Draft]
    broken: tuple[str, ...] = ()
    """Records in which no message list was found, beside others in which one was."""


class Reader(Protocol):
    """One format, as a module of functions."""

    NAME: str

    def recognises(self, document: Document, /) -> bool:
        """Say whether the document is of this format."""

    def read(self, document: Document, /) -> list[Draft]:
        """Return its conversations."""


READERS: tuple[Reader, ...] = (
    archive,
    claude_code,
    codex,
    pi,
    gemini_stream,
    gemini_chat,
    otel,
    inspect_ai,
    swe_agent,
    langgraph,
)
"""Programs that record, in the order in which they are asked."""
LISTS: tuple[Reader, ...] = (langgraph, openai_responses, anthropic, openai_chat)
"""Message lists, for a file that is one and for each record that holds one."""
LIST_FIELDS = ("messages", "input", "items")


def read(document: Document) -> Reading:
    """Return the document's format and its conversations.

    Raises:
        RecordingError: the document is in no known format.

    """
    for reader in (*READERS, *LISTS) if document.records else ():
        if reader.recognises(document):
            return Reading(reader.NAME, reader.read(document))
    readings = [_in_record(document, record) for record in document.records]
    found = [reading for reading in readings if reading]
    if not found:
        reason = f"{document.seen}, in none of the known formats: {known()}"
        raise RecordingError(document.path, reason)
    broken = tuple(
        f"{document.path}:{number}: no message list in this record"
        for number, reading in enumerate(readings, start=1)
        if not reading
    )
    drafts = [draft for reading in found for draft in reading.drafts]
    return Reading(found[0].format, drafts, broken)


def known() -> str:
    """Return the names of the formats, as a sentence lists them."""
    return ", ".join(dict.fromkeys(reader.NAME for reader in (*READERS, *LISTS)))


def _in_record(document: Document, record: Record) -> Reading | None:
    """Read a record that holds a message list, such as `{"messages": [...]}`."""
    messages = next((found for key in LIST_FIELDS if (found := as_records(record.get(key)))), [])
    inner = document.of(messages)
    reader = next((reader for reader in LISTS if messages and reader.recognises(inner)), None)
    if not reader:
        return None
    model = as_text(record.get("model"))
    drafts = [
        Draft(draft.kind, [step._replace(model=step.model or model) for step in draft.steps])
        for draft in reader.read(inner)
    ]
    return Reading(reader.NAME, drafts)
