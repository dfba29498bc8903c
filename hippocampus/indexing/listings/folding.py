"""A listing written as an extraction: folders with counts first, then each folder's names.

Pure; which lines stand is chosen elsewhere.
"""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator

from hippocampus.indexing.extraction import EntryLine, Extraction
from hippocampus.indexing.lines import counted, most_common, packed, ranked
from hippocampus.indexing.listings.files import ListedFile

MOST_GROUPS = 16
"""Folders in the overview."""
FEW_TOP = 12
FEW_FILES = 30
"""A listing of so few names needs no overview."""
OVERVIEW, LARGEST = 14.0, 5.0
MOST_NAMED = 5
MADE_TREE = 20.0
"""The one line of a tree that a tool filled."""
WEIGHT_BY_DEPTH = (2.0, 1.5, 1.2, 1.0, 0.8)
MADE = 0.15
MADE_FOLDER = re.compile(
    r"(?:^|/)(?:node_modules|\.git|__pycache__|\.venv|venv|site-packages|dist-info|build|target|vendor|"
    r"dist|\.cache|\.[a-z]+_cache|coverage|\.idea|\.tox)/"
)
"""Folders that tools fill."""
EXTENSION = re.compile(r"[^./](\.[A-Za-z][\w+-]{0,9})\*?$")
MOST_LINES = 5_000


def write_files(files: list[ListedFile], more: int = 0) -> Extraction:
    """Return the extraction of a listing, `more` being the lines behind those that were read."""
    plain = [file for file in files if not file.is_folder]
    summary = _summary(files, plain)
    data = {"files": len(plain), "folders": len(files) - len(plain)}
    files, made = _without_made(files)
    plain = [file for file in files if not file.is_folder]
    lines = [EntryLine(text, MADE_TREE, count=0) for text in made]
    lines += [] if len(files) <= FEW_FILES else [*_top(plain or files)]
    lines += [] if len(files) <= FEW_FILES else ranked(_overview(plain or files))
    lines += _largest(plain)
    for folder, inside in _by_folder(files).items():
        if len(lines) > MOST_LINES:
            break
        _add_folder(lines, folder, inside)
    rest = f" (and {more:,} lines more)" if more else ""
    return Extraction("listing", summary + rest, tuple(lines), data, ('pattern="…"',), "names")


def _without_made(files: list[ListedFile]) -> tuple[list[ListedFile], list[str]]:
    """Return the files outside of trees that tools fill, where those are most; a line for each tree."""
    trees = Counter[str]()
    own: list[ListedFile] = []
    for file in files:
        if match := MADE_FOLDER.search(file.folder):
            trees[file.folder[: match.end()]] += 1
        else:
            own.append(file)
    if not own or len(own) > len(files) / 2 or len(files) <= FEW_FILES:
        return files, []
    shown = [f"{tree}: {counted(count, 'name')}" for tree, count in trees.most_common(MOST_GROUPS)]
    rest = trees.total() - sum(count for _, count in trees.most_common(MOST_GROUPS))
    others = [f"… {rest} more names in such folders"] if rest else []
    return own, shown + others


def _summary(files: list[ListedFile], plain: list[ListedFile]) -> str:
    parts = [f"listing: {counted(len(plain), 'file')}"]
    folders = len(files) - len(plain) or len({file.folder for file in files if file.folder})
    parts += [counted(folders, "folder")] if folders else []
    sizes = [file.size for file in plain if file.size is not None]
    parts += [f"{sum(sizes):,} bytes"] if sizes else []
    owners = {file.owner for file in files}
    parts += [f"owner {owners.pop()}"] if len(owners) == 1 and "" not in owners else []
    kinds = most_common((_extension(file.name) for file in plain), 8)
    return ", ".join(parts) + (f"; {kinds}" if kinds else "")


def _extension(name: str) -> str:
    match = EXTENSION.search(name)
    return match[1] if match else "(no extension)"


def _by_folder(files: list[ListedFile]) -> dict[str, list[ListedFile]]:
    """Return the files by folder, folders with a single file under the name of none."""
    found: dict[str, list[ListedFile]] = {}
    for file in files:
        found.setdefault(file.folder, []).append(file)
    alone = [inside[0] for folder, inside in found.items() if len(inside) == 1 and folder]
    kept = {folder: inside for folder, inside in found.items() if len(inside) > 1 or not folder}
    for file in alone:
        kept.setdefault(f"{file.folder.split('/')[0]}\0", []).append(file)
    return kept


def _add_folder(lines: list[EntryLine], folder: str, inside: list[ListedFile]) -> None:
    """Add the names of a folder; a key that ends in a zero holds files that are alone in their folder."""
    apart = folder.endswith("\0")
    label = "" if apart or not folder else folder
    weight = _weight(inside[0].folder)
    _add_names(lines, label, inside, weight, apart=apart)


def _add_names(
    lines: list[EntryLine], label: str, inside: list[ListedFile], weight: float, *, apart: bool
) -> None:
    names = ((file.folder if apart else "") + _render(file) for file in inside)
    at = len(lines) if label else None
    lines += packed(names, label, weight=round(weight, 2), at=at)


