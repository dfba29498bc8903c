"""Search hits (`grep -n`, ripgrep, heading style) grouped by file, with their line numbers.

Pure text; a hit's line is kept as far as it helps to decide whether to read the file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise, takewhile
from typing import NamedTuple

from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, cut, packed, ranked

LINE_CHARACTERS = 400
TEXT_CHARACTERS = 200
MOST_HITS = 5_000
DRIVE = r"[A-Za-z]:[\\/][^:\"'<>|\n]{1,290}"
HIT = re.compile(
    r"(?P<path>"
    + DRIVE
    + r"|(?=[^\s:\"'(){}<>,;=]{0,299}[./])(?!\w{1,9}://)[^\s:\"'(){}<>,;=]{2,300}):"
    r"(?:(?P<line>\d{1,7}):(?:\d{1,5}:(?=.))?)?(?P<text>.*)"
)
CONTEXT = re.compile(
    r"(?P<path>"
    + DRIVE
    + r"?|(?=[^\s:]{0,299}[./])[^\s:\"'(){}]{2,300}?)-(?P<line>\d{1,7})-(?P<text>.*)"
)
NUMBERED = re.compile(r" {0,4}(?:[Ll]ine )?(?P<line>\d{1,7})(?P<mark>[:-])(?P<text>.*)")
HEADING = re.compile(
    r"(?P<path>(?=[^\s]*[./])[\w./@+~\\()\[\]-]{2,300}|\.{0,2}/[^:\n]{1,290}\.\w{1,10}):?"
)
MAKES_A_NAME = re.compile(
    r"\b(?:def|class|function|func|fn|interface|type|struct|enum|trait|export|const|public|private|"
    r"CREATE|#define)\s"
)
ERROR = re.compile(r"\b(?:error|warning)\b(?: \w+)?:", re.IGNORECASE)
MOST_FOLDERS = 24
MINIFIED_CHARACTERS, MINIFIED = 240, 0.1
"""A line from here on is minified or drawn; it is dropped first."""
FEW_NUMBERS = 2
OVERVIEW, FILE, HIT_WEIGHT, MAKER, CONTEXT_WEIGHT = 6.0, 2.0, 1.0, 1.6, 0.25


class SearchHit(NamedTuple):
    """One line that a search found."""

    path: str
    line: int | None
    text: str
    is_context: bool = False


def hit_line(line: str) -> bool:
    """Return whether a line reads as a hit with its file and line."""
    match = HIT.fullmatch(line)
    if match and (match["line"] or "/" in match["path"]):
        return not ERROR.search(line)
    return CONTEXT.fullmatch(line) is not None or line == "--"


def numbered_line(line: str) -> bool:
    """Return whether a line reads as a hit with its line only."""
    return NUMBERED.fullmatch(line) is not None or line == "--"


def is_numbered_file(sample: list[str]) -> bool:
    """Return whether the numbers of some lines follow each other: a file with numbers, no search."""
    found = [match for line in sample if (match := NUMBERED.fullmatch(line))]
    numbers = [int(match["line"]) for match in found]
    steps = sum(1 for before, after in pairwise(numbers) if after == before + 1)
    return (
        len(numbers) > 2 and steps > 0.7 * len(numbers) and not any(m["mark"] == "-" for m in found)
    )


def read_hits(text: str) -> list[SearchHit]:
    """Return the hits, those under a heading or without a file as well."""
    found: list[SearchHit] = []
    heading = ""
    for line in text.split("\n"):
        hit = _hit(line[:LINE_CHARACTERS].rstrip("\r"), heading)
        if hit is None:
            match = HEADING.fullmatch(line[:LINE_CHARACTERS].rstrip())
            heading = match["path"] if match else heading
        else:
            found.append(hit)
        if len(found) >= MOST_HITS:
            break
    return found


def _hit(line: str, heading: str) -> SearchHit | None:
    if match := NUMBERED.fullmatch(line):
        return SearchHit(heading, int(match["line"]), match["text"], match["mark"] == "-")
    if match := HIT.fullmatch(line):
        return SearchHit(
            match["path"], int(match["line"]) if match["line"] else None, match["text"]
        )
    if match := CONTEXT.fullmatch(line):
        return SearchHit(match["path"], int(match["line"]), match["text"], is_context=True)
    return None


def write_hits(text: str) -> Extraction | None:
    """Return the extraction of a search's hits, or nothing where there are none."""
    by_file: dict[str, list[SearchHit]] = {}
    for hit in read_hits(text):
        by_file.setdefault(hit.path, []).append(hit)
    matched = sum(1 for hits in by_file.values() for hit in hits if not hit.is_context)
    if not matched:
        return None
    lines = list(_overview(by_file))
    for path, hits in by_file.items():
        _add_file(lines, path, hits, numbered=not lines or len(by_file) > 1)
    files = counted(len(by_file), "file")
    more = f" (of {text.count(chr(10)) + 1:,} lines)" if matched >= MOST_HITS else ""
    summary = f"search: {counted(matched, 'hit')} in {files}{more}"
    data = {"hits": matched, "files": len(by_file)}
    return Extraction("hits", summary, tuple(lines), data, ('pattern="…"',), "hits")


