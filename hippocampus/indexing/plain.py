"""Text of no known kind: its head, its labelled values, its distinctive lines, repeats as counts.

The last to be asked; it takes any text that is not empty. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted
from hippocampus.indexing.sentences import clip
from hippocampus.indexing.templates import Pattern, masked, patterns_of
from hippocampus.indexing.thin import LIGHT, thinned

HEAD_LINES = 8
TAIL_LINES = 3
SHOWN_CHARACTERS = 220
PIECE_CHARACTERS = 200
"""A line with no breaks is read in pieces of about this size."""
LONG_LINE = 1_000
MOST_PIECES = 3_000
MOST_WORDS = 60_000
MOST_PATTERNS = 2_000
MOST_READ = 40_000
"""Lines behind these are counted only."""
LONGEST_VALUE = 2_000
LABELLED = re.compile(r"\s*[\"']?[\w .()/@-]{1,48}?[\"']?\s*[:=]\s+?\S|\s*[\w.-]{1,48}=\S")
TELLING = re.compile(r"\d{3}|[a-z][A-Z]|\w[_/@]\w|[A-Za-z]\d|\d[A-Za-z]")
SPLIT = re.compile(r"(?<=[;,}\])>])|\s+")


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read any text into its head, its labelled values and its distinctive lines."""
    del context
    if not text.strip():
        return None
    whole = text.split("\n")
    rows = list(_rows(whole))
    lines = list(_lines(rows))
    if len(whole) > MOST_READ:
        behind = len(whole) - MOST_READ
        lines.append(EntryLine(f"… {counted(behind, 'line')} behind this", LIGHT, count=behind))
    summary = f"{counted(len(whole), 'line')}, {counted(len(text), 'character')}"
    selectors = (f"lines=[1, {len(whole)}]", 'pattern="…"')
    return Extraction(
        "text", summary, thinned(lines), {"lines": len(whole), "characters": len(text)}, selectors
    )


def _rows(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the filled lines with their numbers; a very long one in pieces."""
    for number, line in enumerate(lines[:MOST_READ], 1):
        if len(line) > LONGEST_VALUE or (len(line) > LONG_LINE and " " in line[:LONG_LINE]):
            for piece in _pieces(line):
                yield number, piece
        elif line and not line.isspace():
            yield number, line


def _pieces(line: str) -> Iterator[str]:
    """Yield a long line in pieces that end where words or values end."""
    held = ""
    for count, word in enumerate(SPLIT.split(line[: MOST_PIECES * PIECE_CHARACTERS])):
        if count > MOST_WORDS:
            break
        if held and len(held) + len(word or "") > PIECE_CHARACTERS:
            yield held
            held = ""
        held = f"{held} {word}" if held and word else held or word or ""
    if held.strip():
        yield held


def _lines(rows: Sequence[tuple[int, str]]) -> Iterator[EntryLine]:
    masks = [mask[:SHOWN_CHARACTERS] for mask in masked("\n".join(row for _, row in rows))]
    patterns = sorted(patterns_of(masks, range(len(rows))), key=lambda pattern: pattern.first)
    for pattern in patterns[:MOST_PATTERNS]:
        yield _line(rows, pattern)
    if behind := sum(pattern.count for pattern in patterns[MOST_PATTERNS:]):
        yield EntryLine(f"… {behind:,} more", LIGHT, count=behind)


def _line(rows: Sequence[tuple[int, str]], pattern: Pattern) -> EntryLine:
    number, row = rows[pattern.first]
    again = f" ×{pattern.count:,}" if pattern.count > 1 else ""
    rendered = f"{number}: {_shown(row)}{again}"
    return EntryLine(rendered, _weight(row, pattern, len(rows)), count=pattern.count)


def _shown(row: str) -> str:
    """Return a line cut; one value without spaces stands whole, such as an address."""
    bare = row.strip()
    return bare if " " not in bare and len(bare) <= LONGEST_VALUE else clip(bare, SHOWN_CHARACTERS)


def _weight(row: str, pattern: Pattern, total: int) -> float:
    """The head identifies a text; labelled and distinctive values are needed later."""
    if pattern.first < HEAD_LINES:
        return 1.5
    weight = 0.6
    if LABELLED.match(row[:SHOWN_CHARACTERS]):
        weight += 0.5
    if TELLING.search(row[:SHOWN_CHARACTERS]):
        weight += 0.4
    return weight + (0.4 if pattern.last >= total - TAIL_LINES else 0.0)
