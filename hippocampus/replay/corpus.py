"""Replays a corpus of recordings into parts, one per file, from which a later run continues.

A part is written atomically, and its name is a hash of everything that its rows depend on. The rows of
a run are read from its parts, so that memory does not grow with the corpus.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import hippocampus
from hippocampus.replay.buckets import get_part, put_part
from hippocampus.replay.readers import RecordedFile
from hippocampus.replay.run import Options, Row, place, replay_file
from hippocampus.replay.workers import KILLED, Engine, over_files

Part = tuple[tuple[str, str, str], str]
"""The place of the first row of a file, and the name of the part with its rows."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The parts of one run; iterating yields their rows in order (`place`)."""

    out: str
    """A folder, or the address of a bucket."""
    options: Options
    resume: bool = True
    """Whether the parts that an earlier run has written are used; else every file is replayed."""
    parts: list[Part] = field(default_factory=list)
    left_out: list[Row] = field(default_factory=list)
    """A row per file without a part."""

    def replay(
        self,
        files: Iterable[RecordedFile],
        *,
        engine: Engine = "processes",
        jobs: int | None = None,
    ) -> Iterator[RecordedFile]:
        """Write the parts of files, unless those of an earlier run are used, and yield the files.

        A file that cannot be replayed gets no part, and a row in `left_out`: the next run tries again.
        """
        work = functools.partial(write_part, out=self.out, options=self.options, resume=self.resume)
        over = functools.partial(over_files, jobs=jobs, engine=engine)
        for file, found in over(files, work, lost=lambda file: (file, None)):
            if isinstance(found, tuple):
                self.parts.append(found)
            else:
                self.left_out.append(found or {"path": str(file), "reason": KILLED})
            yield file

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows, read from their parts."""
        yield from self.left_out
        for _, name in sorted(self.parts):
            yield from _read(get_part(self.out, name))


def write_part(
    file: RecordedFile, out: str, options: Options, *, resume: bool
) -> tuple[RecordedFile, Part | Row]:
    """Replay a file into its part unless a part is used; return a row if it cannot be replayed."""
    name = _name(file, options)
    if resume and (text := get_part(out, name)):
        with contextlib.suppress(ValueError, StopIteration):  # a damaged part is written anew
            return file, (place(next(_read(text))), name)
    rows = sorted(replay_file(file, options), key=place)
    if "reason" in rows[0]:
        return file, rows[0]
    put_part(out, name, "\n".join((*map(json.dumps, rows), "")).encode("ascii"))
    return file, (place(rows[0]), name)


def _read(text: bytes) -> Iterator[Row]:
    return map(json.loads, filter(None, text.splitlines()))


def _name(file: RecordedFile, options: Options) -> str:
    """Return the name of a file's part: a hash of its path and state, the settings and our version."""
    if isinstance(file, Path):
        found = file.stat()
        state: object = [(found.st_size, found.st_mtime_ns)]
    else:
        state = file.etag
    values = (
        str(file),
        state,
        options.policy.model_dump_json(),
        asdict(options.prices),
        (options.compare, options.marks, options.by_model),
        str(options.texts),
        hippocampus.__version__,
    )
    return f"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]}.jsonl"
