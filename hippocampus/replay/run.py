"""Replays recordings: a file in, a JSON row per conversation out, and one object of all rows.

Memory is bounded by the largest file: a process reads one file at a time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hippocampus.errors import ModelError, RecordingError, StoreError
from hippocampus.policy import Policy
from hippocampus.prices import TABLES, Prices, prices_for
from hippocampus.prices.prompt_cache import MarkPlacement
from hippocampus.replay.measure import CacheModel, Script, measure
from hippocampus.replay.our_strategy import measure_ours
from hippocampus.replay.page import texts_page
from hippocampus.replay.readers import RecordedFile, our_archive, read_bytes, read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR, OURS, floor
from hippocampus.replay.summary import Summary, raw_of, totals
from hippocampus.replay.texts import ViewTexts
from hippocampus.storage import files as storage

log = logging.getLogger("hippocampus")
NAME_DIGITS = 16
"""The length of the name of a page of texts, which is a hash."""
Row = dict[str, Any]
"""The figures of a recording, or the `path` of a file that is not replayed and the `reason`."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a replay."""

    policy: Policy
    prices: Prices
    compare: bool = False
    """Whether the other strategies and the floor run too."""
    marks: MarkPlacement = "ours"
    """The cache marks that every strategy's requests carry."""
    texts: Path | None = None
    """A folder for pages of the recordings' texts; None writes no pages."""
    by_model: bool = False
    """Whether `prices` apply only to recordings without a model of known price."""

    def prices_of(self, model: str | None) -> Prices | None:
        """Return the prices that apply to a recording, or None if those of its model are not known."""
        if not self.by_model:
            return self.prices
        table = self.prices.name if self.prices.name in TABLES else None
        with contextlib.suppress(ModelError):
            return prices_for(table, model) if model else None
        return None


def replay_file(file: RecordedFile, options: Options) -> list[Row]:
    """Return a row per conversation of a file, which may continue other files of its folder."""
    return _rows(str(file), functools.partial(read_file, file), options)


def replay_bytes(name: str, content: bytes, options: Options) -> list[Row]:
    """Return a row per conversation in the content of a file, without reading other files.

    `name` is the file's path or address; the name of its folder is the rows' `source`. The rows are those
    that `hippocampus replay --out` writes. A file that is no recording has one row, with a `reason`.
    """
    return _rows(name, functools.partial(read_bytes, name, content), options)


def _rows(name: str, read: Callable[[], list[Recording]], options: Options) -> list[Row]:
    try:
        rows = [replay_recording(recording, options) for recording in read()]
    except RecordingError as problem:
        return [{"path": problem.path, "reason": problem.reason}]
    except StoreError as failure:
        return [{"path": name, "reason": str(failure)}]
    except Exception as bug:
        # A bug in one file must not end hours of work on others.
        log.warning("%s cannot be replayed", name, exc_info=bug)
        return [{"path": name, "reason": f"a bug of hippocampus: {type(bug).__name__}: {bug}"}]
    return rows or [{"path": name, "reason": "no model answered in it"}]


def replay_recording(recording: Recording, options: Options) -> Row:
    """Replay a recording with our policy and, for a comparison, with the other strategies."""
    script = Script(recording)
    own = options.prices_of(recording.model)
    prices = own or options.prices
    model = CacheModel(prices, options.marks)
    texts = ViewTexts() if options.texts else None
    ours, entries = measure_ours(script, options.policy, model, texts)
    measured = {OURS: ours}
    for name in BASELINES if options.compare else (EVERYTHING,):
        measured[name] = measure(script, BASELINES[name](), model=model)
    if options.compare:
        measured[FLOOR] = measure(script, floor(recording), model=model)
    sums = {name: totals(script, sent, prices) for name, sent in measured.items()}
    unpriced = Counter([recording.model] if recording.model and not own else ())
    raw = raw_of(script, measured[EVERYTHING], prices)
    summary = Summary(raw, sums, Counter([prices.name]), unpriced)
    problems = [problem for sent in measured.values() for problem in sent.problems]
    if recording.cut:
        count = f"{len(recording.cut):,} records are not whole in {recording.path}"
        problems.append(f"{count}, the first: {recording.cut[0]}")
    # The path of a session in a database ends with `DATABASE/SESSION`: its source is the folder of both.
    folder = Path(recording.path).parent
    folder = folder.parent if our_archive.is_session(Path(recording.path)) else folder
    row = {
        "path": recording.path,
        "name": recording.name,
        "source": folder.name or ".",
        "format": recording.format,
        "model": recording.model,
        "dollars_per_million": prices.dollars_per_million,
        **summary.figures(),
        "broken": list(recording.broken),
        "problems": problems,
        "call_tokens": {
            name: [call.tokens for call in sent.calls] for name, sent in measured.items()
        },
        "call_costs": {
            name: [round(call.cost(prices), 1) for call in sent.calls]
            for name, sent in measured.items()
        },
        "entries": entries,
    }
    if texts and options.texts:
        named = hashlib.sha256(f"{recording.path}\0{recording.name}".encode("utf-8", "replace"))
        page = options.texts / f"{named.hexdigest()[:NAME_DIGITS]}.html"
        content = texts_page(texts.data(recording, ours)).encode("utf-8", "replace")
        storage.replace_file(page, content)
        row["texts"] = f"{page.parent.name}/{page.name}"
    return row


def place(row: Row) -> tuple[str, str, str]:
    """Return the sort key of a row; in this order sums are reproducible to the last digit."""
    return row.get("source", ""), row.get("path", ""), row.get("name", "")


def summarise(rows: Iterable[Row]) -> tuple[dict[str, Summary], Summary, list[Row]]:
    """Return the summaries of ordered rows by source, that of all sources, and the rows with a reason."""
    sources: dict[str, Summary] = {}
    total, skipped = Summary(), list[Row]()
    for row in rows:
        if "reason" in row:
            skipped.append(row)
            continue
        for summary in (sources.setdefault(row["source"], Summary()), total):
            summary.add(row)
    return sources, total, sorted(skipped, key=lambda row: row["path"])


@dataclass(frozen=True, slots=True)
class Recordings:
    """The recordings of an outcome, from rows that every iteration may read from a disk."""

    rows: Iterable[Row]

    def __iter__(self) -> Iterator[Row]:
        yield from (row for row in self.rows if "reason" not in row)


def outcome(rows: Iterable[Row], options: Options) -> dict[str, Any]:
    """Return the figures of a replay, for `json_pieces`, `table` and `page`.

    `rows` are ordered by `place`, and are iterated again with `recordings`. Documented in SPEC.md; no
    field is ever removed.
    """
    sources, total, skipped = summarise(rows)
    return {
        "version": 1,
        "policy": options.policy.name,
        "prices": asdict(options.prices),
        "marks": options.marks,
        "ours": OURS,
        "everything": EVERYTHING,
        "floor": FLOOR if options.compare else None,
        "sources": {name: summary.figures() for name, summary in sources.items()},
        "total": total.figures() if sources else None,
        "recordings": Recordings(rows),
        "skipped": skipped,
    }


def json_pieces(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the JSON object of an outcome in pieces, one recording at a time."""
    mark = "{"
    for name, value in found.items():
        yield f"{mark}{json.dumps(name)}: "
        mark = ", "
        if isinstance(value, Recordings):
            yield "["
            for number, row in enumerate(value):
                yield ", " * (number > 0) + json.dumps(row, ensure_ascii=False)
            yield "]"
        else:
            yield json.dumps(value, ensure_ascii=False)
    yield "}"
