"""The record of an interruptible run, as JSON lines in a folder that one run locks.

Every line is appended at once, so that the next run continues from it. The lines' meaning is not known
here.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hippocampus.errors import StoreError
from hippocampus.storage import files


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Lock a folder for one run.

    Raises:
        StoreError: the folder cannot be written, or another run has locked it.
    """
    try:
        with files.held(folder / ".running"):
            yield
    except OSError as failure:
        raise StoreError(f"{folder}: {failure.strerror or failure}") from failure


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; empty if it does not exist.

    Raises:
        StoreError: the file cannot be read.
    """
    try:
        lines = files.read_file(path).splitlines()
    except OSError as failure:
        raise StoreError(f"{path} cannot be read: {failure}") from failure
    records = []
    for line in lines:
        # A killed run may leave an incomplete line.
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records


def append(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Append a record, and return it as `read` returns it."""
    line = json.dumps(record, default=asdict)
    files.private_folder(path.parent)
    with os.fdopen(files.opened_for_append(path), "ab") as file:
        file.write(f"\n{line}\n".encode())
    written: dict[str, Any] = json.loads(line)
    return written
