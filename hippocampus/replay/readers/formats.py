"""The table of formats, and the choice of a reader by a file's content.

The only module that knows all readers, which do not know each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from hippocampus.errors import RecordingError
from hippocampus.replay.readers import (
    antigravity,
    archive,
    claude_code,
    cline,
    codex,
    gemini_chat,
    gemini_stream,
    inspect_ai,
    langgraph,
    managed_agents,
    messages_meta,
    mini_swe_agent,
    opencode,
    openhands,
    openhands_sdk,
    otel,
    pi,
    swe_agent,
)
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.message_lists import LISTS, MessageList
from hippocampus.replay.readers.raw import RawConversation
from hippocampus.replay.readers.values import JsonRecord, text_of


class DocumentContents(NamedTuple):
    """The conversations of a document."""

    format: str
    conversations: list[RawConversation]
    broken: tuple[str, ...] = ()
    """One `file:number: reason` per record without a message list."""


class RecordingReader(Protocol):
    """A format, as a module of functions."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """The format's name."""

    def is_own(self, record: JsonRecord, /) -> bool:
        """Return whether a record can only be of this format."""

    def read(self, records: list[JsonRecord], /) -> list[RawConversation]:
        """Return the conversations of a file."""


READERS: tuple[RecordingReader, ...] = (
    archive,
    claude_code,
    codex,
    pi,
    gemini_stream,
    gemini_chat,
    otel,
    inspect_ai,
    swe_agent,
    mini_swe_agent,
    opencode,
    messages_meta,
    openhands,
    openhands_sdk,
    antigravity,
    managed_agents,
    cline,
    langgraph,
)
"""The formats of programs that record, in the order in which they are tried."""
NAMES = (*(reader.NAME for reader in READERS), *(reader.NAME for reader in LISTS))
LIST_FIELDS = ("messages", "input", "items")


def read(document: JsonDocument) -> DocumentContents:
    """Return the format and the conversations of a document.

    Raises:
        RecordingError: the document is in no known format.
    """
    if reader := _reader_of(READERS, document.records):
        return DocumentContents(reader.NAME, reader.read(document.records))
    contents = [_contents_of_record(record) for record in document.records]
    found = [content for content in contents if content]
    if not found:
        raise RecordingError(document.path, f"{document.description}, in no known format")
    broken = tuple(
        f"{document.path}:{number}: no message list in this record"
        for number, content in enumerate(contents, start=1)
        if not content
    )
    conversations = [conversation for content in found for conversation in content.conversations]
    return DocumentContents(found[0].format, conversations, broken)


def _reader_of(
    readers: Sequence[RecordingReader], records: list[JsonRecord]
) -> RecordingReader | MessageList | None:
    """Return the first reader that recognises a record, or the format of a message list."""
    for reader in readers:
        if any(map(reader.is_own, records)):
            return reader
    return next((reader for reader in LISTS if reader.recognises(records)), None)


def _contents_of_record(record: JsonRecord) -> DocumentContents | None:
    """Read a record with a message list, such as the body of a request to a provider."""
    messages = next((found for key in LIST_FIELDS if (found := record.records(key))), [])
    reader = _reader_of([langgraph], messages)
    if not reader:
        return None
    model = record.text("model")
    conversations = [
        replace(
            found,
            messages=[message._replace(model=message.model or model) for message in found.messages],
            system_prompt=text_of(record.get("system")) or record.text("instructions"),
            tools=record.records("tools"),
        )
        for found in reader.read(messages)
    ]
    return DocumentContents(reader.NAME, conversations)
