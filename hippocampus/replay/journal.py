"""The record of a run that may end at any time, as JSON lines in a folder that one run holds.

A line is appended once it is known, so that the next run goes on from it. What the lines mean is not
known here.
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
    """Hold a folder for one run.

    Raises:
        StoreError: it cannot be written, or another run has it.
    """
    try:
        with files.held(folder / ".running"):
            yield
    except OSError as failure:
        raise StoreError(f"{folder}: {failure.strerror or failure}") from failure


def read(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file; none where there is no file.

    Raises:
        StoreError: it cannot be read.
    """
    try:
        lines = files.read_file(path).splitlines()
    except OSError as failure:
        raise StoreError(f"{path} cannot be read: {failure}") from failure
    records = []
    for line in lines:
        # A run that was killed may leave the beginning of a line.
        with contextlib.suppress(ValueError):
            records.append(json.loads(line))
    return records


def append(path: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Append a record, and return it as the next run will read it."""
    line = json.dumps(record, default=asdict)
    files.private_folder(path.parent)
    with os.fdopen(files.opened_for_append(path), "ab") as file:
        file.write(f"\n{line}\n".encode())
    written: dict[str, Any] = json.loads(line)
    return written
