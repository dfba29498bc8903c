"""File listings (`ls -l`, `ls -R`, `dir`, `tree`, `find`, `du`, bare paths) read into files with folders.

Pure text: no path is ever opened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

LINE_CHARACTERS = 600
MOST_FILES = 30_000
LONG = re.compile(
    r"(?P<mode>[-dlbcps][rwxsStT-]{9})[.+@]? +\d+ +(?P<owner>\S+) +(?:\S+ +)??(?P<size>\d[\d.,]*[KMGTP]?) +"
    r"(?P<date>[^\W\d_]{3,5}\.? +\d+ +[\d:]+|\d{4}-\d\d-\d\d(?: [\d:.]+(?: [+-]\d{4})?)?|\d+ [^\W\d_]{3,5}\.? +[\d:]+)"
    r" +(?P<name>.+)"
)
WINDOWS = re.compile(
    r"(?:(?P<mode>[-dlarhs]{5,6}) +)?(?P<date>\d{1,4}[/.-]\d\d?[/.-]\d{1,4}) +\d\d?:\d\d(?: ?[AaPp][Mm])? +"
    r"(?:(?P<size><[A-Z]+>|\d[\d.,]*) +)?(?P<name>\S.*)"
)
"""A line of `dir`, or of PowerShell's, which has a mode."""
WINDOWS_HEADING = re.compile(r" *Directory(?: of|:) (?P<folder>\S.*)")
WINDOWS_AROUND = re.compile(
    r" *(?:Directory(?: of|:) |Volume |\d+ (?:File|Dir)\(s\)|Mode +LastWriteTime|-{4} +-)"
)
"""A line around those of `dir`."""
HEADING = re.compile(r"(?P<folder>[^\s:][^:]{0,300}):")
BRANCH = re.compile(r"(?P<prefix>[ \u00a0│|]*+)(?:[├└][─\u2500]{2,3}|[|`+\\]-{2,3}) ?(?P<name>.+)")
SIZED = re.compile(r"\[ *(?:\S+ +)*?(?P<size>\d[\d.]*[KMGT]?)\] +(?P<name>.+)")
WEIGHED = re.compile(r"(?P<size>\d[\d.]*[KMGT]?)B?\t(?P<name>\S.*)")
PATH = re.compile(
    r"(?:\./|\.\./|~/|/|[A-Za-z]:[\\/])?[\w.@+~%$()\[\]{},=#&!-]+(?:[\\/][\w.@+~%$()\[\]{},=#&! -]+)*/?"
)
NAMED = re.compile(r"[\w@)\]}]\.[A-Za-z0-9]{1,10}$|/|^\.\w|^[A-Z][A-Za-z]*$|^[\w.-]+$")
SUFFIX = re.compile(r"\w\.[A-Za-z0-9]{1,10}$")
TOTAL = re.compile(r"total \d|\d+ director(?:y|ies)\b")
ABOUT = re.compile(r"\S+ .*:|\[.* truncated\b.*")
"""A line of the tool itself, above or below the paths."""
UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
TREE_STEP = 4
"""Characters that `tree` indents a level by."""


class ListedFile(NamedTuple):
    """One name in a listing."""

    folder: str
    """As the listing writes it, ending in a slash; empty for where it was made."""
    name: str
    size: int | None = None
    is_folder: bool = False
    date: str = ""
    """As the listing writes it."""
    owner: str = ""


def long_line(line: str) -> bool:
    """Return whether a line is one of `ls -l`."""
    return LONG.fullmatch(line) is not None


def tree_line(line: str) -> bool:
    """Return whether a line is one of `tree`."""
    return BRANCH.fullmatch(line) is not None


def path_line(line: str) -> bool:
    """Return whether a line is a path or a file's name, with or without its weight."""
    weighed = WEIGHED.fullmatch(line)
    name = weighed["name"] if weighed else line
    return "://" not in name and PATH.fullmatch(name) is not None and NAMED.search(name) is not None


