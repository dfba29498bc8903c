"""The commits that a version control tool lists.

Pure text. Each commit stands with its hash, as the log has it, and its subject.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, cut, most_common, packed, ranked

SUBJECT_CHARACTERS = 100
LINE_CHARACTERS = 400
MOST_COMMITS = 2_500
FIRST, NEWEST, COMMIT, MERGE, FILES, BODY = 12.0, 2.0, 1.2, 0.6, 0.6, 0.4
FEW_COMMITS = 12
"""A log of so few commits needs no overview."""
SPECIAL, AREAS, MOST_AREAS = 3.0, 4.0, 8
REVERT = re.compile(r"Revert\b|revert[:(]")
AREA = re.compile(r"([\w.-]{1,40})(?:/[\w./-]*|\([^)]*\)|!)?:(?=\s)")
"""The area that a subject names: `area: …`, `area/part: …`, `area(part): …`."""
DATE = re.compile(
    r"[A-Z][a-z]{2} (?P<day>[A-Z][a-z]{2} \d{1,2}) (?P<time>\d\d:\d\d):\d\d (?P<year>\d{4})(?: [+-]\d{4})?"
)
COMMIT_LINE = re.compile(r"[*|\\/ ]{0,20}commit (?P<hash>[0-9a-f]{7,64})(?P<refs> \([^)]*\))?\s*")
ONE_LINE = re.compile(
    r"(?!\^?[0-9a-f]{7,40} [^\n]{0,200}?\d{4}-\d\d-\d\d [\d:]{8} [+-]\d{4} +\d+\) )"  # `git blame`
    r"[*|\\/ ]{0,20}(?P<hash>(?=[0-9a-f]*\d)[0-9a-f]{7,40}) (?P<refs>\([^)]{1,200}\) )?(?P<subject>\S.*)"
)
FIELD = re.compile(
    r"[*|\\/ ]{0,20}(?P<name>Author|AuthorDate|Date|Commit|CommitDate|Merge):\s+(?P<value>.+)"
)
STAT = re.compile(r"[*|\\/ ]{0,20} ?(?P<path>\S[^|]{0,200}?) +\| +(?P<change>\d+(?: [+-]+)?|Bin.*)")
STAT_TOTAL = re.compile(r" ?\d+ files? changed.*")
NAME_STATUS = re.compile(r"(?P<state>[MADRCTU]\d{0,3})\t(?P<path>\S.*)")


@dataclass(slots=True)
class Commit:
    """One commit as far as the log has it."""

    hash: str
    refs: str = ""
    subject: str = ""
    author: str = ""
    date: str = ""
    is_merge: bool = False
    merged: str = ""
    """The parents of a merge."""
    body: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def read_log(text: str) -> list[Commit]:
    """Return the commits of a log, in full or one line each."""
    found: list[Commit] = []
    for whole in text.split("\n"):
        line = whole[:LINE_CHARACTERS].rstrip()
        opened = _opened(line)
        if opened is not None:
            if len(found) >= MOST_COMMITS:
                break
            found.append(opened)
        elif found and line:
            _more(found[-1], line)
    return found


def _opened(line: str) -> Commit | None:
    if match := COMMIT_LINE.fullmatch(line):
        return Commit(match["hash"], (match["refs"] or "").strip())
    if match := ONE_LINE.fullmatch(line):
        return Commit(match["hash"], (match["refs"] or "").strip(), match["subject"])
    return None


def _more(commit: Commit, line: str) -> None:
    """Take one line more of a commit."""
    if match := FIELD.fullmatch(line):
        if match["name"] == "Author":
            commit.author = match["value"].split(" <")[0]
        elif match["name"].endswith("Date"):
            commit.date = commit.date or match["value"].strip()
        elif match["name"] == "Merge":
            commit.is_merge, commit.merged = True, match["value"].strip()
    elif match := STAT.fullmatch(line):
        commit.files.append(f"{match['path'].strip()} {match['change'].split(' ')[0]}")
    elif match := NAME_STATUS.fullmatch(line):
        commit.files.append(f"{match['state']} {match['path']}")
    elif not STAT_TOTAL.fullmatch(line) and not commit.subject:
        commit.subject = line.strip(" |*")
    elif not STAT_TOTAL.fullmatch(line) and line.strip(" |*\\/"):
        commit.body.append(line.strip(" |"))


def write_log(text: str) -> Extraction | None:
    """Return the extraction of a log, or nothing where there is no commit."""
    commits = read_log(text)
    if not commits:
        return None
    authors = Counter(commit.author for commit in commits if commit.author)
    lines: list[EntryLine] = list(_overview(commits)) if len(commits) > FEW_COMMITS else []
    for number, commit in enumerate(commits):
        _add_commit(lines, commit, number, alone=len(authors) < 2)
    dates = [commit.date for commit in commits if commit.date]
    summary = f"log: {counted(len(commits), 'commit')}"
    summary += f", {_day(dates[-1])} to {_dated(dates[0])}" if len(dates) > 1 else ""
    summary += f", by {most_common(c.author for c in commits if c.author)}" if authors else ""
    data = {"commits": len(commits), "first": commits[0].hash, "last": commits[-1].hash}
    return Extraction("commits", summary, tuple(lines), data, ('pattern="<hash>"',), "commits")


def _overview(commits: list[Commit]) -> Iterator[EntryLine]:
    """Yield what stands out of a long log: refs, merges, reverts, the last commit, the areas."""
    special = [each for each in commits[1:-1] if _is_special(each)]
    rendered = [f"oldest: {_short_line(commits[-1])}", *map(_short_line, special)]
    yield from ranked(EntryLine(each, SPECIAL, count=0) for each in rendered)
    areas = [match[1] for commit in commits if (match := AREA.match(commit.subject))]
    if 2 * len(areas) > len(commits):
        yield EntryLine(f"areas: {most_common(areas, MOST_AREAS)}", AREAS, count=0)


def _is_special(commit: Commit) -> bool:
    return bool(commit.refs) or commit.is_merge or REVERT.match(commit.subject) is not None


def _short_line(commit: Commit) -> str:
    merge = f"merge of {commit.merged}:" if commit.is_merge else ""
    subject = cut(commit.subject, SUBJECT_CHARACTERS)
    parts = [commit.refs, commit.hash, merge, subject]
    return " ".join(filter(None, parts))


def _dated(date: str) -> str:
    match = DATE.fullmatch(date)
    return f"{_day(date)} {match['year']}" if match else date


def _day(date: str) -> str:
    """Return a date as `log` writes it by default without what the summary has: `Jun 27 17:42`."""
    match = DATE.fullmatch(date)
    return f"{match['day']} {match['time']}" if match else date


def _add_commit(lines: list[EntryLine], commit: Commit, number: int, *, alone: bool) -> None:
    parts = [commit.hash, commit.refs, cut(commit.subject, SUBJECT_CHARACTERS)]
    known = ", ".join(filter(None, ("" if alone else commit.author, _day(commit.date))))
    parts += [f"({known})"] if known else []
    weight = MERGE if commit.is_merge or commit.subject.startswith("Merge ") else COMMIT
    at = len(lines)
    lines.append(
        EntryLine(
            " ".join(filter(None, parts)), (NEWEST if number else FIRST) if number < 3 else weight
        )
    )
    lines += packed(commit.files, " files", weight=FILES, parent=at, count=0)
    if commit.body:
        body = cut(" ".join(commit.body[:8]), 2 * SUBJECT_CHARACTERS)
        lines.append(EntryLine(f"  {body}", BODY, parent=at, count=0))
