"""The message of a failed tool, whole in its entry whatever the kind of content. Pure."""

from __future__ import annotations

import re

from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import with_lines_before

SAYS_SO = re.compile(
    r"(?i)\b(?:\w*error|\w*exception|fail(?:ed|ure)?|fatal|denied|not found|invalid)\b"
)
PASSED = re.compile(
    r"(?i)^\W*(?:ok\b|pass|[✓✔]|Subtest:)|\bfail(?:ed|ures|ing)?:? 0\b|\b0 (?:fail|error)"
)
"""A passing test may be about an error, and a count of failures may be 0."""
MAX_LINES = 8
MESSAGE_CHARACTERS = 1_200
"""A longer line of a message is cut; messages are short, dumps are not messages."""
SCANNED_CHARACTERS = 2_000_000
STATUS = re.compile(r"(?<![\w.-])[45]\d\d(?![\w-]|\.\d)")
SENTENCE = re.compile(r"[.!?;] ")
OPENING, BEFORE, BEHIND, ENDING = 160, 60, 200, 240
"""Characters of a long message that are shown at its start, around a telling word, and at its end."""


def with_message(extraction: Extraction, text: str) -> Extraction:
    """Return an extraction whose first lines are the message of a failure, which are always shown."""
    message = [EntryLine(line, keep=True, count=0) for line in message_of(text)]
    return with_lines_before(extraction, message)


def message_of(text: str) -> list[str]:
    """Return the first line, those with a word of failure, and the last."""
    lines = [line.strip() for line in text[:SCANNED_CHARACTERS].splitlines() if line.strip()]
    if not lines:
        return []
    telling = [
        line
        for line in lines[1:-1]
        if SAYS_SO.search(line[:MESSAGE_CHARACTERS]) and not PASSED.search(line[:OPENING])
    ]
    ends = dict.fromkeys((lines[0], *telling[: MAX_LINES - 2], lines[-1]))
    return list(map(_short, ends))


def _short(line: str) -> str:
    """Return a line whole, or of a long one its ends and the words around its status codes.

    The last sentence comes first, then status codes, then words of failure, the later ones before the
    earlier: what a message echoes of a call precedes what decided.
    """
    if len(line) <= MESSAGE_CHARACTERS:
        return line
    last = max((match.end() for match in SENTENCE.finditer(line, len(line) - ENDING)), default=0)
    spans = [(max(last, len(line) - ENDING), len(line)), (0, OPENING)]
    for pattern in (STATUS, SAYS_SO):
        found = list(pattern.finditer(line))[-MAX_LINES:]
        spans += [(max(0, m.start() - BEFORE), m.end() + BEHIND) for m in reversed(found)]
    shown: set[int] = set()
    for start, end in spans:
        wider = shown.union(range(start, min(end, len(line))))
        if len(wider) <= MESSAGE_CHARACTERS:
            shown = wider
    pieces: list[str] = []
    for at in sorted(shown):
        if at and at - 1 not in shown:
            pieces.append(" … ")
        pieces.append(line[at])
    return "".join(pieces)
