"""Prose: its headings with their lines, then its own lines and sentences.

Reads Markdown and plain text in any language, also in those without spaces. Pure, linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hippocampus.indexing.excerpt import TextRow, excerpt, rows_of
from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import clip, counted, lines_in, packed, ranked
from hippocampus.indexing.templates import map_alike
from hippocampus.indexing.thin import thinned


@dataclass(frozen=True, slots=True)
class ProseWeights:
    """What the lines of a text are worth, relative to each other; chosen by reading."""

    outline: float = 12.0
    heading: tuple[float, ...] = (2.0, 2.0, 1.4, 1.0)
    """By level, where no outline names them."""
    lead: float = 4.0
    lead_lines: int = 3
    opening: float = 1.2
    """The first line below a heading."""
    text: float = 0.9
    """A sentence or an item of a list."""
    code: float = 0.2
    crumb: float = 0.02
    figure: float = 0.5
    """Added for a date, an amount, a figure."""
    named: float = 0.5


WEIGHTS = ProseWeights()
SUREST = 0.95
"""Sentences stand in contents of other kinds, too."""
SAMPLE_CHARACTERS = 12_000
SAMPLE_LINES = 150
LINE_CHARACTERS = 2_000
OUTLINE_LEVEL, OUTLINE_CHARACTERS = 3, 70
TITLE_CHARACTERS = 120
LEAST_TITLED = 3
"""A text of fewer lines opens with its lines alone."""
CRUMB_CHARACTERS = 20
HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)[\s#]*$")
UNDERLINE = re.compile(r" {0,3}(={3,}|-{3,}|\*{4,}|~{4,}|\^{4,}|\"{4,})\s*")
LEVELS = {"=": 1, "*": 1, "~": 3, "^": 3, '"': 4}
"""The level of a heading above a line of such signs; 2 under others."""
BOLD = re.compile(r"\s*(?:\*\*|__)(?P<words>[^*_\n]{2,80})(?:\*\*|__):?\s*")
NUMBERED = re.compile(
    r"(?:\d{1,3}\.)+\d{0,3}\s+\S.{0,80}|(?:Chapter|CHAPTER|Section|SECTION) \S{1,12}\b.{0,80}|第.{1,8}[章节節回部].{0,60}"
)
FENCE = re.compile(r"\s*(?:```|~~~)")
FIGURE = re.compile(r"\d\d|\d[.,%年万亿億兆]|[$€£¥]")
MARKDOWN = re.compile(
    r"#{1,6} \S|\s{0,8}(?:[-*+•] |\d{1,3}[.)] )\S|> |\*\*\S|!?\[[^\]\n]{0,200}\]\(|\|.*\|"
)
SENTENCE = re.compile(
    r"(?:[^\W\d_]+['’,;:.()\"“”%-]{0,3} +(?:[\d,.%$€£–—-]+ +)?){5}|(?:[^\W\d_]['’-]?){1,30} .{20,}[.!?:…][\"”')\]*_]*$"
    r"|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]{6}"
)
CODE = re.compile(
    r"\s*(?:def |class |import |from \S+ import|return\b|const |let |var |if ?\(|for ?\(|#include|public |private |fn |func |@\w+\()"
    r"|\s*[\w.\[\]]+ ?(?:[-+*/|]?=|:=|=>) ?\S|\s*[\w.]+\(.*\)\s*$|</?\w+"
)
ENDS_OF_CODE = (";", "{", "}")
FENCED = re.compile(r"^```[\s\S]*?^```", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ProseHeading:
    """A heading of a text."""

    number: int
    level: int
    words: str


def recognises(text: str) -> float:
    """Return how surely a text is prose, by the lines that read as sentences or as Markdown."""
    sample = text[:SAMPLE_CHARACTERS]
    outside = FENCED.sub("", sample) if "```" in sample else sample
    lines = [line[:LINE_CHARACTERS] for line in outside.split("\n") if line.strip()][:SAMPLE_LINES]
    if not lines:
        return 0.0
    return max(0.0, min(SUREST, sum(map_alike(lines, _likeness)) / len(lines)))


def _likeness(line: str) -> float:
    """Return how much a line reads as prose; one of code speaks against it."""
    is_code = line.rstrip().endswith(ENDS_OF_CODE) or CODE.match(line) is not None
    if SENTENCE.match(line.strip(" \t>*_#-•\"“'‘(|")):
        return 0.2 if is_code else 1.0
    if MARKDOWN.match(line):
        return 0.8
    return -0.3 if is_code else 0.1


TITLE_LINE = re.compile(r"(?i)title: *+(\S.*)")
TITLE_ROWS = 12
"""A title may stand among the first of these, as in the head of a page that was made Markdown."""
TITLE_WORD = re.compile(r"[^\W\d_]{2,}")
"""A title has two words or more: a number or a page mark above it is none."""


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read prose into its outline, its lead and its lines."""
    del context
    if not text.strip():
        return None
    rows = rows_of(text)
    headings = headings_of(rows)
    lines: list[EntryLine] = []
    outlined = [each for each in headings if each.level <= OUTLINE_LEVEL]
    named = [f"{each.number} {clip(each.words, OUTLINE_CHARACTERS)}" for each in outlined]
    lines += ranked(packed(named, "outline", weight=WEIGHTS.outline, count=0))
    filled = [row for row in rows if not UNDERLINE.fullmatch(row.text[:LINE_CHARACTERS])]
    lines += excerpt(
        filled, _weigher(filled, headings, outlined), WEIGHTS.named, has_statements=False
    )
    is_titled = headings and (headings[0].level == 1 or headings[0].number == rows[0].number)
    worded = (row.text for row in rows if len(TITLE_WORD.findall(row.text[:LINE_CHARACTERS])) > 1)
    stated = (TITLE_LINE.match(row.text[:LINE_CHARACTERS]) for row in rows[:TITLE_ROWS])
    title = headings[0].words if is_titled else next(worded, rows[0].text)
    title = next((found[1].strip(" \"'") for found in stated if found), title)
    title = clip(title, TITLE_CHARACTERS)
    total = lines_in(text)
    opening = f"“{title}”" if headings or total > LEAST_TITLED else "prose"
    parts = [opening, counted(total, "line"), _size(text)]
    parts += [counted(len(headings), "heading")] if headings else []
    facts = {"title": title, "headings": len(headings)}
    selectors = (f"lines=[1, {total}]", *(('pattern="^#"',) if headings else ()))
    return Extraction("prose", ", ".join(parts), thinned(lines), facts, selectors, "sentences")


