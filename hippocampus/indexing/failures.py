"""The message of a failed tool, whole in its entry whatever the kind of content. Pure."""

from __future__ import annotations

import re

from hippocampus.indexing.extraction import EntryLine, Extraction, with_lines_before

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
OPENING, BEFORE, BEHIND, ENDING = 160, 60, 200, 240
"""Characters of a long message that are shown at its start, around what decided, and at its end."""


def with_message(extraction: Extraction, text: str) -> Extraction:
    """Return an extraction that begins with the message of a failure, which is always shown."""
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
    """Return a line whole, or of a long one its start, its end and the words around what decided.

    That is the last status code, or the last word of failure: what a message echoes of a call comes before.
    """
    if len(line) <= MESSAGE_CHARACTERS:
        return line
    end = len(line) - ENDING
    found = [*STATUS.finditer(line, OPENING, end)] or [*SAYS_SO.finditer(line, OPENING, end)]
    start = max(OPENING, found[-1].start() - BEFORE) if found else end
    middle = line[start : min(end, start + BEFORE + BEHIND)]
    return " … ".join(filter(None, (line[:OPENING], middle, line[end:])))
