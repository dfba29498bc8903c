"""The outline of a source in any language: the lines that open a block and define something. Pure."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

INSIDE = re.compile(
    r"[})\]]?\s*(?:if|elif|else|for|foreach|while|until|unless|switch|match|case|when|try|catch|except|rescue"
    r"|finally|with|using|do|select|default|loop|return|yield|raise|throw|await|go|defer)\b|.*,$"
)
"""A line, without blanks around it, that opens a block and defines nothing."""
BODY_LINES = 24
"""A definition of so few lines may be shown with its body."""


class Definition(NamedTuple):
    """A line that opens a block."""

    at: int
    """Its place among the lines."""
    depth: int
    """The characters by which it is indented."""
    body: range
    """The places of its lines up to the end of the block; empty where that is not near."""


def depth_of(line: str) -> int:
    """Return the characters by which a line is indented."""
    return len(line) - len(line.lstrip())


def definitions(lines: Sequence[str]) -> Iterator[Definition]:
    """Yield the lines below which two or more are indented further, but for control flow."""
    filled = [at for at, line in enumerate(lines) if any(map(str.isalnum, line))]
    depths = [depth_of(lines[at]) for at in filled]
    for place, (depth, below) in enumerate(itertools.pairwise(depths)):
        if below <= depth:
            continue
        at, end = filled[place], place + 2
        while end < min(len(filled), place + BODY_LINES) and depths[end] > depth:
            end += 1
        if not INSIDE.match(lines[at].strip()):
            last = filled[end - 1] + (end < len(filled))
            is_near = end < place + BODY_LINES
            yield Definition(at, depth, range(at, last + 1 if is_near else at))
