"""Slices of one text: by lines, pattern, path or words, within a token budget. Pure.

The content decides how a path is read: as one into JSON or a table, as the ref of an element, as a name
that code defines, or as a heading; the first finder with a result counts.
"""

from __future__ import annotations

import functools
import itertools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from hippocampus.entries.entry import storable
from hippocampus.errors import RecallError, nearest
from hippocampus.formats import json_text
from hippocampus.indexing import unwrap
from hippocampus.indexing.code import depth_of
from hippocampus.indexing.grids import table_in
from hippocampus.indexing.json_documents import Table
from hippocampus.indexing.unwrap import line_numbers, output_of, without_numbers
from hippocampus.models import tokens
from hippocampus.patterns import PatternError
from hippocampus.recall.definition import RecallRequest
from hippocampus.recall.lines import (
    GAP,
    MAX_TOKEN_CHARACTERS,
    NumberedLine,
    Paged,
    decoded,
    fit,
    long_texts,
    matching,
    paged,
    pages,
    records,
)
from hippocampus.storage.full_text import Content, Passage, Passages

MAX_COUNTED = 1_000
"""Further matches are not counted."""
MAX_KEYS, MAX_LISTED = 20, 12
MAX_CHARACTERS, QUOTED_CHARACTERS = 100, 20
"""The part of a path or a key that an error quotes, or a note: they may have any length."""


def take(text: str, request: RecallRequest, max_tokens: int, arguments: str | None = "") -> str:
    """Return the requested part of a text and a note about left-out lines, within `max_tokens`.

    `arguments` are those of the call that read the text, as JSON: by them the lines of a part of a
    file have the numbers that they have in the file, as its entry has them. None is a transcript:
    its lines are numbered as they come, also where it quotes a file.

    JSON on one line is paged: its lines have one record each.

    Raises:
        RecallError: the pattern, path or range is invalid, nothing matches, or nothing fits.
    """
    numbers = numbers_of(text, arguments)
    if request.path is not None:
        found = lines_at(text, request.path, numbers)
        is_long = len(request.path) > QUOTED_CHARACTERS
        quoted = request.path[:QUOTED_CHARACTERS] + "…" * is_long
        more = f"(more is at {quoted}; ask for a longer path or more max_tokens)"
        return fit(found, max_tokens, lambda *_: more)
    if request.pattern is not None:
        try:
            return _by_pattern(text, request, numbers, max_tokens)
        except PatternError as late:
            problem = f"pattern {request.pattern[:MAX_CHARACTERS]!r}: {late}; use a simpler one, or ask by query"
            raise RecallError("bad_request", problem) from None
    if request.query is not None:
        return best_of(text, request.query, numbers, max_tokens)
    return _by_lines(text, request, numbers, max_tokens)


def numbers_of(text: str, arguments: str | None = "") -> Sequence[int]:
    """Return the numbers of a text's lines as its entry has them; a record of JSON has its place."""
    readable = paged(text)
    count = readable.text.count("\n") + 1
    if arguments is None or (readable.paths and not readable.inner):
        return range(1, count + 1)
    own = line_numbers(readable.inner or readable.text, arguments)
    return [*own, *range(own[-1] + 1, own[-1] + 1 + count - len(own))]


def _by_lines(text: str, request: RecallRequest, numbers: Sequence[int], max_tokens: int) -> str:
    lines = pages(text)
    first, end = 0, len(lines)
    if request.lines is not None:
        first, end = bisect_left(numbers, request.lines[0]), bisect_right(numbers, request.lines[1])
        if first >= end:
            asked, known = "lines {} to {}".format(*request.lines), [numbers[0], numbers[-1]]
            raise RecallError("bad_request", f"{asked} are not in this content; ask {known}")
    elif request.head is not None:
        end = min(end, max(1, request.head))
    elif request.tail is not None:
        first = max(0, end - max(1, request.tail))
    everything = len(lines) == 1 or not request.names_part
    is_short = len(text) <= MAX_TOKEN_CHARACTERS * max_tokens
    if everything and is_short and tokens.count(text) <= max_tokens:
        return text
    wanted = [*map(NumberedLine, numbers[first:end], lines[first:end])]
    from_end = request.tail is not None and request.lines is None and request.head is None

    def note(_shown: int, _left: int, number: int) -> str:
        left = (numbers[first], number) if from_end else (number, numbers[end - 1])
        return "(lines {0} to {1} are left out; ask for lines=[{0}, {1}])".format(*left)

    return fit(reversed(wanted) if from_end else wanted, max_tokens, note, from_end=from_end)


