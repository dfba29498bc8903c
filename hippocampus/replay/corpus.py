"""A corpus of recordings replayed into a folder: a part for each file, which a later run goes on from.

A part is written whole or not at all, and its name has everything in it that its rows depend on. The
rows of a run are read from its parts, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import NamedTuple

import hippocampus
from hippocampus.errors import StoreError
from hippocampus.replay.run import Options, Place, Row, place, replay_file
from hippocampus.replay.workers import KILLED, Engine, over_files
from hippocampus.storage import files as storage


class FilePart(NamedTuple):
    """The rows of one file, in order."""

    place: Place
    """The place of the first row."""
    name: str
    """The name of a file in the folder; empty where the file that was to be replayed has no part."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The parts of one run in a folder; iterating yields their rows in order (`place`)."""

    folder: Path
    options: Options
    parts: list[FilePart] = field(default_factory=list)
    left_out: list[Row] = field(default_factory=list)
    """A row for each file without a part."""

    def replay(
        self, files: Iterable[Path], *, engine: Engine = "processes", jobs: int | None = None
    ) -> Iterator[Path]:
        """Write the part of each file, or take it over from an earlier run, and yield the file.

        A file that killed two processes gets no part, and a row in `left_out`.

        Raises:
            StoreError: the folder cannot be written.
            HippocampusError: the engine is not installed.
        """
        work = functools.partial(write_part, folder=self.folder, options=self.options)
        done = over_files(
            files, work, jobs=jobs, engine=engine, lost=lambda file: (file, FilePart(Place(), ""))
        )
        for file, part in done:
            if part.name:
                self.parts.append(part)
            else:
                self.left_out.append({"path": str(file), "reason": KILLED})
            yield file

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows, read from their parts."""
        yield from self.left_out
        for part in sorted(self.parts):
            with (self.folder / part.name).open(encoding="utf-8") as lines:
                yield from map(json.loads, lines)


def write_part(file: Path, folder: Path, options: Options) -> tuple[Path, FilePart]:
    """Replay a file into its part, where the folder does not have it yet.

    Raises:
        StoreError: the folder cannot be written.
    """
    part = folder / _name(file, options)
    try:
        if part.exists():
            with part.open(encoding="utf-8") as lines:
                first = next(map(json.loads, lines), None)
        else:
            rows = sorted(replay_file(file, options), key=place)
            dumped = (json.dumps(row) + "\n" for row in rows)
            storage.replace_file(part, "".join(dumped).encode("ascii"))
            first = next(iter(rows), None)
    except OSError as failure:
        raise StoreError(f"{part} cannot be written: {failure.strerror}") from failure
    return file, FilePart(place(first) if first else Place(), part.name)


def _name(file: Path, options: Options) -> str:
    """Return the name of a file's part: a hash of its path and state, the settings and our version."""
    # The path of a session is that of its database, then its name.
    stats = [each.stat() for each in (file, file.parent) if each.is_file()]
    values = (
        str(file),
        [(found.st_size, found.st_mtime_ns) for found in stats],
        options.policy.model_dump_json(),
        asdict(options.prices),
        (options.compare, options.marks, options.by_model),
        str(options.texts),
        hippocampus.__version__,
    )
    return f"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]}.jsonl"
