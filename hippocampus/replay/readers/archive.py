"""Sessions that `hippocampus` has archived itself: JSON lines, read as the provider's messages.

A conversation is one context; the next one starts where the host cut or edited its list.
"""

from __future__ import annotations

from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.raw import MessageFormat, RawConversation, RawMessage
from hippocampus.replay.readers.values import JsonRecord, as_text, kind_of
from hippocampus.storage.archive.records import Context, contexts

NAME = "hippocampus"
KINDS: dict[str, MessageFormat] = {
    "openai": "chat",
    "responses": "responses",
    "anthropic": "anthropic",
}


def recognises(document: JsonDocument) -> bool:
    """Return whether a line opens an archive."""
    return any(map(_opens, document.records))


def read(document: JsonDocument) -> list[RawConversation]:
    """Return each context as a conversation."""
    return [_conversation(each) for each in contexts(document.records)]


def _opens(record: JsonRecord) -> bool:
    return kind_of(record) == "archive" and "session" in record and "part" in record


def _conversation(context: Context) -> RawConversation:
    return RawConversation(
        KINDS.get(as_text(context.format), "chat"), list(map(RawMessage, context.items))
    )
