"""Large tool-call arguments made short: the same JSON, its long texts as excerpts.

Paths, ids, names and commands are never shortened; of a text that a call writes, what it defines or
changes stands in its order. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import replace
from typing import Any

from hippocampus.formats import json_text
from hippocampus.indexing.extraction import ExtractionContext
from hippocampus.indexing.frame import as_content
from hippocampus.indexing.select import choose
from hippocampus.indexing.sniff import extraction_of
from hippocampus.indexing.worth import Price
from hippocampus.models import tokens

MOST_TOKENS = 60
"""What the excerpt of one long text weighs at most."""
SHORT_CHARACTERS = 160
"""A text up to here stays whole whatever its key."""
NAMING = re.compile(
    r"(?i)(?:^|_)(?:path|paths|file|files|filename|dir|directory|cwd|workdir|uri|url|id|ids|name|key|ref|branch|"
    r"command|cmd|pattern|glob|regex|query|sql)$|(?:Path|File|Name|Id|Url|Dir|Directory|Command|Query)s?$"
)
"""Keys of values that a later call repeats exactly."""
LONGEST_NAMING = 4_000
"""A longer command carries a text; it is an excerpt like every other."""
HEREDOC = re.compile(r"(<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n)(.*?)(\n\s*\2\b)", re.DOTALL)


def shorten(
    arguments: str,
    frame: str,
    most_tokens: int = MOST_TOKENS,
    known: Container[str] = frozenset(),
) -> str:
    """Return arguments whose long texts are excerpts, the first of them below the entry's frame.

    JSON of an object stays JSON of an object with the same keys, and stays as it is where it has no
    long text; anything else becomes the frame and its excerpt.
    """
    shortener = _Shortener(frame, arguments, most_tokens, known)
    try:
        value = shortener.shorten(json.loads(arguments), "")
    except json_text.UNREADABLE:
        value = None
    if not isinstance(value, dict):
        return f"{frame}\n{shortener.excerpt(arguments)}".rstrip()
    return json.dumps(value, ensure_ascii=False) if shortener.has_shortened else arguments


class _Shortener:
    """Shortens texts and puts the frame before the first of them."""

    def __init__(self, frame: str, arguments: str, most_tokens: int, known: Container[str]) -> None:
        self._frame = frame
        self._arguments = arguments[:2_000]
        self._most = most_tokens
        self._known = known

    @property
    def has_shortened(self) -> bool:
        return not self._frame

    def shorten(self, value: Any, key: str) -> Any:
        """Return a value with its long texts shortened; `key` is the name under which it stands."""
        if isinstance(value, dict):
            return {name: self.shorten(inner, str(name)) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.shorten(inner, key) for inner in value]
        if not isinstance(value, str) or len(value) <= SHORT_CHARACTERS:
            return value
        if NAMING.search(key):
            short = HEREDOC.sub(self._written, value)
            if len(short) <= LONGEST_NAMING:
                return value if short == value else self._framed(short, value)
        return self._framed(self.excerpt(value), value)

    def _written(self, match: re.Match[str]) -> str:
        """Return a text that a command writes, as an excerpt where it is long."""
        if len(match[3]) <= SHORT_CHARACTERS:
            return match[0]
        return match[1] + self.excerpt(match[3]) + match[4]

    def _framed(self, short: str, whole: str) -> str:
        """Return a shortened text below the frame, or the whole where that is no longer."""
        if self._frame and len(self._frame) + len(short) + 1 >= len(whole):
            return whole
        frame, self._frame = self._frame, ""
        return f"{frame}\n{short}" if frame else short if len(short) < len(whole) else whole

    def excerpt(self, text: str) -> str:
        """Return what a text holds: its summary, and its own lines in their order, without lists."""
        context = ExtractionContext(
            arguments=self._arguments, known=self._known, content_tokens=max(1, len(text) // 4)
        )
        extraction = extraction_of(text, context)
        if own := tuple(line for line in extraction.lines if line.number is not None):
            extraction = replace(
                extraction, lines=tuple(replace(line, parent=None) for line in own)
            )
        room = max(0, self._most - tokens.count(extraction.summary))
        chosen = choose(extraction, context, Price(0.0, 1.0, room, room))
        return "\n".join(as_content(line) for line in (extraction.summary, *chosen))