def _by_pattern(text: str, request: RecallRequest, numbers: Sequence[int], max_tokens: int) -> str:
    pattern, readable = request.pattern or "", paged(text)
    found = matching(readable, pattern, request.context or 0)
    first = next(found, None)
    if first is not None:
        every = itertools.chain((first,), found)  # our own lines have the number 0
        found = (line._replace(number=line.number and numbers[line.number - 1]) for line in every)
    elif readable.text is not text:  # the pattern may be of the text as it was before it was paged
        found = matching(Paged(text), pattern)

    def note(shown: int, left: int, number: int) -> str:
        more = left + sum(1 for _ in itertools.islice(found, MAX_COUNTED))
        known = f"{more}+" if more > MAX_COUNTED else str(more)
        return f"({shown} lines shown, {known} left out from line {number} on; narrow the pattern)"

    return fit(found, max_tokens, note)


# By words


CAMEL = re.compile(r"(?<=[a-z\d])(?=[A-Z])")
CJK = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])")
WORD = re.compile(r"[^\W_]+")
ESCAPED = re.compile(r"\\[nrt]|\\u[0-9a-fA-F]{4}")
STOP_WORDS = frozenset(
    "a about after all also an and any are as at be been before but by can could did do does done "  # noqa: SIM905 - reads better so
    "for from get had has have here how i if in into is it its just let like ll may me more most "
    "my need next no not now of on one only or other our out over perfect please s same see should "
    "so some such t than that the their them then there these they this those to too true false "
    "null none up us use used using very want was we were what when where which while who why will "
    "with would you your".split()
)
ABOUT_CHARACTERS = 400
MIN_PASSAGE_CHARACTERS, MAX_PASSAGE_CHARACTERS = 240, 700
"""From the first size on a passage ends where a block starts; at the second it ends anywhere."""
# A block starts with a record, a paragraph or a lower indentation.
OPENINGS = ("{", "- ", "* ", "#", "<h", "<tr", "<li", "def ", "class ", "function ", "export ")


def spread(text: str) -> str:
    """Return a text with its names split: `getUserName` into three words, Han characters one by one."""
    if "\\" in text:
        text = ESCAPED.sub(" ", text)
    if not text.isascii():
        text = CJK.sub(r" \1 ", text)
    return CAMEL.sub(" ", text)


def terms(text: str) -> list[str]:
    """Return the words of a text in order, in lower case and without stop words."""
    return [word for word in WORD.findall(spread(text).lower()) if word not in STOP_WORDS]


def passages(lines: Sequence[str]) -> list[tuple[int, int]]:
    """Return the first and the last lines of a text's passages: records, paragraphs, blocks, of bounded size."""
    spans: list[tuple[int, int]] = []
    first, size, indent = 1, 0, 0
    for number, line in enumerate(lines, start=1):
        bare = line.lstrip()
        own_indent = len(line) - len(bare)
        opens = not bare or bare.startswith(OPENINGS) or own_indent < indent
        if size >= MAX_PASSAGE_CHARACTERS or (size >= MIN_PASSAGE_CHARACTERS and opens):
            spans.append((first, number - 1))
            first, size = number, 0
        if not size:
            indent = own_indent
        size += len(line) + 1
    if size:
        spans.append((first, len(lines)))
    return spans


def content(text: str, about: str = "") -> Content:
    """Return what an index has of an entry: its passages, and the start of its description."""
    lines = pages(text)
    spans = passages(lines)
    words = (spread("\n".join(lines[first - 1 : last])) for first, last in spans)
    found = [Passage(*span, text) for span, text in zip(spans, words, strict=True)]
    return Content(found, spread(about[:ABOUT_CHARACTERS]))


def best_of(text: str, query: str, numbers: Sequence[int], max_tokens: int) -> str:
    """Return the passages that match a query best, the best first, within `max_tokens`.

    Raises:
        RecallError: no passage contains a word of the query, or nothing fits.
    """
    lines = pages(text)
    found = Passages(lambda _: content(text)).search(terms(query), [""], len(lines))
    if not found:
        problem = "no word of the query is in this content; try other words or a pattern"
        raise RecallError("no_match", problem)
    shown: list[NumberedLine] = []
    for hit in found:
        place = slice(hit.first - 1, hit.last)
        part = map(NumberedLine, numbers[place], lines[place])
        shown += [NumberedLine(0, GAP)] if shown else []
        shown += [line for line in part if line.text.strip()]
    note = "(weaker passages are left out; ask with fewer words or by lines)"
    return fit(shown, max_tokens, lambda *_: note)


# By a path


