"""Sentences and links of a paragraph, in any language. Pure, linear."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

END = re.compile(r"[.!?…؟।][\"”’')\]*_]{0,3}\s+|[。！？]+[”」』》]?")
ABBREVIATED = re.compile(r"(?:\b[A-Z]|\b(?:Mr|Mrs|Ms|Dr|St|vs|No|cf|e\.g|i\.e))\.\s+$")
LINK = re.compile(
    r"!?\[((?:[^\[\]\n]|\[[^\[\]\n]{0,100}\]){0,300})\]\(<?([^\s()\[\]<>]++(?:\([^\s()\[\]<>]{0,100}\)[^\s()\[\]<>]*+)*+)>?(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
)
IMAGE_INSIDE = re.compile(
    r"!\[([^\[\]\n]{0,200})\]\([^\s()\[\]<>]{1,2000}(?:[ \t]+\"[^\"\n]{0,200}\")?\)"
)
BARE = re.compile(r"https?://[^\s<>\"'`|\[\]{}（）「」，。、]+")
MARKS = re.compile(r"\*\*|__|`|</?(?:b|i|em|strong|u|br ?/?|p|span|div)>")
LEAST_SHORT_LINES = 3
SHORT_LINE = 50
"""A paragraph of shorter lines than this, on average, is a list of them."""
SHORT = 25
"""A piece shorter than this is no sentence: an abbreviation, an initial, a number."""
SHORT_LINKS = 90
"""Addresses up to here stand next to their label in its own line."""


def clip(text: str, most: int) -> str:
    """Return a text on one line of at most `most` characters, cut at a space where there is one.

    Languages without spaces are cut between characters.
    """
    flat = " ".join(text[: 4 * most].split())
    if len(flat) <= most:
        return flat
    gap = flat.rfind(" ", most * 2 // 3, most)
    return flat[: gap if gap > 0 else most] + "…"


def links_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield the links of a text with their labels, whole."""
    marked = "](" in text
    if not marked and "://" not in text:
        return
    plain = IMAGE_INSIDE.sub(r"\1", text) if "![" in text else text
    for label, url in LINK.findall(plain) if marked else ():
        yield " ".join(MARKS.sub("", label).split()), url
    for match in BARE.finditer(LINK.sub("", plain) if marked else plain):
        yield "", match[0].rstrip(".,;:!?)*_")


def unlinked(text: str) -> str:
    """Return a text without the addresses of its links, without images and marks of emphasis."""
    if "](" in text:
        text = LINK.sub(r"\1", IMAGE_INSIDE.sub("", text))
    return MARKS.sub("", text)


def with_links(text: str, links: Sequence[tuple[str, str]]) -> str:
    """Return a text with its links inline where they are few and short, or nothing."""
    if (
        "](" not in text
        or not links
        or len(links) > 2
        or sum(len(url) for _, url in links) > SHORT_LINKS
    ):
        return ""
    return MARKS.sub("", LINK.sub(r"\1 <\2>", IMAGE_INSIDE.sub("", text)))


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a paragraph, or its lines where they are short.

    Pieces too short for a sentence go with what follows them.
    """
    lines = text.count("\n") + 1
    if lines >= LEAST_SHORT_LINES and len(text) < SHORT_LINE * lines:
        yield from text.split("\n")
        return
    start = 0
    least = SHORT if text.isascii() else SHORT // 3
    for end in END.finditer(text):
        whole = end.end() - start >= least
        if whole and not ABBREVIATED.search(text, max(start, end.end() - 8), end.end()):
            yield text[start : end.end()].strip()
            start = end.end()
    if rest := text[start:].strip():
        yield rest
