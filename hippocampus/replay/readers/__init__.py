"""Recorded sessions of other agents, found below paths and read; one module for each format.

One file is in memory at a time. Nothing here measures, and nothing imports the session.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from hippocampus.errors import MALFORMED, MessagesError, RecordingError
from hippocampus.replay.readers import archive, codex, formats, openhands_sdk
from hippocampus.replay.readers.documents import JsonDocument, load, of_bytes
from hippocampus.replay.readers.make_recordings import make_recordings
from hippocampus.replay.recording import Recording
from hippocampus.storage.migrations import is_state
from hippocampus.storage.state_dir import StateDir


def find_files(paths: Iterable[str | os.PathLike[str]]) -> Iterator[Path]:
    """Yield the files at the paths and below them, sorted in each directory, none twice.

    Hidden files and directories below a path are left out, and so are HTML pages, since a report may be
    written next to the recordings. The database of a state directory, or a backup of it, has a path for each
    session.

    Raises:
        RecordingError: there is nothing at a path.
    """
    seen = set[Path]()
    for path in map(Path, paths):
        if not path.exists():
            raise RecordingError(str(path), "no such file or directory")
        for file in _walk(path) if path.is_dir() else (path,):
            is_own = file.name == StateDir(path).database.name or is_state(file)
            for session in archive.sessions(file) if is_own else (file,):
                if (resolved := session.resolve()) not in seen:
                    seen.add(resolved)
                    yield session


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


def read_file(path: str | os.PathLike[str]) -> list[Recording]:
    """Return the conversations in one file; none, if no model answered in it.

    Raises:
        RecordingError: the file cannot be read, or is in no known format.
    """
    is_own = archive.is_session(Path(path))
    document = archive.exported(Path(path)) if is_own else codex.with_beginning(load(str(path)))
    if Path(path).name == openhands_sdk.STATE:
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
        return make_recordings(document, formats.read(document))
    except (*MALFORMED, MessagesError) as error:
        # Foreign JSON can be wrong in more ways than its reader checks. One bad file must not
        # end the replay of a whole directory.
        reason = f"its fields are not of the expected types: {type(error).__name__}: {error}"
        raise RecordingError(document.path, reason) from error
