"""Sessions that `hippocampus` has archived itself: JSON lines, read as the provider's messages.

A conversation is one context; the next one starts where the host cut or edited its list.
"""

from __future__ import annotations

from hippocampus.replay.readers.raw import MessageFormat, RawConversation, RawMessage
from hippocampus.replay.readers.values import JsonRecord, as_text, kind_of
from hippocampus.storage.archive.records import contexts

NAME = "hippocampus"
KINDS: dict[str, MessageFormat] = {
    "openai": "chat",
    "responses": "responses",
    "anthropic": "anthropic",
}


def recognises(records: list[JsonRecord]) -> bool:
    """Return whether a line opens an archive."""
    return any(
        kind_of(record) == "archive" and "session" in record and "part" in record
        for record in records
    )


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return each context as a conversation."""
    return [
        RawConversation(KINDS.get(as_text(each.format), "chat"), list(map(RawMessage, each.items)))
        for each in contexts(records)
    ]
