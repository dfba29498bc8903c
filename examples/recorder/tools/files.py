"""Tools on files: list, search, read, write, patch, hash. Answers are what a terminal shows."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from recorder.tools import ToolError
from recorder.workspace import Workspace, seen

MOST_HITS = 150
AROUND = 4


def list_directory(workspace: Workspace, path: str) -> str:
    """List a directory, one entry a line: files with their size, directories with a slash."""
    entries = sorted(filter(seen, workspace.existing(path).iterdir()))
    return "\n".join(_entry(entry) for entry in entries)


def _entry(path: Path) -> str:
    if path.is_dir():
        return f"{path.name}/  {sum(map(seen, path.iterdir()))} entries"
    return f"{path.name}  {path.stat().st_size} bytes"


def grep(workspace: Workspace, pattern: str, path: str, glob: str = "*.py") -> str:
    """Search files for a regular expression; each hit is `path:line:text`."""
    wanted = re.compile(pattern)
    hits: list[str] = []
    for file in files_below(workspace.existing(path), glob):
        for number, line in enumerate(_lines(file), 1):
            if wanted.search(line):
                hits.append(f"{workspace.name(file)}:{number}:{line}")
    more = len(hits) - MOST_HITS
    return "\n".join(hits[:MOST_HITS] + ([f"[{more} more hits not shown]"] if more > 0 else []))


def files_below(path: Path, glob: str) -> Iterator[Path]:
    """Yield the files that are shown, in order; a file stands for itself."""
    if path.is_file():
        yield path
        return
    for entry in sorted(filter(seen, path.iterdir())):
        if entry.is_dir():
            yield from files_below(entry, glob)
        elif entry.match(glob):
            yield entry


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", errors="replace").splitlines()


def read_file(workspace: Workspace, path: str, start: int = 1, lines: int = 2000) -> str:
    """Return lines of a file, each behind its number and a tab."""
    return _numbered(_lines(_file(workspace, path)), start, lines)


def _numbered(text: list[str], start: int, lines: int) -> str:
    shown = text[max(start - 1, 0) : start - 1 + lines]
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(shown, max(start, 1)))


def _file(workspace: Workspace, path: str) -> Path:
    file = workspace.existing(path)
    if file.is_dir():
        message = f"{path}: is a directory"
        raise ToolError(message)
    return file


def _writable(workspace: Workspace, path: str) -> Path:
    if not path.startswith("work/"):
        message = f"{path}: read-only; only work/ can be written"
        raise ToolError(message)
    return workspace.path(path)


def write_file(workspace: Workspace, path: str, content: str) -> str:
    """Write a whole file below `work/`."""
    file = _writable(workspace, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
    return f"wrote {path}: {len(content.splitlines())} lines, {len(content.encode())} bytes"


def patch_file(workspace: Workspace, path: str, old: str, new: str) -> str:
    """Replace one passage, which must occur exactly once, and show the lines around it."""
    file = _file(workspace, path)
    text = _writable(workspace, path).read_text("utf-8")
    if (count := text.count(old)) != 1:
        message = f"{path}: `old` occurs {count} times; it must occur exactly once"
        raise ToolError(message)
    file.write_text(text.replace(old, new), "utf-8")
    line = text[: text.index(old)].count("\n") + 1
    length = new.count("\n") + 1 + 2 * AROUND
    return f"patched {path}\n{_numbered(_lines(file), max(line - AROUND, 1), length)}"


def hash_file(workspace: Workspace, path: str) -> str:
    """Return the file's SHA-256 and size."""
    data = _file(workspace, path).read_bytes()
    return f"{hashlib.sha256(data).hexdigest()}  {path}  {len(data)} bytes"
