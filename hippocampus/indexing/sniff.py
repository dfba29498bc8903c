"""What kind of content a text is, told from the text itself. Pure; no tool's name decides."""

from __future__ import annotations

import json
import re
from typing import Literal

Kind = Literal["json", "html", "code", "diff", "log", "table", "listing", "prose", "text"]

SAMPLE_LINES = 200
LONG_LINE_CHARACTERS = 2_000
NUMBERED = re.compile(r"^\s*\d+[\t:|→-]")
CODE = re.compile(
    r"^\s*(def |class |import |from \S+ import|async def |function |const |let |var |export |public "
    r"|private |protected |static |#include|package |func |fn |impl |use |struct |return\b|if ?\(|"
    r"for ?\(|while ?\(|\}|\{|//|/\*|\*/|@\w+|else\b|elif |try\b|except|raise |self\.)|[;{]\s*$"
)
LOG = re.compile(
    r"^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:|^\s*(ERROR|WARN|WARNING|INFO|DEBUG|FAILED|PASSED|Traceback)\b"
)
PATH = re.compile(r"^\S*[\w.-]+(/[\w.@-]+)+/?$|^[-dl][rwx-]{9}")
SENTENCE = re.compile(r"[a-zà-ÿ],? [a-zà-ÿ]+ .*[a-zà-ÿ]|[\u3040-\u9fff]{6,}")
SHARE = 0.3
"""A kind needs this share of the lines looked at."""


def kind_of(text: str) -> Kind:
    """Return the kind of a text by its first lines."""
    start = text.lstrip()[:2_000]
    if start[:1] in "{[" and is_json(text):
        return "json"
    if re.match(r"(?i)<!doctype html|<html|<(div|body|head|table)\b", start):
        return "html"
    if start.startswith(("diff --git", "--- ", "Index: ", "*** Begin Patch")):
        return "diff"
    return _by_lines(text)


def is_json(text: str) -> bool:
    """Say whether the whole text is one JSON value."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _by_lines(text: str) -> Kind:
    lines = [NUMBERED.sub("", line) for line in text[:100_000].splitlines() if line.strip()]
    sample = [line[:LONG_LINE_CHARACTERS] for line in lines[:SAMPLE_LINES]]
    if not sample:
        return "text"
    patterns: list[tuple[Kind, re.Pattern[str], float]] = [
        ("log", LOG, SHARE),
        ("listing", PATH, 0.6),
        ("code", CODE, SHARE),
        ("prose", SENTENCE, SHARE),
    ]
    for kind, pattern, share in patterns:
        if sum(1 for line in sample if pattern.search(line)) >= share * len(sample):
            return kind
    return "text"
