"""Sessions that `hippocampus` has archived itself, in its database or as JSON lines, read as the provider's messages.

Lists of Bedrock and Gemini become chat messages. A conversation is one context; the next one starts where the host cut or edited its list.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote

from hippocampus.errors import RecordingError, StoreError, without_password
from hippocampus.formats import reader
from hippocampus.formats.conversation import Item
from hippocampus.replay.readers.json_files import JsonDocument
from hippocampus.replay.readers.raw import ADAPTERS, RawConversation, RawMessage, chat_call
from hippocampus.replay.readers.values import JsonRecord, kind_of
from hippocampus.storage import archive as storage
from hippocampus.storage.archive import contexts, parsed
from hippocampus.storage.deadline import bounded
from hippocampus.storage.engines import is_address
from hippocampus.storage.state import DirectoryState, StateStore, state_of
from hippocampus.storage.state_dir import StateDir

NAME = "hippocampus"
SECONDS = 600.0
"""The limit of a server for its list of sessions, or for one of them."""
KINDS = {adapter.NAME: kind for kind, adapter in ADAPTERS.items()}


def is_own(record: JsonRecord) -> bool:
    """Return whether a line opens an archive."""
    return kind_of(record) == "archive" and "session" in record and "part" in record


def read(records: list[JsonRecord]) -> Iterator[RawConversation]:
    """Yield the contexts as conversations."""
    for context in contexts(records):
        is_known, items = context.format in KINDS, context.items
        messages = list(map(RawMessage, items) if is_known else _as_chat(items))
        kind = KINDS.get(context.format, "chat")
        yield RawConversation(kind, messages, model=context.model)


class SessionRecording(NamedTuple):
    """A session in a database of this machine, or of a tenant on a server."""

    state: str
    """The path of a database, or the address."""
    tenant: str
    name: str
    etag: str
    size: int

    def __str__(self) -> str:
        """Return `DATABASE/SESSION`, or `ADDRESS#TENANT/SESSION` without a password."""
        name, tenant = (quote(each, "", errors="replace") for each in (self.name, self.tenant))
        if is_address(self.state):
            return f"{without_password(self.state)}#{tenant}/{name}"
        return str(Path(self.state, name))


def is_session(path: Path) -> bool:
    """Return whether a path names a session: a database, then the session's name."""
    return path.parent.is_file()


def sessions(state: str, tenant: str = "", name: str = "") -> list[SessionRecording]:
    """Return the sessions of a state that have a raw conversation, or the one of a name, quoted or not.

    Raises:
        RecordingError: it cannot be read.
    """
    with _as_recording_error(state), bounded(SECONDS), _state(state, tenant).reading() as db:
        found = storage.archived(db)
    made = [SessionRecording(state, tenant, *each[1:]) for each in found]
    chosen = [each for each in made if not name or each.name == unquote(name)]
    if name and not chosen:
        raise RecordingError(unquote(name), "no conversation of this session is stored")
    return chosen


def export_session(session: SessionRecording) -> JsonDocument:
    """Return the raw conversation of a session."""
    with _as_recording_error(str(session)), bounded(SECONDS):
        lines = _state(session.state, session.tenant).exported(session.name)
    return JsonDocument(str(session), list(map(JsonRecord, parsed(lines))), "a session")


@functools.cache
def _state(named: str, tenant: str) -> StateStore:
    """Return a state that all its sessions share, closed as the process ends."""
    path = Path(named)
    layout = StateDir(path.parent, path.name)
    state = state_of(named, tenant) if is_address(named) else DirectoryState(layout)
    atexit.register(state.close)
    return state


@contextlib.contextmanager
def _as_recording_error(path: str) -> Iterator[None]:
    try:
        yield
    except StoreError as failure:
        raise RecordingError(path, str(failure)) from failure


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
            yield RawMessage.user(text, message.role)
