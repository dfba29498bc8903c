"""Terms that a text explains: a short line above an indented one, as manuals write them.

Pure, linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

TERM = re.compile(r"(?P<indent> {0,8})(?P<term>[\w\"'`<\[(*!?.-](?:[^\n]{0,58}[\w\"'`>\])*])?)")
MORE_CHARACTERS = 2
"""How much further in an explanation stands, at the least."""
LONGEST = 40
MOST_TERMS = 80
ITEM = re.compile(r"[-*+•] |\d+[.)] |>>> |\.\.\.? |from \S+ import |import ")


def terms_of(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield each term with the number of its line, from 1."""
    found = 0
    for at, line in enumerate(lines):
        if len(line) > LONGEST or not _is_alone(lines, at):
            continue
        match = TERM.fullmatch(line.rstrip())
        if match and not ITEM.match(match["term"]) and _is_explained(lines, at, match["indent"]):
            yield at + 1, match["term"]
            found += 1
            if found >= MOST_TERMS:
                return


def _is_alone(lines: Sequence[str], at: int) -> bool:
    """Return whether a line begins a paragraph."""
    return bool(lines[at].strip()) and (at == 0 or not lines[at - 1].strip())


def _is_explained(lines: Sequence[str], at: int, indent: str) -> bool:
    """Return whether indented words follow, at once or behind an empty line."""
    after = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
    inner = len(after) - len(after.lstrip(" "))
    words = after.split()
    return inner >= len(indent) + MORE_CHARACTERS and len(words) > 3 and words[0][0].isupper()