def lines_at(text: str, path: str, numbers: Sequence[int]) -> Iterator[NumberedLine]:
    """Yield the lines that a path names: a value's with numbers of their own, others with `numbers`.

    Raises:
        RecallError: it is not a path, or names nothing here; the error lists existing names.
    """
    value = decoded(text)[0]
    inner = value if isinstance(value, str) else text
    is_json = path.lstrip().startswith("$")
    if is_json and not isinstance(value, dict | list):
        if table := _table(inner):
            value = [row.cells for row in table.rows]
        else:
            body = output_of(unwrap.plain(inner)).body
            lines = [line for line in body.split("\n") if line.strip()]
            values = map(json_text.read, lines)
            rows = list(itertools.takewhile(lambda row: isinstance(row, dict | list), values))
            if len(rows) == len(lines):  # JSON lines
                value = rows or value
    if isinstance(value, dict | list):
        is_named = is_json or path in value
        texts = long_texts(value) if isinstance(value, dict) and not is_named else {}
        source = next(iter(texts.values()), "")
        if defined := _definitions(source, path):
            yield from _spanned(source, defined, range(1, source.count("\n") + 2))
        else:
            yield from _in_json(value, path)
        return
    if is_json:
        problem = "this content is neither JSON nor a table; ask by lines or by a pattern"
        raise RecallError("bad_request", problem)
    finders = (_by_ref, _definitions, _section)
    found = next(filter(None, (find(inner, path.strip()) for find in finders)), None)
    if found is None:
        from hippocampus.formats.json_paths import step

        # The names to ask for: rows and columns, definitions, and titles, outer ones first.
        table = _table(inner)
        known = [f"$[0] to $[{table.total - 1}]"] if table else []
        known += [f"$[*]{step(name)}" for name in table.header] if table else []
        known += [match[1] for match in MADE.finditer(without_numbers(inner))]
        outer = sorted(_headings(inner), key=lambda heading: heading.level)
        known = list(dict.fromkeys([*known, *(heading.title for heading in outer)]))
        last = path.rpartition(".")[-1] or path
        near = list(nearest(last, known, MAX_LISTED)) or known[:MAX_LISTED]
        listed = f"; there are {', '.join(name[:MAX_CHARACTERS] for name in near)}" if near else ""
        reason = f"nothing here is named {path[:MAX_CHARACTERS]!r}{listed}; or ask by a pattern"
        raise RecallError("no_match", reason)
    yield from _spanned(inner, found, numbers)


def _spanned(text: str, spans: Iterable[slice], numbers: Sequence[int]) -> Iterator[NumberedLine]:
    """Yield the lines of a text that some spans have, with their numbers."""
    lines = text.split("\n")
    for span in spans:
        yield from map(NumberedLine, numbers[span], lines[span])


def _in_json(value: dict[str, Any] | list[Any], path: str) -> Iterator[NumberedLine]:
    """Yield a text's lines, or the records of other values with their paths."""
    from hippocampus.formats import json_paths

    try:
        found = json_paths.at_path(value, path)
        first = list(itertools.islice(found, 2))
        if len(first) == 1 and isinstance(text := first[0][1], str):
            yield from map(NumberedLine, itertools.count(1), storable(text).split("\n"))
            return
        if first:
            for place, part in itertools.chain(first, found):
                for own, line in records(part, place):
                    yield NumberedLine(1, storable(line), path=storable(own))
            return
        existing, there = json_paths.reached(value, path)
    except ValueError as wrong:
        raise RecallError("bad_request", str(wrong)) from None
    place = existing[:MAX_CHARACTERS]
    keys = [key[:MAX_CHARACTERS] for key in there][:MAX_KEYS] if isinstance(there, dict) else []
    has = f"has the keys {', '.join(keys)}" if keys else "has nothing below it"
    if isinstance(there, list):
        has = f"is a list of {len(there)}; ask {place}[0]"
    raise RecallError("no_match", f"{path[:MAX_CHARACTERS]!r} does not exist: {place} {has}")


@functools.lru_cache(maxsize=2)
def _table(text: str) -> Table | None:
    """Return the table of a text as its entry shows it, without what its tool printed around it."""
    return table_in(output_of(unwrap.plain(text)).body) if "\n" in text else None


# Elements of page snapshots, and definitions of code


