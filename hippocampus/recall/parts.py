"""What a path names: a part of JSON, a row, a symbol of code, an element of a page, a section. Pure.

The content decides how a path is read; the first finder with a result counts.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from hippocampus.entries.text import storable
from hippocampus.errors import RecallError, nearest
from hippocampus.indexing.code import outline_of
from hippocampus.indexing.code.outline import Symbol, qualified
from hippocampus.indexing.grids import Grid, grid_of
from hippocampus.indexing.output import without_numbers
from hippocampus.policy.matching import searchable
from hippocampus.recall.lines import (
    NumberedLine,
    Paged,
    compiled,
    decoded,
    matching,
    numbered,
    records,
)

MAX_KEYS, MAX_LISTED = 20, 12
MAX_CHARACTERS = 100
"""The part of a path or a key that an error quotes: they may have any length."""
RECORDS = re.compile(r"(?P<what>rows|columns)(?P<rest>(?:[.\[].*)?)")
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
SYMBOL = re.compile(r"[\w$:.<>#-]{1,200}(?:\(\))?")
DEFINITION = (
    r"^\s*(?:[\w@<>\[\]]+\s+){0,4}(?:def|class|func|fn|function|struct|enum|interface|type|trait|"
    r"impl|module|const|let|var|CREATE TABLE|create table)\s+(?:\([^)]*\)\s*)?%s\b"
)
"""The definition of a name, for sources without an outline."""
MAX_SOURCE_CHARACTERS = 200_000
"""A larger source gets no outline."""
CLOSING = re.compile(r"\s*[)\]]|\s*\{$")
HEADING = re.compile(
    r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S[^\n]{0,300})$"
    r"|<h(?P<level>[1-6])\b[^<>]{0,500}>(?P<inner>(?:(?!<h[1-6])[^\n]){0,500}?)</h(?P=level)>"
    r"|^[ \t]*(?:- )?(?:\S{1,12} )?heading \"(?P<named>[^\"\n]{1,300})\"(?P<state>[^\n]{0,200})",
    re.MULTILINE | re.IGNORECASE,
)
"""Each alternative stops at the start of another heading, which keeps the search linear."""
LEVEL = re.compile(r"level=\"?(\d)")
TAG = re.compile(r"<[^>]{0,500}>")


def lines_at(text: str, path: str) -> Iterator[NumberedLine]:
    """Yield the lines that a path names.

    Raises:
        RecallError: it is not a path, or names nothing here; the error lists existing names.

    """
    value = decoded(text)[0]
    inner = value if isinstance(value, str) else text
    is_json = path.lstrip().startswith("$")
    if not isinstance(value, dict | list) and (is_json or RECORDS.fullmatch(path.strip())):
        value = _rows(inner) or value
    if isinstance(value, dict | list):
        yield from _in_json(value, path)
        return
    if is_json:
        problem = "this content is neither JSON nor a table; ask by lines or by a pattern"
        raise RecallError("bad_request", problem)
    found = next(filter(None, (find(inner, path.strip()) for find in FINDERS)), None)
    if found is None:
        known = list(dict.fromkeys(name for names in NAMES for name in names(inner)))
        near = list(nearest(path, known, MAX_LISTED)) or known[:MAX_LISTED]
        listed = f"; there are {', '.join(name[:60] for name in near)}" if near else ""
        reason = f"nothing here is named {path[:60]!r}{listed}; or ask by a pattern"
        raise RecallError("no_match", reason)
    yield from found


def _in_json(value: dict[str, Any] | list[Any], path: str) -> Iterator[NumberedLine]:
    """Yield a text's lines, or the records of other values with their paths.

    A list of records has `rows[n]` and `columns.name` too.
    """
    from hippocampus.formats import json_paths

    steps = _of_records(value, path.strip()) or path
    try:
        found = json_paths.at_path(value, steps)
        first = list(itertools.islice(found, 2))
        if len(first) == 1 and isinstance(text := first[0][1], str):
            yield from numbered(storable(text).split("\n"))
            return
        if first:
            for place, part in itertools.chain(first, found):
                for own, line in records(part, place):
                    yield NumberedLine(1, storable(line), path=storable(own))
            return
        existing, there = json_paths.reached(value, steps)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    place = existing[:MAX_CHARACTERS]
    keys = [key[:MAX_CHARACTERS] for key in there][:MAX_KEYS] if isinstance(there, dict) else []
    has = f"has the keys {', '.join(keys)}" if keys else "has nothing below it"
    if isinstance(there, list):
        has = f"is a list of {len(there)}; ask {place}[0]"
    raise RecallError("no_match", f"{steps[:MAX_CHARACTERS]!r} does not exist: {place} {has}")


def _of_records(value: dict[str, Any] | list[Any], path: str) -> str | None:
    """Return the JSON path of `rows[3]` or `columns.name`, unless a key has that name."""
    from hippocampus.formats.json_paths import step

    match = RECORDS.fullmatch(path)
    if match is None or (isinstance(value, dict) and match["what"] in value):
        return None
    lists = (
        [key for key, inner in value.items() if isinstance(inner, list)]
        if isinstance(value, dict)
        else []
    )
    base = f"${step(lists[0])}" if lists else "$"
    return base + (match["rest"] if match["what"] == "rows" else f"[*]{match['rest']}")


def _rows(text: str) -> list[dict[str, str]]:
    """Return the rows of a table in text as JSON records."""
    grid = _grid(text)
    return grid.records() if grid else []


@functools.lru_cache(maxsize=2)
def _grid(text: str) -> Grid | None:
    return grid_of(text) if "\n" in text else None


def _table_names(text: str) -> Sequence[str]:
    grid = _grid(text)
    if grid is None:
        return ()
    return (f"rows[0] to rows[{len(grid.rows) - 1}]", *(f"columns.{name}" for name in grid.header))


# Elements of pages, in linear time


def _elements(text: str, path: str) -> list[NumberedLine]:
    """Return the lines of the elements that a ref or a selector names."""
    if ref := REF.fullmatch(path):
        return _by_ref(text, re.escape(ref["ref"]))
    selector = SELECTOR.fullmatch(path)
    if selector is None or not path or "<" not in text:
        return []
    tag = re.escape(selector["tag"]) if selector["tag"] else "[a-z][a-z0-9-]*"
    if selector["id"]:
        name, value = "id", re.escape(selector["id"])
    elif selector["class"]:
        name, value = "class", rf"[^\"'<>]*\b{re.escape(selector['class'])}\b[^\"'<>]*"
    elif selector["name"]:
        name, value = re.escape(selector["name"]), re.escape(selector["value"])
    else:
        return _opened(text, rf"<{tag}[\s/>]")
    quoted = rf"(?:\"{value}\"|'{value}'|{value}[\s/>])"
    return _opened(text, rf"<{tag}\s[^<>]*\b{name}\s*=\s*{quoted}")


def _by_ref(text: str, ref: str) -> list[NumberedLine]:
    """Return the line with a ref, and the lines that are indented below it."""
    pattern = rf"(?:\b(?:ref|uid)=\"?{ref}\"?(?:[^\w]|$)|\[{ref}\]|^[\s\-*]*@?{ref}[:\s])"
    first = next(matching(Paged(text), pattern), None)
    if first is None or "<html" in text[:2_000]:
        return _opened(text, rf"<[a-z][^<>]*(?:id|ref|data-ref|uid)\s*=\s*[\"']?{ref}[\"'\s/>]")
    lines = text.split("\n")
    indent = _indent_of(lines[first.number - 1])
    end = first.number
    while end < len(lines) and lines[end].strip() and _indent_of(lines[end]) > indent:
        end += 1
    return list(numbered(lines[first.number - 1 : end], first.number))


def _opened(text: str, opening: str) -> list[NumberedLine]:
    """Return the lines of the elements whose opening tags match, each line once."""
    plain, found, end = searchable(text), list[NumberedLine](), 0
    matches = compiled(f"(?i)(?s){opening}", across_lines=True).finditer(plain)
    for match in itertools.islice(matches, MAX_ELEMENTS):
        if (start := match.start()) >= end:
            end = _element_end(plain, start)
            found += _lines_of(text, start, end)
    return found


def _element_end(text: str, start: int) -> int:
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


# Symbols of code


def _definitions(text: str, path: str) -> list[NumberedLine]:
    """Return the lines of the definitions of a symbol, `name` or `Outer.name`."""
    name = path.removesuffix("()")
    if not SYMBOL.fullmatch(name):
        return []
    lines, bare, symbols = text.split("\n"), _bare(text), _symbols(text)
    last = name.rsplit(".", 1)[-1]
    starts = [
        symbol.line - 1
        for at, symbol in enumerate(symbols)
        if symbol.kind != "import"
        and symbol.name == last
        and (symbol.name == name or qualified(symbols, at).endswith(name))
    ]
    if not starts:
        wanted = DEFINITION % re.escape(last.rsplit("::", 1)[-1])
        starts = [line.number - 1 for line in matching(Paged(text), wanted)]
    spans = [_definition(bare, start) for start in starts if start < len(lines)]
    return [
        line for span in spans for line in numbered(lines[span.start : span.stop], span.start + 1)
    ]


def _definition(bare: Sequence[str], start: int) -> slice:
    """Return the lines of a definition, from its decorators to its last indented line."""
    indent = _indent_of(bare[start])
    first, end = start, start + 1
    while (
        first and bare[first - 1].lstrip().startswith("@") and _indent_of(bare[first - 1]) == indent
    ):
        first -= 1
    while end < len(bare) and (
        not bare[end].strip()
        or _indent_of(bare[end]) > indent
        or (_indent_of(bare[end]) == indent and CLOSING.match(bare[end].rstrip()))
    ):
        end += 1
    if end < len(bare) and bare[end].lstrip().startswith(("}", "end")):
        end += 1
    while end > start + 1 and not bare[end - 1].strip():
        end -= 1
    return slice(first, end)


def _symbol_names(text: str) -> Sequence[str]:
    """Return the names of the symbols in a source, outer ones first."""
    found = _symbols(text)
    made = [at for at, symbol in enumerate(found) if symbol.kind not in ("import", "main")]
    made.sort(key=lambda at: found[at].parent is not None)
    return [qualified(found, at) for at in made]


@functools.lru_cache(maxsize=2)
def _bare(text: str) -> list[str]:
    """Return the lines of a source without the line numbers of a dump."""
    return without_numbers(text).split("\n")


@functools.lru_cache(maxsize=2)
def _symbols(text: str) -> list[Symbol]:
    """Return the symbols of a source, each with its line in the text."""
    if len(text) > MAX_SOURCE_CHARACTERS:
        return []
    outline = outline_of("\n".join(_bare(text)))
    return outline.symbols if outline else []


# Sections of Markdown, HTML and page snapshots


class Heading(NamedTuple):
    """One heading: its position, its level and its title."""

    start: int
    level: int
    title: str


@functools.lru_cache(maxsize=2)
def _headings(text: str) -> list[Heading]:
    found = []
    for match in HEADING.finditer(text):
        if match["marks"]:
            level, title = len(match["marks"]), match["title"].strip("# \t")
        elif match["level"]:
            level, title = int(match["level"]), " ".join(TAG.sub("", match["inner"]).split())
        else:
            named = LEVEL.search(match["state"])
            level, title = int(named[1]) if named else 2, match["named"]
        found.append(Heading(match.start(), level, title))
    return found


def _titles(text: str) -> Sequence[str]:
    """Return the titles, those of upper levels first."""
    return [each.title for each in sorted(_headings(text), key=lambda heading: heading.level)]


def _section(text: str, path: str) -> list[NumberedLine]:
    """Return the section below the heading with this title, or one that starts with it."""
    wanted = " ".join(path.strip("#").split()).casefold()
    found = _headings(text)
    titles = [each.title.casefold() for each in found]
    equal = (at for at, title in enumerate(titles) if title == wanted)
    close = (at for at, title in enumerate(titles) if title.startswith(wanted))
    at = next(itertools.chain(equal, close), None)
    if at is None or not wanted:
        return []
    later = (each.start for each in found[at + 1 :] if each.level <= found[at].level)
    return _lines_of(text, found[at].start, next(later, len(text)))


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def _lines_of(text: str, start: int, end: int) -> list[NumberedLine]:
    """Return the lines of a part of a text, numbered as in the whole."""
    first = text.count("\n", 0, start) + 1
    return list(numbered(text[start:end].rstrip().split("\n"), first))


FINDERS: tuple[Callable[[str, str], list[NumberedLine]], ...] = (
    _elements, _definitions, _section,
)  # fmt: skip
NAMES: tuple[Callable[[str], Sequence[str]], ...] = (_table_names, _symbol_names, _titles)
"""Each lists the names in a text; used where a path finds nothing."""
