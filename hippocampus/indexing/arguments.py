"""Large tool-call arguments made short: the same JSON with its long strings cut. Pure."""

from __future__ import annotations

import json
from typing import Any

from hippocampus.indexing.frame import as_content

HEAD_CHARACTERS = 80
"""What is kept of a long string, from its start."""


def shorten(arguments: str, frame: str) -> str:
    """Return arguments with long strings cut, the first of them carrying the entry's frame.

    JSON of an object stays JSON of an object with the same keys, and stays as it is where it has no
    long string; anything else becomes the frame and its head.
    """
    cutter = _Cutter(frame)
    try:
        value = cutter.cut(json.loads(arguments))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        return f"{frame}\n{as_content(arguments[:HEAD_CHARACTERS])}"
    return json.dumps(value, ensure_ascii=False) if cutter.has_cut else arguments


class _Cutter:
    """Cuts strings and puts the frame into the first one cut."""

    def __init__(self, frame: str) -> None:
        self._frame = frame

    @property
    def has_cut(self) -> bool:
        return not self._frame

    def cut(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.cut(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.cut(inner) for inner in value]
        if isinstance(value, str) and len(value) > 2 * HEAD_CHARACTERS:
            frame, self._frame = self._frame, ""
            kept = f"{as_content(value[:HEAD_CHARACTERS])}… (+{len(value) - HEAD_CHARACTERS} chars)"
            return f"{frame}\n{kept}" if frame else kept
        return value