def _overview(by_file: dict[str, list[SearchHit]]) -> Iterator[EntryLine]:
    """Yield the files with how many hits each has, where they are too many to read at a glance."""
    if len(by_file) <= 6:
        return
    counts = {path: sum(not hit.is_context for hit in hits) for path, hits in by_file.items()}
    most = sorted(counts.items(), key=lambda each: -each[1])
    rendered = [
        f"{path} {count}{_where(by_file[path], count)}" for path, count in most if count > 1
    ]
    sorted_folders = sorted(path.split("/")[:-1] for path in counts)
    ends = zip(sorted_folders[0], sorted_folders[-1], strict=False)
    common = "".join(f"{step}/" for step, _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    folders = Counter[str]()
    for path, count in counts.items():
        steps = path[len(common) :].split("/")
        folders[common + (f"{steps[0]}/" if len(steps) > 1 else "")] += count
    if 1 < len(folders) < len(counts):
        summed = [f"{folder} {count}" for folder, count in folders.most_common(MOST_FOLDERS)]
        if (others := len(folders) - len(summed)) > 0:
            summed.append(f"… {others} more folders")
        yield from packed(summed, "by folder", weight=2 * OVERVIEW, count=0)
    yield from ranked(packed(rendered, "hits", weight=OVERVIEW, count=0))
    single = sum(count == 1 for count in counts.values())
    if single:
        yield EntryLine(f"1 hit each: {single} files", OVERVIEW / 2, count=0)


def _where(hits: list[SearchHit], count: int) -> str:
    """Return the lines of a few hits, of more the first and the last."""
    numbers = [str(hit.line) for hit in hits if hit.line is not None and not hit.is_context]
    if len(numbers) != count:
        return ""
    shown = numbers if count <= FEW_NUMBERS else [f"{numbers[0]}-{numbers[-1]}"]
    return f" ({' '.join(shown)})"


def _add_file(lines: list[EntryLine], path: str, hits: list[SearchHit], *, numbered: bool) -> None:
    """Add a file's hits below its name, or a single one on one line with it."""
    if len(hits) == 1 and path:
        line = f"{hits[0].line}:" if hits[0].line is not None else ""
        lines.append(EntryLine(f"{path}:{line} {cut(hits[0].text, TEXT_CHARACTERS)}", FILE))
        return
    parent = len(lines) if path else None
    if path:
        numbers = [str(hit.line) for hit in hits if hit.line is not None and not hit.is_context]
        rendered = (
            f": {' '.join(numbers[:40])}{' …' if len(numbers) > 40 else ''}" if numbered else ""
        )
        lines.append(EntryLine(f"{path}{rendered}", FILE, count=0))
    for hit in hits:
        number = f"{hit.line} " if hit.line is not None else ""
        weight = CONTEXT_WEIGHT if hit.is_context else _weight(hit.text)
        lines.append(EntryLine(f" {number}{cut(hit.text, TEXT_CHARACTERS)}", weight, parent=parent))


def _weight(text: str) -> float:
    """A line that makes a name answers more questions than one that uses it."""
    if len(text) >= MINIFIED_CHARACTERS:
        return MINIFIED
    return MAKER if MAKES_A_NAME.search(text) else HIT_WEIGHT
