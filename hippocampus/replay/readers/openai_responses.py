"""OpenAI Responses items: a JSON list of them, or one a line.

The items pass through unchanged; `make_recordings` makes them valid.
"""

from __future__ import annotations

from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.json_values import as_records, kind_of, role_of
from hippocampus.replay.readers.raw_conversation import RawConversation, RawMessage

NAME = "openai-responses"
ROLES = {"system", "developer", "user", "assistant"}


def recognises(document: JsonDocument) -> bool:
    """Return whether an item can only be of this format, and most records are items."""
    records = document.records
    return any(map(_is_typical, records)) and sum(map(is_item, records)) * 2 > len(records)


def read(document: JsonDocument) -> list[RawConversation]:
    """Return the one conversation."""
    messages = [RawMessage(record) for record in document.records if is_item(record)]
    return [RawConversation("responses", messages)]


def is_item(record: Item) -> bool:
    """Return whether the record is a message, or an item that is known by its type."""
    if "role" in record:
        return role_of(record) in ROLES and "content" in record
    kind = kind_of(record)
    return kind == "reasoning" or kind.endswith(("_call", "_call_output"))


def _is_typical(record: Item) -> bool:
    if "role" not in record:
        return is_item(record) and ("call_id" in record or record["type"] == "reasoning")
    blocks = as_records(record.get("content"))
    return any(kind_of(block).startswith(("input_", "output_")) for block in blocks)
