"""The record of an interruptible run, as JSON lines in a folder that one run locks.

Every line is appended at once, so that the next run continues from it. The lines' meaning is not known
here.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage import files


@contextlib.contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Lock a folder for one run.

    Raises:
        StoreError: the folder cannot be written, or another run has locked it.
    """
    try:
        with files.held(folder / ".running"):
            yield
    except OSError as failure:
        raise StoreError(f"{folder}: {failure.strerror or failure}") from failure


class RunJournal:
    """Records by the `name` of the work that they belong to, and by kind: their first other field."""

    def __init__(self, path: Path, name: str, settings: Any = None) -> None:
        """Read the records in a folder; a new journal has no file.

        Raises:
            StoreError: the file cannot be read, or the run that began it has other settings.
        """
        self.path = path
        self._file = path / f"{name}.jsonl"
        self._records: defaultdict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
        try:
            lines = files.read_file(self._file).splitlines()
        except OSError as failure:
            raise StoreError(f"{self._file} cannot be read: {failure}") from failure
        for line in lines:
            # A killed run may leave an incomplete line.
            with contextlib.suppress(ValueError):
                self._note(line)
        begun = self.last("settings")
        if begun and settings and begun != asdict(settings):
            raise StoreError(f"{path} holds a {name} with other settings; name another folder")

    def add(self, **record: Any) -> None:
        """Append a record."""
        line = json.dumps(record, default=asdict)
        files.private_folder(self.path)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | files.NO_LINK
        with os.fdopen(files.opened(self._file, flags), "ab") as file:
            file.write(f"\n{line}\n".encode())
        self._note(line)

    def _note(self, line: str | bytes) -> None:
        record = json.loads(line)
        kind = next((field for field in record if field != "name"), "")
        self._records[record.get("name", ""), kind].append(record)

    def records(self, kind: str, name: str | None = "") -> list[dict[str, Any]]:
        """Return the records of a kind, oldest first; None is any name."""
        if name is not None:
            return self._records[name, kind]
        found = (listed for (_, own), listed in self._records.items() if own == kind)
        return [record for listed in found for record in listed]

    def last(self, kind: str, name: str = "") -> Any:
        """Return the value of the last record of a kind; None without one."""
        found = self._records[name, kind]
        return found[-1][kind] if found else None