def headings_of(rows: Sequence[TextRow]) -> list[ProseHeading]:
    """Return the headings of a text: marked, underlined, bold alone or numbered."""
    found: list[ProseHeading] = []
    code = _code(rows)
    numbers = {row.number for row in rows}
    for at, row in enumerate(rows):
        line = row.text
        if row.number in code or len(line) > LINE_CHARACTERS:
            continue
        marked = HEADING.match(line) if line.lstrip()[:1] == "#" else None
        below = rows[at + 1] if at + 1 < len(rows) else None
        if marked:
            found.append(ProseHeading(row.number, len(marked[1]), marked[2]))
        elif below and below.number == row.number + 1 and UNDERLINE.fullmatch(below.text[:200]):
            if row.number - 1 not in numbers and not line.lstrip().startswith("|"):
                level = LEVELS.get(below.text.strip()[0], 2)
                found.append(ProseHeading(row.number, level, line.strip()))
        elif len(line) < TITLE_CHARACTERS and not {row.number - 1, row.number + 1} & numbers:
            bold = BOLD.fullmatch(line)
            if bold or NUMBERED.fullmatch(line.strip()):
                found.append(ProseHeading(row.number, 3, bold["words"] if bold else line.strip()))
    return found


def _code(rows: Sequence[TextRow]) -> dict[int, float]:
    """Return the lines between fences, and the fences, with their weights."""
    found: dict[int, float] = {}
    is_code = False
    for row in rows:
        is_fence = FENCE.match(row.text) is not None
        if is_fence or is_code:
            found[row.number] = WEIGHTS.crumb if is_fence else WEIGHTS.code
        is_code ^= is_fence
    return found


def _size(text: str) -> str:
    words = len(text.split())
    return (
        f"about {counted(words, 'word')}"
        if words * 12 > len(text)
        else counted(len(text), "character")
    )


def _weigher(
    rows: Sequence[TextRow], headings: Sequence[ProseHeading], outlined: Sequence[ProseHeading]
) -> Callable[[TextRow], float]:
    """Return what weighs a line: a heading, the lead, an opening, an item, code, other text."""
    last = len(WEIGHTS.heading) - 1
    by_number = {each.number: WEIGHTS.heading[min(each.level - 1, last)] for each in headings}
    by_number |= {each.number: WEIGHTS.crumb for each in outlined}
    special = _code(rows) | by_number
    lead, after_heading = WEIGHTS.lead_lines, False
    for row in rows:
        if row.number in special:
            after_heading = row.number in by_number
        elif len(row.text.strip()) < CRUMB_CHARACTERS:
            special[row.number] = WEIGHTS.crumb
        elif lead:
            lead -= 1
            special[row.number] = WEIGHTS.lead
        elif after_heading:
            after_heading = False
            special[row.number] = WEIGHTS.opening

    def weigh(row: TextRow) -> float:
        known = special.get(row.number)
        if known is not None:
            return known
        line = row.text.strip()[:LINE_CHARACTERS]
        if not SENTENCE.match(line):
            return WEIGHTS.code
        return WEIGHTS.text + (WEIGHTS.figure if FIGURE.search(line) else 0.0)

    return weigh