def read_long(lines: list[str]) -> list[ListedFile]:
    """Return the files of `ls -l`, of each folder under its heading with `-R`."""
    found: list[ListedFile] = []
    folder = ""
    for line in lines:
        if (match := LONG.fullmatch(line)) and match["name"] not in (".", ".."):
            is_folder = match["mode"][0] == "d"
            mark = "*" if match["mode"][0] == "-" and "x" in match["mode"] else ""
            name = match["name"].rstrip("/") + mark
            size = None if is_folder else _bytes(match["size"])
            found.append(ListedFile(folder, name, size, is_folder, match["date"], match["owner"]))
        elif heading := HEADING.fullmatch(line):
            folder = _folder(heading["folder"])
    return found


def windows_line(line: str) -> bool:
    """Return whether a line is one of `dir`."""
    found = WINDOWS.fullmatch(line)
    return found is not None and bool(found["mode"] or found["size"])


def read_windows(lines: list[str]) -> list[ListedFile]:
    """Return the files of `dir`, of each folder under its heading."""
    found: list[ListedFile] = []
    folder = ""
    for line in lines:
        if heading := WINDOWS_HEADING.fullmatch(line):
            folder = heading["folder"].rstrip("\\") + "\\"
        elif windows_line(line) and (match := WINDOWS.fullmatch(line)):
            size = match["size"] or "<DIR>"
            size_bytes = None if size[0] == "<" else _bytes(size)
            if match["name"] not in (".", ".."):
                is_folder = size_bytes is None
                name = ListedFile(folder, match["name"], size_bytes, is_folder, match["date"])
                found.append(name)
    return found


def read_tree(lines: list[str]) -> list[ListedFile]:
    """Return the files of `tree`; a name with others below it is a folder."""
    found: list[ListedFile] = []
    open_folders: list[str] = []
    depths: list[int] = []
    for line in lines:
        match = BRANCH.fullmatch(line)
        if match is None:
            continue
        depth = len(match["prefix"]) // TREE_STEP
        sized = SIZED.fullmatch(match["name"])
        name, size = (sized["name"], _bytes(sized["size"])) if sized else (match["name"], None)
        folder = "".join(open_folders[:depth])
        open_folders[depth:] = [_folder(name)]
        found.append(ListedFile(folder, name.rstrip("/"), size, name.endswith("/")))
        depths.append(depth)
    return _with_folders(found, depths)


def _with_folders(found: list[ListedFile], depths: list[int]) -> list[ListedFile]:
    following = [*depths[1:], 0][: len(depths)]
    return [
        file._replace(is_folder=True, size=None) if after > depth else file
        for file, depth, after in zip(found, depths, following, strict=True)
    ]


def read_paths(lines: list[str]) -> list[ListedFile]:
    """Return the files of `find`, `du`, or a list of paths; a path above another is a folder."""
    found: list[ListedFile] = []
    for line in lines:
        weighed = WEIGHED.fullmatch(line) if "\t" in line else None
        path, size = (weighed["name"], _bytes(weighed["size"])) if weighed else (line, None)
        if ("0" <= path[:1] <= "9" or path[:1] == "t") and TOTAL.match(path):
            continue
        if not path.strip("./-") or ABOUT.fullmatch(path):
            continue
        before, slash, name = path.rstrip("/").rpartition("/")
        found.append(ListedFile(before + slash, name, size, path.endswith("/")))
    above = {file.folder.rstrip("/") for file in found}
    return [
        file._replace(is_folder=True) if file.folder + file.name in above else file
        for file in found
    ]


def _folder(name: str) -> str:
    return "" if name in (".", "./") else name.rstrip("/") + "/"


def _bytes(size: str) -> int | None:
    """Return a size in bytes; with a unit it is as exact as the listing."""
    number, unit = (size[:-1], size[-1]) if size[-1] in UNITS else (size, "")
    try:
        return int(float(number.replace(",", "")) * UNITS.get(unit, 1))
    except (ValueError, OverflowError):
        return None


READERS: dict[str, tuple[Callable[[str], bool], Callable[[list[str]], list[ListedFile]]]] = {
    "long": (long_line, read_long),
    "windows": (windows_line, read_windows),
    "tree": (tree_line, read_tree),
    "paths": (path_line, read_paths),
}
"""How each form of listing is recognised, by one line, and read."""


def read_files(text: str, form: str) -> list[ListedFile]:
    """Return the files of a listing of a known form."""
    lines = [line.rstrip()[:LINE_CHARACTERS] for line in text.split("\n")[:MOST_FILES] if line]
    return READERS[form][1]([line for line in lines if line])