def _render(file: ListedFile) -> str:
    size = f" {file.size}" if file.size is not None else ""
    return f"{file.name}/" if file.is_folder else f"{file.name}{size}"


def _weight(folder: str) -> float:
    if MADE_FOLDER.search(folder):
        return MADE
    depth = folder.strip("./").count("/") + (1 if folder.strip("./") else 0)
    return WEIGHT_BY_DEPTH[min(depth, len(WEIGHT_BY_DEPTH) - 1)]


def _largest(plain: list[ListedFile]) -> Iterator[EntryLine]:
    sized = [(file.size, _path(file)) for file in plain if file.size is not None]
    if len(sized) < 2 * MOST_NAMED:
        return
    largest = heapq.nlargest(MOST_NAMED, sized)
    yield from packed(
        [f"{name} {size}" for size, name in largest], "largest", weight=LARGEST, count=0
    )
    empty = [name for size, name in sized if not size]
    if empty:
        label = f"empty ({len(empty)})"
        yield from packed(empty[:MOST_NAMED], label, weight=LARGEST, count=0)
    least = heapq.nsmallest(2, (pair for pair in sized if pair[0]))
    smallest = ", ".join(f"{name} {size}" for size, name in least)
    yield EntryLine(f"smallest: {smallest}", LARGEST, count=0)
    yield from _sizes(plain)


def _path(file: ListedFile) -> str:
    return (file.folder + file.name).removeprefix("./")


def _sizes(plain: list[ListedFile]) -> Iterator[EntryLine]:
    """Yield the folders that hold most bytes."""
    sizes: Counter[str] = Counter()
    for file in plain:
        sizes[file.folder or "./"] += file.size or 0
    if len(sizes) > 2:
        rendered = [f"{folder} {size}" for folder, size in sizes.most_common(MOST_NAMED)]
        yield EntryLine(f"bytes: {', '.join(rendered)}", LARGEST, count=0)


def _top(files: list[ListedFile]) -> Iterator[EntryLine]:
    """Yield how many files lie in and below each folder at the top, and the files next to them."""
    below = _totals(files)
    at = ""
    while len(below[at][1]) == 1 and below[below[at][1][0]][0] == below[at][0]:
        at = below[at][1][0]
    totals = sorted((each for each in below[at][1]), key=lambda each: -below[each][0])
    if totals:
        counts = [f"{each} {below[each][0]}" for each in totals[:MOST_GROUPS]]
        yield from packed(counts, f"in and below {at or './'}", weight=OVERVIEW, count=0)
    own = [file.name for file in files if file.folder == at]
    if 0 < len(own) <= FEW_TOP:
        yield from packed(own, f"files in {at or './'}", weight=OVERVIEW / 2, count=0)


def _overview(files: list[ListedFile]) -> list[EntryLine]:
    """Return the folders with counts, the largest of them opened while there is room."""
    below = _totals(files)
    waiting = [(-below[""][0], "")]
    rendered: dict[str, tuple[int, str]] = {}
    while waiting and len(waiting) + len(rendered) < MOST_GROUPS:
        _, folder = heapq.heappop(waiting)
        total, inside = below[folder]
        room = MOST_GROUPS - len(waiting) - len(rendered) - 1
        opened = heapq.nlargest(room, inside, key=lambda each: below[each][0])
        rest = total - sum(below[each][0] for each in opened)
        if rest or not opened:
            others = "others " if len(opened) < len(inside) else ""
            rendered[folder] = rest, f"{folder or './'} {others}{rest}"
        for each in opened:
            heapq.heappush(waiting, (-below[each][0], each))
    rendered |= {folder: (-total, f"{folder or './'} {-total}") for total, folder in waiting}
    most = sorted(rendered, key=lambda folder: (-rendered[folder][0], folder))
    return packed((rendered[folder][1] for folder in most), "files", weight=OVERVIEW, count=0)


Totals = dict[str, tuple[int, list[str]]]


def _totals(files: list[ListedFile]) -> Totals:
    """Return for each folder how many files lie below it, and its folders."""
    counts = Counter(file.folder for file in files)
    totals: dict[str, int] = {"": 0}
    inner: dict[str, list[str]] = {"": []}
    for folder, count in counts.items():
        for above in _chain(folder):
            if above not in totals:
                totals[above], inner[above] = 0, []
                inner[_parent(above)].append(above)
            totals[above] += count
    return {folder: (totals[folder], inner[folder]) for folder in totals}


def _chain(folder: str) -> Iterator[str]:
    """Yield a folder and those above it, outermost first."""
    yield ""
    at = folder.find("/", 1)
    while at >= 0:
        yield folder[: at + 1]
        at = folder.find("/", at + 1)


def _parent(folder: str) -> str:
    return folder[: folder.rstrip("/").rfind("/") + 1] if folder.rstrip("/").rfind("/") > 0 else ""
