"""Large tool-call arguments made short: the same JSON with its long strings cut. Pure."""

from __future__ import annotations

import itertools
import json
from collections.abc import Container
from typing import Any

from hippocampus.formats import json_text
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.shapes import IDENTIFIER, NAMED

HEAD_CHARACTERS = 40
"""What is kept of a long string, from its start."""

MOST_NAMES = 12
"""How many names of a cut string are written: what was written is named again later."""


def shorten(
    arguments: str,
    frame: str,
    head_characters: int = HEAD_CHARACTERS,
    most_names: int = MOST_NAMES,
    known: Container[str] = frozenset(),
) -> str:
    """Return arguments with long strings cut, the first of them carrying the entry's frame.

    JSON of an object stays JSON of an object with the same keys, and stays as it is where it has no
    long string; anything else becomes the frame and its head.
    """
    cutter = _Cutter(frame, head_characters, most_names, known)
    try:
        value = cutter.cut(json.loads(arguments))
    except json_text.UNREADABLE:
        value = None
    if not isinstance(value, dict):
        return f"{frame}\n{as_content(arguments[:head_characters])}".rstrip()
    return json.dumps(value, ensure_ascii=False) if cutter.has_cut else arguments


class _Cutter:
    """Cuts strings and puts the frame into the first one cut."""

    def __init__(
        self, frame: str, head_characters: int, most_names: int, known: Container[str]
    ) -> None:
        self._frame = frame
        self._head = head_characters
        self._names = most_names
        self._known = known

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
            kept = f"{as_content(value[: self._head])}… (+{len(value) - self._head} chars)"
            rendered = [each for each in (frame, kept, self._named(value)) if each]
            return "\n".join(rendered)
        return value

    def _named(self, value: str) -> str:
        """Return names in the cut part that stand nowhere else, in the order in which they came."""
        found = dict.fromkeys(IDENTIFIER.findall(value[self._head :]))
        telling = (name for name in found if NAMED.search(name) and name not in self._known)
        return " ".join(itertools.islice(telling, self._names))
