"""Sessions that `hippocampus` has archived itself, in its database or as JSON lines, read as the provider's messages.

Lists of Bedrock and Gemini become chat messages. A conversation is one context; the next one starts where the host cut or edited its list.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from hippocampus.errors import RecordingError, StoreError
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.documents import JsonDocument
from hippocampus.replay.readers.raw import MessageFormat, RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, kind_of
from hippocampus.storage import archive as storage
from hippocampus.storage.archive_lines import Context, contexts, parsed
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir

NAME = "hippocampus"
KINDS: dict[str, MessageFormat] = {
    "openai": "chat",
    "responses": "responses",
    "anthropic": "anthropic",
}


def is_own(record: JsonRecord) -> bool:
    """Return whether a line opens an archive."""
    return kind_of(record) == "archive" and "session" in record and "part" in record


def read(records: list[JsonRecord]) -> list[RawConversation]:
    """Return the contexts as conversations."""
    return [
        RawConversation(
            KINDS.get(context.format, "chat"),
            [message._replace(model=context.model) for message in _messages(context)],
        )
        for context in contexts(records)
    ]


def is_session(path: Path) -> bool:
    """Return whether a path names a session: a database, then the session's name."""
    return path.parent.is_file()


def sessions(database: Path) -> list[Path]:
    """Return a path for each session of a database with a raw conversation.

    Raises:
        RecordingError: its database cannot be read.
    """
    with _as_recording_error(database):
        with _state(database).reading() as db:
            found = storage.archived(db).values()
        return [database / quote(name, safe="", errors="replace") for name in found]


def exported(path: Path) -> JsonDocument:
    """Return the raw conversation of the session that a path names.

    Raises:
        RecordingError: it cannot be read.
    """
    with _as_recording_error(path):
        lines = _state(path.parent).exported(unquote(path.name))
    if not lines:
        raise RecordingError(str(path), "no conversation of this session is stored")
    return JsonDocument(str(path), list(map(JsonRecord, parsed(lines))), "a session")


def _state(database: Path) -> DirectoryState:
    return DirectoryState(StateDir(database.parent, database.name))


@contextlib.contextmanager
def _as_recording_error(path: Path) -> Iterator[None]:
    try:
        yield
    except StoreError as failure:
        raise RecordingError(str(path), str(failure)) from failure


def _messages(context: Context) -> Iterable[RawMessage]:
    return map(RawMessage, context.items) if context.format in KINDS else _as_chat(context.items)


def _as_chat(items: Sequence[Item]) -> Iterator[RawMessage]:
    """Yield the messages of a list of any format as chat messages."""
    for message in reader.read(items):
        text = "\n".join(part.text for part in message.parts if part.kind == "text")
        if message.role == "assistant":
            calls = [part for part in message.parts if part.kind == "call"]
            yield RawMessage.answer(
                text, [chat_call(part.call_id, part.tool, part.text) for part in calls]
            )
            continue
        for part in message.parts:
            if part.kind == "result":
                yield RawMessage.result(part.call_id, part.text)
        if text:
            yield RawMessage({"role": message.role, "content": text})
