"""Measurements on public benchmarks, from files that the user has."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from hippocampus.storage import files


def read_json(path: Path) -> Any:
    """Return the JSON value in a regular file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no JSON.
    """
    with os.fdopen(files.opened(path, os.O_RDONLY), "rb") as file:
        data = file.read()
    return json.loads(data.decode(json.detect_encoding(data), "replace"))
