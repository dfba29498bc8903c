"""The table of formats, and the choice of a reader by a file's content.

The only module that knows all readers, which do not know each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from hippocampus.errors import RecordingError
from hippocampus.replay.readers import (
    antigravity,
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
    our_archive,
    pi,
    swe_agent,
)
from hippocampus.replay.readers.json_files import JsonDocument
from hippocampus.replay.readers.message_lists import LISTS, MessageList
from hippocampus.replay.readers.raw import RawConversation
from hippocampus.replay.readers.values import JsonRecord, text_of


class RecordingReader(Protocol):
    """A format, as a module of functions."""

    @property
    def NAME(self) -> str:  # noqa: N802 - a constant of a module
        """The format's name."""

    def is_own(self, record: JsonRecord, /) -> bool:
        """Return whether a record can only be of this format."""

    def read(self, records: list[JsonRecord], /) -> Iterable[RawConversation]:
        """Return or yield the conversations of a file."""


READERS: tuple[RecordingReader, ...] = (
    our_archive,
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


def read(document: JsonDocument) -> tuple[str, list[RawConversation], tuple[str, ...]]:
    """Return the format of a document, its conversations, and its broken lines and records.

    Without a recording program, a record is a message list or has one, as a provider's request has.

    Raises:
        RecordingError: the document is in no known format.
    """
    if program := _reader_of(READERS, document.records):
        return program.NAME, list(program.read(document.records)), document.broken
    names, conversations, broken = list[str](), list[RawConversation](), [*document.broken]
    for number, record in enumerate(document.records, start=1):
        messages = next((found for key in LIST_FIELDS if (found := record.records(key))), [])
        if reader := _reader_of([langgraph], messages):
            names.append(reader.NAME)
            # A provider's request has these next to its messages.
            prompt = text_of(record.get("system")) or record.text("instructions")
            model, tools = record.text("model"), record.records("tools")
            conversations += (
                replace(found, model=model, system_prompt=prompt, tools=tools)
                for found in reader.read(messages)
            )
        else:
            broken.append(f"{document.path}:{number}: no message list in this record")
    if not names:
        raise RecordingError(document.path, f"{document.description}, in no known format")
    return names[0], conversations, tuple(broken)


def _reader_of(
    readers: Sequence[RecordingReader], records: list[JsonRecord]
) -> RecordingReader | MessageList | None:
    """Return the first reader that recognises a record, or the format of a message list."""
    for reader in readers:
        if any(map(reader.is_own, records)):
            return reader
    return next((reader for reader in LISTS if reader.recognises(records)), None)
