"""Recorded sessions of other agents, found below paths and read; one module per format.

One file is in memory at a time. Nothing here measures, and nothing imports the session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from hippocampus.errors import MALFORMED, MessagesError, RecordingError
from hippocampus.replay.buckets import BucketFile, is_bucket, iter_bucket
from hippocampus.replay.readers import codex, formats, openhands_sdk, our_archive
from hippocampus.replay.readers.json_files import JsonDocument, load, of_bytes
from hippocampus.replay.readers.make_recordings import make_recordings
from hippocampus.replay.recording import Recording
from hippocampus.storage.engines import ENGINES, tenant_of_environment
from hippocampus.storage.schema import is_state
from hippocampus.storage.state_dir import StateDir

RecordedFile = Path | BucketFile | our_archive.SessionRecording
"""A file of this machine or of object storage, or a session of a state."""
MISSING = "no such file or directory"


def find_files(
    paths: Iterable[str | os.PathLike[str]], missing: list[str] | None = None
) -> Iterator[RecordedFile]:
    """Yield the files at the paths and below them, sorted in each directory, none twice.

    A path may be the address of object storage. Hidden files and directories below a path are left
    out, and so are HTML pages, since a report may be written next to the recordings. A state (a
    directory, its database, a backup of that, the address of a server) has a file per session.
    `missing` takes the paths at which there is nothing.

    Raises:
        RecordingError: there is nothing at a path, and `missing` is not given; a state cannot be read.
        StoreError: object storage cannot be read.
    """
    seen = set[Path]()
    for path in map(str, paths):
        file = Path(path)
        if not (is_bucket(path) or file.exists() or our_archive.is_session(file)):
            if missing is None:
                raise RecordingError(path, MISSING)
            missing.append(path)
            continue
        for found in _files_at(path):
            if (resolved := Path(str(found)).resolve()) not in seen:
                seen.add(resolved)
                yield found


def _files_at(path: str) -> Iterator[RecordedFile]:
    """Yield the files that one path names."""
    if path.startswith(tuple(ENGINES)):
        address, _, named = path.partition("#")
        tenant, _, session = named.partition("/")
        yield from our_archive.sessions(
            address, unquote(tenant) or tenant_of_environment(), session
        )
    elif is_bucket(path):
        yield from iter_bucket(path)
    elif our_archive.is_session(file := Path(path)):
        yield from our_archive.sessions(str(file.parent), name=file.name)
    else:
        for found in _walk(file) if file.is_dir() else (file,):
            if found.name == StateDir(found).database.name or is_state(found):
                yield from our_archive.sessions(str(found))
            else:
                yield found


def _walk(root: Path) -> Iterator[Path]:
    for directory, directories, names in os.walk(root):
        state = StateDir(Path(directory))
        if state.database.name in names:
            directories[:], names[:] = [], [state.database.name]
        if openhands_sdk.STATE in names and openhands_sdk.EVENTS in directories:
            directories[:], names[:] = [], [openhands_sdk.STATE]
        directories[:] = sorted(name for name in directories if not name.startswith("."))
        for name in sorted(names):
            file = Path(directory, name)
            if not name.startswith(".") and file.suffix != ".html" and file.is_file():
                yield file


def read_file(file: str | os.PathLike[str] | RecordedFile) -> list[Recording]:
    """Return the conversations in one file; none, if no model answered in it.

    Raises:
        RecordingError: the file cannot be read, or is in no known format.
        StoreError: object storage cannot be read.
    """
    if isinstance(file, our_archive.SessionRecording):
        return _recordings(our_archive.export_session(file))
    if isinstance(file, BucketFile):
        return read_bytes(str(file), file.read())
    document = codex.with_beginning(load(str(file)))
    if Path(file).name == openhands_sdk.STATE:
        document = openhands_sdk.with_events(document)
    return _recordings(document)


def read_bytes(name: str, content: bytes) -> list[Recording]:
    """Return the conversations in a file's content; none, if no model answered in it.

    Raises:
        RecordingError: the content is in no known format.
    """
    return _recordings(of_bytes(name, content))


def _recordings(document: JsonDocument) -> list[Recording]:
    try:
        return make_recordings(document.path, *formats.read(document))
    except (*MALFORMED, MessagesError) as error:
        # Foreign JSON can be wrong in more ways than its reader checks. One bad file must not
        # end the replay of a whole directory.
        reason = f"its fields are not of the expected types: {type(error).__name__}: {error}"
        raise RecordingError(document.path, reason) from error
