"""What commands print about a tree of files: find, ls -lR, grep -rn and git log, over real files.

No command is run, so that the text is the same on every system.
"""

from __future__ import annotations

import re
import textwrap
from datetime import UTC, datetime, timedelta
from itertools import groupby

from hippocampus.models import tokens
from tests.bench.compression.corpus import sources

LISTING_TOKENS = 31_000
LS_TOKENS = 15_000
GREP_PATTERN = re.compile(r"\braise (ValueError|TypeError)\b")
GREP_TOKENS = 12_000
LOG_COMMITS = 90
START = datetime(2025, 6, 27, 17, 42, 9, tzinfo=UTC)
MERGE_AT, REVERT_AT = 23, 61


def find_output() -> str:
    """`find . -type f` over the standard library, cut at the protocol's size by whole folders."""
    lines = [f"./lib/{name}" for name in sources.files()]
    lines += [f"./cache/{name}c" for name in sources.modules()]
    spent, kept = 0, []
    for _, group in groupby(lines, key=lambda line: line.rpartition("/")[0]):
        names = list(group)
        spent += tokens.count("\n".join(names))
        if spent > LISTING_TOKENS:
            break
        kept += names
    return "\n".join(["./.editorconfig", "./CHANGELOG.md", "./Makefile", *kept, ""])


def ls_output() -> str:
    """`ls -lR` over the packages of the standard library, with real sizes."""
    by_folder: dict[str, list[str]] = {}
    for name in sources.modules():
        folder, _, base = name.rpartition("/")
        by_folder.setdefault(folder, []).append(base)
    out: list[str] = []
    for folder in sorted(by_folder):
        block = [f"./{folder}:" if folder else ".:"]
        sizes = [len(sources.read(f"{folder}/{name}".strip("/"))) for name in by_folder[folder]]
        block.append(f"total {sum(size // 1024 + 1 for size in sizes)}")
        block += map(_ls_line, by_folder[folder], sizes)
        out += [*block, ""]
        if tokens.count("\n".join(out)) > LS_TOKENS:
            break
    return "\n".join(out)


def _ls_line(name: str, size: int) -> str:
    day = 1 + int(sources.digest(name, length=3), 16) % 28
    mode = "-rwxr-xr-x" if name in {"pydoc.py", "cProfile.py"} else "-rw-r--r--"
    return f"{mode} 1 build build {size:>7} Mar {day:>2} 08:14 {name}"


def grep_output() -> str:
    """`grep -rn "raise (ValueError|TypeError)"` over the standard library."""
    hits: list[str] = []
    spent = 0
    for name in sources.modules():
        for number, line in enumerate(sources.read(name).splitlines(), 1):
            if GREP_PATTERN.search(line):
                hits.append(f"lib/{name}:{number}:{line}")
                spent += tokens.count(hits[-1]) + 1
        if spent > GREP_TOKENS:
            break
    return "\n".join(hits) + "\n"


def git_log() -> str:
    """`git log` whose messages are the modules' own descriptions; people and hashes are made up."""
    subjects = _subjects()
    blocks = [_commit(at, *subjects[at]) for at in range(LOG_COMMITS)]
    return "\n\n".join(blocks) + "\n"


def _subjects() -> list[tuple[str, str]]:
    """One file and the first sentence of its documentation for each commit."""
    found = []
    for name in sorted(sources.modules(), key=lambda name: sources.digest("log", name)):
        match = re.match(r'r?"""(.*?)"""', sources.read(name), re.DOTALL)
        text = " ".join(match[1].split()) if match else ""
        if 40 < len(text) < 1_500 and text.isascii():
            found.append((name, text))
    return found


def _commit(at: int, name: str, text: str) -> str:
    people = ("Ada Bergström", "Tomás Villar", "Mei Okafor", "Jonas Reiter", "Priya Nair")
    person = people[int(sources.digest("who", at, length=2), 16) % 7 % 5]
    mail = person.split()[0].lower().replace("á", "a") + "@library.example"
    when = START - timedelta(minutes=397 * at)
    lines = [f"commit {_hash(at)}" + _decoration(at)]
    if at == MERGE_AT:
        lines.append(f"Merge: {_hash(at + 1)[:9]} {sources.digest('branch', length=9)}")
    lines += [f"Author: {person} <{mail}>", f"Date:   {when:%a %b %d %H:%M:%S %Y} +0000", ""]
    return "\n".join(lines + [f"    {line}".rstrip() for line in _message(at, name, text)])


def _hash(at: int) -> str:
    return sources.digest("commit", at)


def _decoration(at: int) -> str:
    marks = {0: " (HEAD -> main, origin/main)", 37: " (tag: v2.4.0)", 78: " (tag: v2.3.1)"}
    return marks.get(at, "")


def _message(at: int, name: str, text: str) -> list[str]:
    number = 1_500 - 7 * at
    if at == MERGE_AT:
        return [f"Merge pull request #{number} from nair/streaming-reader"]
    if at == REVERT_AT:
        reverted = _subject(*_subjects()[at + 1])
        return [f'Revert "{reverted}"', "", f"This reverts commit {_hash(at + 1)}."]
    return [f"{_subject(name, text)} (#{number})", "", *textwrap.wrap(text, 72)[:6]]


def _subject(name: str, text: str) -> str:
    first = textwrap.shorten(text.partition(". ")[0], 56, placeholder="").rstrip(" .,-:")
    return f"{name[:-3]}: {first}"
