"""Blocks of a text: headings, paragraphs, list items, table rows, code. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

HEADING = re.compile(r" {0,3}(#{1,6})\s+(.*?)[\s#]*$")
UNDERLINE = re.compile(r" {0,3}(={3,}|-{3,}|\*{4,}|~{4,}|\^{4,}|\"{4,})\s*")
LEVELS = {"=": 1, "*": 1, "~": 3, "^": 3, '"': 4}
"""How deep the heading above a line of such signs stands; under others, on the second level."""
ITEM = re.compile(r"(\s*)(?:[-*+•·‣]|\d{1,4}[.)]|[a-z][.)])\s+(\S.*)")
FENCE = re.compile(r"\s*(?:```|~~~)")
NUMBERED = re.compile(
    r"(?:\d{1,3}\.)+\d{0,3}\s+\S.{0,100}$|(?:Chapter|CHAPTER|Section|SECTION) \S{1,12}\b.{0,100}$|第.{1,8}[章节節回部].{0,60}$"
)
RULE = re.compile(r"[\s*_=~+-]*|[\s|:=+-]*")
LONGEST_LINE = 20_000
"""A line behind this is a paragraph whatever it starts with."""
SHORT_CHARACTERS = 80
MOST_LINES_OF_PARAGRAPH = 400


@dataclass(frozen=True, slots=True)
class ProseBlock:
    """One block of a text."""

    sort: Literal["heading", "text", "item", "row", "code"]
    text: str
    line: int
    """The number of its first line, from 1."""
    level: int = 0
    """How deep a heading or an item stands, from 1 and from 0."""


def blocks_of(text: str) -> Iterator[ProseBlock]:
    """Yield the blocks of a text in order."""
    return _BlockReader(text.split("\n")).read()


class _BlockReader:
    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._held: list[str] = []
        self._start = 0

    def read(self) -> Iterator[ProseBlock]:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if FENCE.match(line):
                yield from self._flush()
                stop = self._fence_end(at)
                yield ProseBlock("code", "\n".join(self._lines[at + 1 : stop]), at + 2)
                at = stop
            elif not line.strip():
                yield from self._flush()
            else:
                yield from self._line(at, line)
            at += 1
        yield from self._flush()

    def _fence_end(self, at: int) -> int:
        for stop in range(at + 1, len(self._lines)):
            if FENCE.match(self._lines[stop]):
                return stop
        return len(self._lines)

    def _line(self, at: int, line: str) -> Iterator[ProseBlock]:
        block = self._block(at, line) if len(line) < LONGEST_LINE else None
        if block is not None:
            yield from self._flush()
            yield block
        elif len(self._held) == 1 and UNDERLINE.fullmatch(line[:200]):
            level = LEVELS.get(line.strip()[0], 2)
            yield ProseBlock("heading", self._held.pop(), self._start + 1, level)
        elif not _is_rule(line):
            self._hold(at, line)
            if len(self._held) >= MOST_LINES_OF_PARAGRAPH:
                yield from self._flush()

    def _block(self, at: int, line: str) -> ProseBlock | None:
        heading = HEADING.match(line) if line.lstrip()[:1] == "#" else None
        if heading:
            return ProseBlock("heading", heading[2], at + 1, len(heading[1]))
        item = ITEM.match(line)
        if item:
            return ProseBlock("item", item[2], at + 1, min(4, len(item[1].expandtabs(4)) // 2))
        if line.lstrip()[:1] == "|" and line.count("|") > 2:
            row = line.strip().strip("|")
            return None if _is_rule(line) else ProseBlock("row", " | ".join(row.split("|")), at + 1)
        return None

    def _hold(self, at: int, line: str) -> None:
        if not self._held:
            self._start = at
        self._held.append(line)

    def _flush(self) -> Iterator[ProseBlock]:
        if not self._held:
            return
        held, self._held = self._held, []
        if len(held) == 1 and self._reads_as_heading(held[0]):
            yield ProseBlock("heading", held[0].strip(" *_"), self._start + 1, 3)
        else:
            yield ProseBlock("text", "\n".join(held), self._start + 1)

    def _reads_as_heading(self, line: str) -> bool:
        """Return whether a line alone between blank ones is a heading: bold, numbered or in capitals."""
        bare = line.strip()
        if len(bare) > SHORT_CHARACTERS:
            return False
        bold = bare.startswith("**") and bare.endswith("**")
        capitals = bare.isupper() and len(bare) > 3 and " " in bare
        return bold or capitals or NUMBERED.match(bare) is not None


def _is_rule(line: str) -> bool:
    return RULE.fullmatch(line[:300]) is not None
