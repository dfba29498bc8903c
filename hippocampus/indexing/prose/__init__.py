"""Prose and pages as text: title, outline, lead, sentences with figures and names, links.

Reads Markdown and plain text in any language, also in those without spaces. Pure, linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hippocampus.indexing.extraction import EntryLine, Extraction, ExtractionContext
from hippocampus.indexing.lines import counted, packed, ranked
from hippocampus.indexing.prose.blocks import ProseBlock, blocks_of
from hippocampus.indexing.prose.terms import terms_of
from hippocampus.indexing.sentences import clip, links_of, sentences_of, unlinked, with_links
from hippocampus.indexing.shapes import identifiers
from hippocampus.indexing.templates import map_alike
from hippocampus.indexing.thin import LIGHT, put, thinned

SUREST = 0.95
"""Sentences stand in contents of other kinds, too."""
SAMPLE_CHARACTERS = 12_000
SAMPLE_LINES = 150
LINE_CHARACTERS = 2_000
SHOWN_CHARACTERS = 280
NAMED_CHARACTERS = 100_000
"""Names are looked for up to here."""
MOST_NAMES = 14
LEAD_SENTENCES, LEAD = 3, 5.0
FEW_HEADINGS, OUTLINE_LEVEL, OUTLINE_CHARACTERS, OUTLINE, TERMS = 4, 3, 60, 12.0, 12.0
CRUMB, CRUMB_CHARACTERS = 0.2, 24
"""A piece this short carries little, and costs more than it looks."""
SHORT_SENTENCE = 45
"""A shorter one carries little alone."""
MOST_LINES = 2_500
"""Behind these a paragraph is its first sentence."""
MOST_WRITTEN = 5_000
"""Behind these blocks are counted only."""
HEADING_WEIGHTS = (2.0, 2.0, 1.4, 1.0)
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
NAME = re.compile(
    r"[A-ZÀ-ÞА-Я](?<!\w.)[\w’'-]++(?: (?:(?:of|de|van|von|the|for|and|&) )?[A-ZÀ-ÞА-Я][\w’'-]++){1,4}"
)
TITLED = re.compile(r"[《「『]([^《》「」『』\n]{2,30})[》」』]")
FENCED = re.compile(r"^```[\s\S]*?^```", re.MULTILINE)
FIGURE = re.compile(r"\d")
DATED = re.compile(
    r"\b(?:19|20)\d\d\b|\d{4}-\d\d|\d年|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* \d"
)
MEASURED = re.compile(
    r"[$€£¥%％]|\d+(?:[.,]\d+)+|\b\d+ (?:million|billion|percent|thousand)|\d[万亿億兆]"
)


def recognises(text: str) -> float:
    """Return how surely a text is prose, by the lines that read as sentences or as Markdown."""
    sample = text[:SAMPLE_CHARACTERS]
    outside = FENCED.sub("", sample) if "```" in sample else sample
    lines = [line[:LINE_CHARACTERS] for line in outside.split("\n") if line.strip()][:SAMPLE_LINES]
    if not lines:
        return 0.0
    rendered = sum(map_alike(lines, _tells))
    return max(0.0, min(SUREST, rendered / len(lines)))


def _tells(line: str) -> float:
    """Return how much a line reads as prose; one of code speaks against it."""
    if SENTENCE.match(line.strip(" \t>*_#-•\"“'‘(|")):
        return 0.2 if _is_code(line) else 1.0
    if MARKDOWN.match(line):
        return 0.8
    return -0.3 if _is_code(line) else 0.1


def _is_code(line: str) -> bool:
    return line.rstrip().endswith(ENDS_OF_CODE) or CODE.match(line) is not None


def extract(text: str, context: ExtractionContext) -> Extraction | None:
    """Read prose into its outline, lead, sentences, items and links."""
    del context
    if not text.strip():
        return None
    writer = _ProseWriter()
    for block in blocks_of(text):
        writer.write(block)
    writer.close()
    above = _outline(writer, text)
    if names := _names(text):
        above.append(EntryLine(f"names: {', '.join(names)}", 1.2, count=0))
    writer.lines[:0] = above
    title = writer.title or clip(text.strip().split("\n", 1)[0], 120)
    facts = {"title": title, "headings": writer.headings, "links": len(writer.links)}
    summary = ", ".join([f"“{title}”", *_sizes(text, writer)])
    return Extraction(
        "prose",
        summary,
        _shifted(writer.lines, len(above)),
        facts,
        _selectors(text, writer),
        "sentences",
    )


def _outline(writer: _ProseWriter, text: str) -> list[EntryLine]:
    """Return the headings with their lines together, and the terms, where there are many."""
    rendered = writer.outline if len(writer.outline) > FEW_HEADINGS else []
    lines = list(ranked(packed(rendered, "outline", weight=OUTLINE, count=0)))
    terms = [f"{term} {line}" for line, term in terms_of(text.split("\n"))]
    if len(terms) > FEW_HEADINGS:
        lines += ranked(packed(terms, "terms", weight=TERMS, count=0))
    return lines


def _sizes(text: str, writer: _ProseWriter) -> Iterator[str]:
    yield counted(text.count("\n") + 1, "line")
    words = text.count(" ") + text.count("\n")
    yield (
        counted(len(text), "character")
        if words * 12 < len(text)
        else f"about {counted(words, 'word')}"
    )
    if writer.headings:
        yield counted(writer.headings, "heading")
    if writer.links:
        yield counted(len(writer.links), "link")


def _selectors(text: str, writer: _ProseWriter) -> tuple[str, ...]:
    return (
        f"lines=[1, {text.count(chr(10)) + 1}]",
        *(('pattern="^#"',) if writer.headings else ()),
    )


def _shifted(lines: Sequence[EntryLine], by: int) -> tuple[EntryLine, ...]:
    """Return lines whose parents count the lines put before them; those have none."""
    moved = [
        line if line.parent is None else replace(line, parent=line.parent + by) for line in lines
    ]
    return thinned(moved)


def _names(text: str) -> list[str]:
    """Return names that come more than once, the most frequent first."""
    counts: dict[str, int] = {}
    head = text[:NAMED_CHARACTERS]
    for name in [*NAME.findall(head), *([] if head.isascii() else TITLED.findall(head))]:
        counts[name] = counts.get(name, 0) + 1
    often = sorted(
        (name for name, count in counts.items() if count > 1), key=lambda name: -counts[name]
    )
    return often[:MOST_NAMES]


class _ProseWriter:
    """Writes blocks as lines below their headings."""

    def __init__(self) -> None:
        self.lines: list[EntryLine] = []
        self.links: set[str] = set()
        self.title = ""
        self.headings = 0
        self.outline: list[str] = []
        self._heading: int | None = None
        self._lead = LEAD_SENTENCES
        self._behind = 0
        """Blocks that are counted only."""
        self._fresh = True
        """Whether nothing stands below the heading yet."""

    def write(self, block: ProseBlock) -> None:
        """Write one block."""
        if len(self.lines) > MOST_WRITTEN * (1 + (block.sort == "heading")):
            self._behind += 1
        elif block.sort == "heading":
            self._write_heading(block)
        elif block.sort == "code":
            self._write_code(block)
        elif block.sort == "text":
            self._write_text(block)
        else:
            self._write_item(block)

    def close(self) -> None:
        """Write how many blocks were only counted."""
        if self._behind:
            rendered = f"… {counted(self._behind, 'block')} behind this"
            self.lines.append(EntryLine(rendered, LIGHT, count=self._behind))

    def _write_heading(self, block: ProseBlock) -> None:
        rendered = clip(unlinked(block.text), SHOWN_CHARACTERS)
        if not rendered:
            return
        titles = not self.title and block.level <= 2
        self.title = self.title or rendered
        self.headings += 1
        if block.level <= OUTLINE_LEVEL:
            self.outline.append(f"{block.line} {clip(rendered, OUTLINE_CHARACTERS)}")
        weight = HEADING_WEIGHTS[min(block.level, len(HEADING_WEIGHTS)) - 1]
        line = EntryLine(f"{block.line}: {'#' * block.level} {rendered}", weight, count=0)
        self._heading = None if titles else put(self.lines, line)
        self._fresh = True
        self._write_links(list(links_of(block.text)))

    def _write_code(self, block: ProseBlock) -> None:
        for at, line in enumerate(block.text.split("\n")):
            if line.strip():
                self._put("    " + clip(line, SHOWN_CHARACTERS), 0.5 if at < 3 else 0.2)

    def _write_text(self, block: ProseBlock) -> None:
        bare, links = unlinked(block.text), list(links_of(block.text))
        if not _mostly_links(links, bare):
            for at, sentence in enumerate(sentences_of(bare)):
                if at and len(self.lines) > MOST_LINES:
                    break
                self._put(clip(sentence, SHOWN_CHARACTERS), self._weight(sentence))
        self._write_links(links)

    def _weight(self, sentence: str) -> float:
        """The lead introduces the text; later on, figures, dates and names distinguish a sentence."""
        first, self._fresh = self._fresh, False
        if self._lead > 0 and len(sentence) > 20:
            self._lead -= 1
            return LEAD
        weight = 0.7 if first else 0.4 if len(sentence) > SHORT_SENTENCE else 0.25
        if FIGURE.search(sentence):
            weight += (
                0.2 + 0.2 * bool(DATED.search(sentence)) + 0.3 * bool(MEASURED.search(sentence))
            )
        return weight

    def _write_item(self, block: ProseBlock) -> None:
        """Write a list item or a table's row; the text around its links, then the links."""
        links = list(links_of(block.text))
        inline = with_links(block.text, links)
        bare = inline or unlinked(block.text)
        if inline or not _mostly_links(links, bare):
            weight = 0.8 if block.sort == "item" else 0.7
            figure = 0.2 if FIGURE.search(bare) else 0.0
            self._put(f"{'  ' * block.level}- {clip(bare, SHOWN_CHARACTERS)}", weight + figure)
        if inline:
            self.links.update(url for _, url in links)
        else:
            self._write_links(links)

    def _write_links(self, links: Sequence[tuple[str, str]]) -> None:
        for label, url in links:
            if url not in self.links:
                self.links.add(url)
                weight = 0.9 if "://" in url else 0.3
                rendered = f"{clip(label, 120)} <{url}>" if label and label != url else url
                self._put(f"→ {rendered}", weight, count=0)

    def _put(self, text: str, weight: float, count: int = 1) -> None:
        if text.strip(" -"):
            is_crumb = len(text) < CRUMB_CHARACTERS and not identifiers(text)
            weight = weight * CRUMB if is_crumb else weight
            self.lines.append(EntryLine(text, weight, parent=self._heading, count=count))


def _mostly_links(links: Sequence[tuple[str, str]], bare: str) -> bool:
    """Return whether a block consists of its links' labels."""
    labels = sum(len(label) for label, _ in links)
    return labels > 0 and labels >= 0.7 * len(bare.strip())
