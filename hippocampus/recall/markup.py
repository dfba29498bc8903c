"""Elements of pages: by the ref of a snapshot, an id, or a simple HTML selector. Pure, linear."""

from __future__ import annotations

import itertools
import re

import re2

from hippocampus.policy.matching import searchable
from hippocampus.recall.fitting import NumberedLine
from hippocampus.recall.patterns import compiled, matching
from hippocampus.recall.sections import indent_of, lines_of

REF = re.compile(r"(?:ref=|uid=|@)?[\"\[]?(?P<ref>[A-Za-z]{0,3}\d[\w.:-]{0,20})[\"\]]?")
SELECTOR = re.compile(
    r"(?P<tag>[a-zA-Z][\w-]*)?(?:#(?P<id>[\w:-]+)|\.(?P<class>[\w-]+)|"
    r"\[(?P<name>[\w:-]+)=[\"']?(?P<value>[^\"'\]]+)[\"']?\])?"
)
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())  # noqa: SIM905 - reads better so
TAG_NAME = re.compile(r"<([a-zA-Z][\w-]*)")
MAX_ELEMENTS = 200
UNCLOSED_CHARACTERS = 2_000
"""The length of an element that is never closed."""


def find(text: str, path: str) -> list[NumberedLine]:
    """Return the lines of the elements that a ref or a selector names."""
    wanted = path.strip()
    if ref := REF.fullmatch(wanted):
        return _by_ref(text, ref["ref"])
    selector = SELECTOR.fullmatch(wanted)
    if selector is None or not wanted or "<" not in text:
        return []
    tag = re2.escape(selector["tag"]) if selector["tag"] else "[a-z][a-z0-9-]*"
    if selector["id"]:
        name, value = "id", re2.escape(selector["id"])
    elif selector["class"]:
        name, value = "class", rf"[^\"'<>]*\b{re2.escape(selector['class'])}\b[^\"'<>]*"
    elif selector["name"]:
        name, value = re2.escape(selector["name"]), re2.escape(selector["value"])
    else:
        return _elements(text, rf"<{tag}[\s/>]")
    quoted = rf"(?:\"{value}\"|'{value}'|{value}[\s/>])"
    return _elements(text, rf"<{tag}\s[^<>]*\b{name}\s*=\s*{quoted}")


def _by_ref(text: str, ref: str) -> list[NumberedLine]:
    """Return the line with a ref, and the lines that are indented below it."""
    named = re2.escape(ref)
    pattern = rf"(?:\b(?:ref|uid)=\"?{named}\"?(?:[^\w]|$)|\[{named}\]|^[\s\-*]*@?{named}[:\s])"
    first = next(matching(text, pattern), None)
    if first is None or "<html" in text[:2_000]:
        return _elements(text, rf"<[a-z][^<>]*(?:id|ref|data-ref|uid)\s*=\s*[\"']?{named}[\"'\s/>]")
    lines = text.split("\n")
    indent = indent_of(lines[first.number - 1])
    end = first.number
    while end < len(lines) and lines[end].strip() and indent_of(lines[end]) > indent:
        end += 1
    return [NumberedLine(at + 1, lines[at]) for at in range(first.number - 1, end)]


def _elements(text: str, opening: str) -> list[NumberedLine]:
    """Return the lines of the elements whose opening tags match, each line once."""
    plain, found, end = searchable(text), list[NumberedLine](), 0
    matches = compiled(f"(?i)(?s){opening}", across_lines=True).finditer(plain)
    for match in itertools.islice(matches, MAX_ELEMENTS):
        if (start := match.start()) >= end:
            end = _end(plain, start)
            found += lines_of(text, start, end)
    return found


def _end(text: str, start: int) -> int:
    """Return the end of the element that starts at a position."""
    tag = TAG_NAME.match(text, start, start + 100)
    close = text.find(">", start) + 1 or len(text)
    if tag is None or tag[1].lower() in VOID or text[close - 2 : close] == "/>":
        return close
    depth = 0
    for each in compiled(rf"(?i)</?{tag[1]}[\s/>]", across_lines=True).finditer(text[start:]):
        depth += -1 if each.group()[1:2] == "/" else 1
        if depth == 0:
            return (text.find(">", start + each.start()) + 1) or len(text)
    return min(len(text), start + UNCLOSED_CHARACTERS)
