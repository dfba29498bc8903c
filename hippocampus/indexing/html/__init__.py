"""Pages: HTML, accessibility trees and browser snapshots, read into what a later call may name.

Decided from the text itself; nothing is fetched, and no script is run.
"""

from __future__ import annotations

import re

from hippocampus.indexing import plain
from hippocampus.indexing.extraction import Extraction
from hippocampus.indexing.html.items import write_page
from hippocampus.indexing.html.page import read_page
from hippocampus.indexing.html.snapshot import LINE_CHARACTERS, read_snapshot, snapshot_line

__all__ = ["extract", "recognises"]

SAMPLE_CHARACTERS = 20_000
SAMPLE_LINES = 120
MIN_CONFIDENCE = 0.4
OPENING = re.compile(r"\s{0,2000}(?:<!doctype html|<html\b|<head\b|<body\b)", re.IGNORECASE)
TAGS = re.compile(
    r"</?(?:div|span|p|a|li|ul|table|tr|td|h[1-6]|button|input|form|section|nav|script|meta|link|label|img|"
    r"element|textbox|heading|main|header|footer|br|b|i|strong|em)(?=[\s/>])[^<>]{0,400}>",
    re.IGNORECASE,
)
COMPONENT = ("className=", "={() =>", "=> {", "import React", "@click=", "v-if=")
"""Signs of a source with markup in its code."""
NUMBERED_TAG = re.compile(r"^[ \t]*\*?\[\d+\]<\w", re.MULTILINE)
"""A line of a snapshot such as `[12]<button>Send</button>`, which has its ref and its label."""
CHARACTERS_PER_TAG = 400
"""A page has a tag at least so often."""


def recognises(text: str) -> float:
    """Return how surely a text is a page or a snapshot of one."""
    return max(_is_markup(text), _is_snapshot(text))


def extract(text: str) -> Extraction | None:
    """Return the extraction of a page, or nothing for another text; numbered tags stay as they are."""
    markup, snapshot = _is_markup(text), _is_snapshot(text)
    if max(markup, snapshot) < MIN_CONFIDENCE:
        return None
    if markup <= snapshot and NUMBERED_TAG.search(text):
        return plain.extract(text, "page")
    page = read_page(text) if markup > snapshot else read_snapshot(text)
    return write_page(page) if page.items or page.title else None


def _is_markup(text: str) -> float:
    if OPENING.match(text):
        return 1.0
    sample = text[:SAMPLE_CHARACTERS]
    if "<" not in sample or any(sign in sample for sign in COMPONENT):
        return 0.0
    start = sample.lstrip()
    found = len(TAGS.findall(sample))
    share = found * CHARACTERS_PER_TAG / max(len(sample), CHARACTERS_PER_TAG)
    if found < 3:
        return 0.0
    return min(1.0, share / 2) if start[:1] == "<" else min(0.6, share / 8)


def _is_snapshot(text: str) -> float:
    lines = [line.rstrip()[:LINE_CHARACTERS] for line in text[:SAMPLE_CHARACTERS].split("\n")]
    sample = [line for line in lines if line.strip()][:SAMPLE_LINES]
    if len(sample) < 3:
        return 0.0
    share = sum(map(snapshot_line, sample)) / len(sample)
    return min(1.0, share * 1.2) if share >= 0.35 else 0.0
