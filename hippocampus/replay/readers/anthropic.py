"""Anthropic Messages: a JSON list of them, or one a line.

The messages pass through unchanged; `make_recordings` makes them valid.
"""

from __future__ import annotations

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import as_records, kind_of, role_of
from hippocampus.replay.readers.raw_conversation import RawConversation, RawMessage

NAME = "anthropic"
ROLES = {"system", "user", "assistant"}
ONLY_HERE = {"tool_use", "tool_result", "thinking", "redacted_thinking", "document", "image"}


def recognises(document: JsonDocument) -> bool:
    """Return whether a message has a block that only this format has, and most records are messages."""
    records = document.records
    return any(map(_is_typical, records)) and sum(map(_is_message, records)) * 2 > len(records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return the one conversation."""
    return [
        RawConversation(
            "anthropic", [RawMessage(each) for each in document.records if _is_message(each)]
        )
    ]


def _is_message(record: Item) -> bool:
    return role_of(record) in ROLES and isinstance(record.get("content"), str | list)


def _is_typical(record: Item) -> bool:
    if not _is_message(record) or "tool_calls" in record:
        return False
    return any(kind_of(block) in ONLY_HERE for block in as_records(record["content"]))
