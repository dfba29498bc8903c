"""Replays a corpus of recordings into parts of Parquet, one per file, from which a later run continues.

A part is written atomically, and its name is a hash of everything that its rows depend on. The rows of a
run are read from its parts, so that memory does not grow with the corpus; without parts they are kept packed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import Any

import hippocampus
from hippocampus.errors import HippocampusError
from hippocampus.replay.buckets import get_part, put_part
from hippocampus.replay.readers import RecordedFile
from hippocampus.replay.run import Options, Row, place, replay_file
from hippocampus.replay.strategies import OURS
from hippocampus.replay.workers import KILLED, Engine, over_files

# The columns of a part by their type: fields of a row, figures of it and of our strategy, fields of entries.
TEXTS = "path", "name", "source", "format", "model", "reason"
RAW_COUNTS = "messages", "results", "result_tokens", "broken_lines"
COUNTS = (
    "calls", "tokens", "view_tokens", "peak_tokens", "recalls", "uses", "hidden", "line_uses", "hidden_lines",
    "own_uses", "own_hidden", "asked_tokens", "read_tokens",
)  # fmt: skip
NUMBERS = (
    "cost", "dollars", "tokens_percent", "cost_percent", "visible_percent", "lines_percent", "own_percent",
    "read_percent",
)  # fmt: skip
ENTRY_TEXTS = "entry_id", "tool", "kind", "reason"
ENTRY_COUNTS = "tokens", "arrived", "shortened", "saves"
ENTRY_TURNS = "used", "recalled", "accessed"
Part = tuple[tuple[str, str, str], str | bytes]
"""The place of the first row of a file, and the name of the part with its rows, or the rows packed."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """The rows of one run; iterating yields them in order (`place`).

    Raises:
        HippocampusError: `out` is given, and pyarrow is not installed.
    """

    out: str | None
    """A folder, or the address of a bucket; None keeps the rows in memory."""
    options: Options
    resume: bool = True
    """Whether the parts that an earlier run has written are used; else every file is replayed."""
    parts: list[Part] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.out:
            _pyarrow()

    def replay(
        self,
        files: Iterable[RecordedFile],
        *,
        engine: Engine = "processes",
        jobs: int | None = None,
    ) -> Iterator[RecordedFile]:
        """Replay files, unless their parts of an earlier run are used, and yield the files.

        A file that cannot be replayed has a row with the reason, and the next run tries it again.
        """
        work = functools.partial(make_part, out=self.out, options=self.options, resume=self.resume)
        for file, part in over_files(files, work, jobs=jobs, engine=engine, lost=_killed):
            self.parts.append(part)
            yield file

    def leave_out(self, path: str, reason: str) -> None:
        """Add a row for a file that is not replayed."""
        self.parts.append(_pack([{"path": path, "reason": reason}]))

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows, read from their parts."""
        for _, found in sorted(self.parts, key=itemgetter(0)):
            if isinstance(found, bytes):
                yield from json.loads(zlib.decompress(found))
            elif self.out:
                yield from _read(get_part(self.out, found))


def make_part(
    file: RecordedFile, out: str | None, options: Options, *, resume: bool
) -> tuple[RecordedFile, Part]:
    """Replay a file into its part, unless a part is used."""
    name = _name(file, options)
    if out and resume and (content := get_part(out, name)):
        with contextlib.suppress(KeyError, OSError, ValueError):  # a damaged part is written anew
            first = next(_read(content), None)
            if first and "reason" not in first:
                return file, (place(first), name)
    rows = sorted(replay_file(file, options), key=place)
    if not out:
        return file, _pack(rows)
    put_part(out, name, _parquet(rows))
    return file, (place(rows[0]), name)


def _killed(file: RecordedFile) -> tuple[RecordedFile, Part]:
    return file, _pack([{"path": str(file), "reason": KILLED}])


def _pack(rows: list[Row]) -> Part:
    return place(rows[0]), zlib.compress(json.dumps(rows).encode("ascii"))


def _pyarrow() -> Any:
    try:
        import pyarrow.parquet
    except ImportError as missing:
        reason = "--out writes Parquet by pyarrow: pip install 'hippocampus-context[ray]'"
        raise HippocampusError(reason) from missing
    return pyarrow


def _schema(arrow: Any) -> Any:
    """Return the columns of a part: the fields and figures of a row that queries ask for, and the row."""
    text, count, number = arrow.string(), arrow.int64(), arrow.float64()
    columns = [*dict.fromkeys(TEXTS, text).items(), *dict.fromkeys(RAW_COUNTS, count).items()]
    figures = {**dict.fromkeys(COUNTS, count), **dict.fromkeys(NUMBERS, number)}
    entry = {
        **dict.fromkeys(ENTRY_TEXTS, text),
        **dict.fromkeys(ENTRY_COUNTS, count),
        "costs": number,
        **dict.fromkeys(ENTRY_TURNS, arrow.list_(count)),
    }
    by_strategy = {
        "strategies": arrow.struct(figures),
        "call_tokens": arrow.list_(count),
        "call_costs": arrow.list_(number),
    }
    return arrow.schema(
        [
            *columns,
            *figures.items(),
            *((name, arrow.map_(text, kind)) for name, kind in by_strategy.items()),
            ("entries", arrow.list_(arrow.struct(entry))),
            ("row", text),
        ]
    )


def _parquet(rows: list[Row]) -> bytes:
    """Return a part: the same rows have the same bytes with one version of pyarrow."""
    arrow, lines = _pyarrow(), list[Row]()
    for row in rows:
        ours = row.get("strategies", {}).get(OURS, {})
        # A path that is no UTF-8 is whole in `row` only.
        text = json.dumps({**row.get("raw", {}), **ours, **row}, ensure_ascii=False)
        lines.append({**json.loads(text.encode("utf-8", "replace")), "row": json.dumps(row)})
    file = io.BytesIO()
    arrow.parquet.write_table(
        arrow.Table.from_pylist(lines, schema=_schema(arrow)),
        file,
        version="2.6",
        compression="zstd",
        # Most parts have one row: what helps to find rows would be a third of the file.
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
        write_page_checksum=True,
    )
    return file.getvalue()


def _read(content: bytes) -> Iterator[Row]:
    """Yield the rows of a part.

    Raises:
        KeyError, OSError, ValueError: the part is damaged.
    """
    file = io.BytesIO(content)
    part = _pyarrow().parquet.ParquetFile(file, page_checksum_verification=True)
    yield from map(json.loads, part.read(["row"], use_threads=False).column("row").to_pylist())


def _name(file: RecordedFile, options: Options) -> str:
    """Return the name of a file's part: a hash of its path and state, the settings and our version."""
    state: object = None
    if not isinstance(file, Path):
        state = file.etag
    else:
        with contextlib.suppress(OSError):  # one that is gone since it was listed has a row too
            found = file.stat()
            state = [(found.st_size, found.st_mtime_ns)]
    values = (
        str(file),
        state,
        options.policy.model_dump_json(),
        asdict(options.prices),
        (options.compare, options.marks, options.by_model),
        str(options.texts),
        hippocampus.__version__,
    )
    return f"{hashlib.sha256(json.dumps(values).encode()).hexdigest()[:32]}.parquet"
