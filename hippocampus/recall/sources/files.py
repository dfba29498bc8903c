"""The source `file`: files under folders that the policy names; no other file is opened."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from hippocampus.policy.rules import Refetch
from hippocampus.recall.sources.plan import FetchRequest, Unavailable

PATH_ARGUMENTS = ("path", "file_path", "file", "filename", "filepath", "target_file", "uri")


def fetch(request: FetchRequest, plan: Refetch) -> str:
    """Return the text of the file that a call names.

    Raises:
        Unavailable: it is outside the allowed folders, missing, not a plain file, too large or not
            text.

    """
    named = request.named(*PATH_ARGUMENTS)
    if named.startswith("file://"):
        try:
            named = url2pathname(urlsplit(named).path)
        except ValueError as wrong:
            raise Unavailable(f"{named[:100]!r} is not the URL of a file: {wrong}") from wrong
    path = _allowed(named, plan.roots)
    try:
        data = _read(path, plan.largest_bytes)
    except OSError as failure:
        raise Unavailable(f"{named} cannot be read: {failure.strerror}") from failure
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as failure:
        raise Unavailable(f"{named} is not text in UTF-8") from failure


def _allowed(named: str, roots: tuple[str, ...]) -> Path:
    """Return the real path of a file, with links resolved, if it is under a root.

    A relative path starts at the working directory, as for the tool; where that is under no root, it
    starts at each root.
    """
    folders = [folder for root in roots if (folder := _resolved(Path(root))) is not None]
    for base in (Path(), *folders):
        path = _resolved(base / named)
        if path is not None and any(map(path.is_relative_to, folders)):
            return path
    raise Unavailable(f"{named} is in none of the folders that the policy allows, or missing")


def _resolved(path: Path) -> Path | None:
    """Return the real path of an existing file or folder, or None."""
    try:
        return path.expanduser().resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None


def _read(path: Path, largest_bytes: int) -> bytes:
    """Read a plain file; refuse a pipe, a device, and a link that was put there since."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(handle, "rb") as opened:
        status = os.fstat(opened.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise Unavailable(f"{path.name} is not a plain file")
        data = b"" if status.st_size > largest_bytes else opened.read(largest_bytes + 1)
    if status.st_size > largest_bytes or len(data) > largest_bytes:  # /proc gives 0 for any size
        raise Unavailable(f"{path.name} is larger than {largest_bytes:,} bytes")
    return data