REF = re.compile(r"(?:ref=|uid=|@)?[\"\[]?(?P<ref>[A-Za-z]{0,3}\d[\w.:-]{0,20})[\"\]]?")
SYMBOL = re.compile(r"[\w$:.<>#-]{1,200}(?:\(\))?")
MAKING = (
    r"^[ \t]*(?:[\w@<>\[\]]+[ \t]+){0,4}(?:def|class|func|fn|function|struct|enum|interface|type|trait|"
    r"impl|module|const|let|var|CREATE TABLE|create table)[ \t]+(?:\([^)\n]*\)[ \t]*)?"
)
"""The words before the name of a definition."""
DEFINITION = (
    rf"{MAKING}%(name)s\b|^[ \t]*(?:\w[\w<>\[\]]*[ \t]+){{0,4}}%(name)s[ \t]*\([^;]*\{{[ \t]*$"
    r"|^%(name)s[ \t]*(?::[^=]{1,60})?=[^=]"
)
"""The definition of a name: after such a word, as a method with a brace, or as a value."""
MADE = re.compile(rf"{MAKING}([\w$]+)", re.MULTILINE)
CLOSING = re.compile(r"\s*[)\]]|\s*\{$")
CLOSED = re.compile(r"\s*\}[;,)]*$")
"""The last line of a definition in braces; within a raw string, any line may be at its margin."""


def _by_ref(text: str, path: str) -> list[slice]:
    """Return the span of the first line with a ref, and of the lines that are indented below it."""
    found = REF.fullmatch(path)
    if found is None:
        return []
    ref = re.escape(found["ref"])
    pattern = rf"(?:\b(?:ref|uid|id)=[\"']?{ref}[\"']?(?:[^\w]|$)|\[{ref}\]|^[\s\-*]*@?{ref}[:\s])"
    first = next(matching(Paged(text), pattern), None)
    return [_block(text.split("\n"), first.number - 1)] if first else []


def _definitions(text: str, path: str) -> list[slice]:
    """Return the spans of the definitions of a symbol, `name` or `Outer.name`."""
    if not SYMBOL.fullmatch(path):
        return []
    bare = without_numbers(text).split("\n")
    last = re.split(r"\.|::", path.removesuffix("()"))[-1]
    wanted = DEFINITION % {"name": re.escape(last)}
    return [_block(bare, found.number - 1) for found in matching(Paged("\n".join(bare)), wanted)]


def _block(bare: Sequence[str], start: int) -> slice:
    """Return the span of a definition or an element, from its decorators to its last indented line."""
    indent = depth_of(bare[start])
    first, end = start, start + 1
    while (
        first and bare[first - 1].lstrip().startswith("@") and depth_of(bare[first - 1]) == indent
    ):
        first -= 1
    if bare[start].rstrip().endswith("{"):
        margin = (at for at in range(end, len(bare)) if depth_of(bare[at]) == indent)
        last = next((at for at in margin if CLOSED.match(bare[at]) or MADE.match(bare[at])), start)
        end = last if CLOSED.match(bare[last]) else end
    while end < len(bare) and (
        not bare[end].strip()
        or depth_of(bare[end]) > indent
        or (depth_of(bare[end]) == indent and CLOSING.match(bare[end].rstrip()))
    ):
        end += 1
    if end < len(bare) and bare[end].lstrip().startswith(("}", "end")):
        end += 1
    while end > start + 1 and not bare[end - 1].strip():
        end -= 1
    return slice(first, end)


# Sections of Markdown, HTML and page snapshots


HEADING = re.compile(
    r"^(?P<marks>#{1,6})[ \t]+(?P<title>\S[^\n]{0,300})$"
    r"|<h(?P<level>[1-6])\b[^<>]{0,500}>(?P<inner>(?:(?!<h[1-6])[^\n]){0,500}?)</h(?P=level)>"
    r"|^[ \t]*(?:- )?(?:\S{1,12} )?heading \"(?P<named>[^\"\n]{1,300})\"(?P<state>[^\n]{0,200})",
    re.MULTILINE | re.IGNORECASE,
)
"""An alternative stops at the start of another heading, which keeps the search linear."""
LEVEL = re.compile(r"level=\"?(\d)")
TAG = re.compile(r"<[^>]{0,500}>")


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


def _section(text: str, path: str) -> list[slice]:
    """Return the span of the section below the heading with this title, or one that starts with it."""
    wanted = " ".join(path.strip("#").split()).casefold()
    found = _headings(text)
    titles = [heading.title.casefold() for heading in found]
    equal = (at for at, title in enumerate(titles) if title == wanted)
    close = (at for at, title in enumerate(titles) if title.startswith(wanted))
    at = next(itertools.chain(equal, close), None)
    if at is None or not wanted:
        return []
    start = found[at].start
    later = (heading.start for heading in found[at + 1 :] if heading.level <= found[at].level)
    above = text.count("\n", 0, start)
    section = text[start : next(later, len(text))].rstrip()
    return [slice(above, above + section.count("\n") + 1)]
