"""Replays many recordings over the machine's cores: their figures as they are done, and one object of all.

Memory is bounded by the largest file: a process reads one, measures it and returns numbers.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from hippocampus.errors import RecordingError
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.prices.prompt_cache import MarkPlacement
from hippocampus.replay.managed import EntryTimeline, measure_ours
from hippocampus.replay.measure import CacheModel, Measured, measure, prepare
from hippocampus.replay.outcomes import DecisiveSums, decisive_sums, outcomes
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR
from hippocampus.replay.summary import Summary, raw_of, totals

T = TypeVar("T")
OURS = "hippocampus"
SMALL_BYTES = 2_000_000
"""Files of fewer bytes together are replayed in this process: others would take longer to start."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a replay."""

    policy: Policy
    prices: Prices
    compare: bool = False
    """Whether the other strategies and the floor run too."""
    views: bool = False
    """Whether the sizes of every call are kept, for a page."""
    outcomes: bool = False
    """Whether the figures of decisive steps are computed, by folder."""
    marks: MarkPlacement = "ours"
    """The cache marks that every strategy's requests carry."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One recording's figures."""

    path: str
    name: str
    source: str
    """The folder of the file."""
    format: str
    model: str | None
    summary: Summary
    measured: Mapping[str, Measured] = field(default_factory=dict)
    """By strategy, the measures of every call, for a page."""
    timelines: tuple[EntryTimeline, ...] = ()
    decisive: Mapping[str, DecisiveSums] = field(default_factory=dict)
    """By strategy, what its views showed at decisive steps."""
    broken: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that no reader knows."""

    path: str
    reason: str


FileResult = list[Replayed] | Skipped


def replay_files(files: Sequence[Path], options: Options) -> Iterator[FileResult]:
    """Yield the result of each file as it is done, the largest files first."""
    return over_files(files, functools.partial(replay_file, options=options))


def over_files(files: Sequence[Path], work: Callable[[Path], T]) -> Iterator[T]:
    """Yield what `work` returns for each file as it is done, the largest files first."""
    ordered = sorted(files, key=_size, reverse=True)
    cores = os.cpu_count() or 1
    if cores == 1 or sum(map(_size, files)) < SMALL_BYTES:
        yield from map(work, ordered)
        return
    with ProcessPoolExecutor(cores) as pool:
        waiting = [pool.submit(work, path) for path in ordered]
        yield from (future.result() for future in as_completed(waiting))


def replay_file(path: Path, options: Options) -> FileResult:
    """Replay every conversation of one file."""
    try:
        return [replay_recording(each, options) for each in read_file(path)]
    except RecordingError as problem:
        return Skipped(str(path), problem.reason)


def replay_recording(recording: Recording, options: Options) -> Replayed:
    """Replay one recording with our policy and, for a comparison, with the other strategies."""
    script = prepare(recording)
    model = CacheModel(options.prices, options.marks)
    ours, timelines = measure_ours(script, options.policy, options.prices, model)
    everything = measure(script, EVERYTHING.make(recording), model=model)
    measured = {OURS: ours, EVERYTHING.name: everything}
    if options.compare:
        for strategy in (*BASELINES[1:], FLOOR):
            measured[strategy.name] = measure(script, strategy.make(recording), model=model)
    sums = {name: totals(script, each, options.prices) for name, each in measured.items()}
    decisive = {
        name: decisive_sums(script, each, everything, options.prices)
        for name, each in measured.items()
    }
    problems = [problem for each in measured.values() for problem in each.problems]
    if recording.cut:
        count = f"{len(recording.cut):,} records are not whole in {recording.path}"
        problems.append(f"{count}, the first: {recording.cut[0]}")
    return Replayed(
        path=recording.path,
        name=recording.name,
        source=Path(recording.path).parent.name or ".",
        format=recording.format,
        model=recording.model,
        summary=Summary(raw_of(script, everything), sums),
        measured=measured if options.views else {},
        timelines=tuple(timelines) if options.views else (),
        decisive=decisive,
        broken=recording.broken,
        problems=tuple(problems),
    )


def summarise(replayed: Iterable[Replayed]) -> tuple[dict[str, Summary], Summary]:
    """Return the summaries by source, and the one over all sources."""
    sources: dict[str, Summary] = {}
    total = Summary()
    for each in sorted(replayed, key=lambda one: (one.source, one.path, one.name)):
        for summary in (sources.setdefault(each.source, Summary()), total):
            summary.add(each.summary)
    return sources, total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def outcome(
    replayed: Sequence[Replayed], skipped: Sequence[Skipped], options: Options
) -> dict[str, Any]:
    """Return the figures of a replay as one JSON object: `--json` prints it, table and page show it.

    Documented in SPEC.md; a field once there stays.
    """
    sources, total = summarise(replayed)
    prices = options.prices
    by_folder: dict[str, list[Mapping[str, DecisiveSums]]] = {}
    for each in sorted(replayed, key=lambda one: (one.source, one.path, one.name)):
        by_folder.setdefault(each.source, []).append(each.decisive)
    return {
        "version": 1,
        "policy": options.policy.name,
        "prices": asdict(prices),
        "marks": options.marks,
        "ours": OURS,
        "everything": EVERYTHING.name,
        "floor": FLOOR.name if options.compare else None,
        "sources": {name: _summary(each, options) for name, each in sources.items()},
        "total": _summary(total, options) if replayed else None,
        "recordings": [
            _recording(each, options)
            for each in sorted(replayed, key=lambda each: (each.source, each.path, each.name))
        ],
        "outcomes": outcomes(by_folder) if options.outcomes else None,
        "skipped": [asdict(each) for each in skipped],
    }


def _summary(summary: Summary, options: Options) -> dict[str, Any]:
    best = summary.best_other(OURS, EVERYTHING.name, FLOOR.name)
    return {**summary.figures(EVERYTHING.name, options.prices), "best_other": best}


def _recording(replayed: Replayed, options: Options) -> dict[str, Any]:
    found = {
        "path": replayed.path,
        "name": replayed.name,
        "source": replayed.source,
        "format": replayed.format,
        "model": replayed.model,
        **_summary(replayed.summary, options),
        "broken": list(replayed.broken),
        "problems": list(replayed.problems),
    }
    if calls := {name: each.calls for name, each in replayed.measured.items()}:
        found["call_tokens"] = {
            name: [call.tokens for call in each] for name, each in calls.items()
        }
        found["call_costs"] = {
            name: [round(call.cost(options.prices), 1) for call in each]
            for name, each in calls.items()
        }
        found["entries"] = [asdict(each) for each in replayed.timelines]
    return found
