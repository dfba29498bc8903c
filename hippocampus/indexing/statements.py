"""Lines that read only together: a condition or a call that goes on over several lines. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

MAX_LINES = 8
"""A longer one is a list or a table, whose lines are read one by one."""
QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`|(?://|#\s).*")
OPEN_ENDS = ("&&", "||", "\\", " =", "?", " and", " or")
OPENINGS = ("&&", "||", "?", ".", "and", "or")
CONTINUES = re.compile(r"\s*(?:&&|\|\||\?[\s.]|\.\w+\(|(?:and|or)\b)")


def statement_spans(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last place of each statement; most are one line."""
    at = 0
    while at < len(lines):
        last = _last_of(lines, at)
        yield at, last
        at = last + 1


def _last_of(lines: Sequence[str], first: int) -> int:
    """Return where the statement ends that starts at a line; there, where it finds no end."""
    depth, end = 0, min(len(lines), first + MAX_LINES)
    for at in range(first, end):
        depth += _opened(lines[at])
        goes_on = depth > 0 or lines[at].rstrip().endswith(OPEN_ENDS)
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if not goes_on and not (
            following.lstrip().startswith(OPENINGS) and CONTINUES.match(following)
        ):
            return at
    return end - 1 if end == len(lines) and end - first < MAX_LINES else first


def _opened(line: str) -> int:
    """Return how many more brackets a line opens than it closes."""
    if "(" not in line and "[" not in line and ")" not in line and "]" not in line:
        return 0
    if "'" in line or '"' in line or "`" in line or "//" in line or "#" in line:
        line = QUOTED.sub("", line)
    return line.count("(") + line.count("[") - line.count(")") - line.count("]")
