"""Replays many recordings over the machine's cores and hands their figures on as they come.

Memory is bounded by the largest file: a process reads one, measures it and returns numbers.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from hippocampus.errors import RecordingError
from hippocampus.policy import Policy
from hippocampus.prices import Prices
from hippocampus.replay.managed import Life, measure_ours
from hippocampus.replay.measure import Measured, measure, prepare
from hippocampus.replay.readers import read_file
from hippocampus.replay.recording import Recording
from hippocampus.replay.strategies import BASELINES, EVERYTHING, FLOOR
from hippocampus.replay.summary import Raw, Summary, Totals, raw_of, totals

OURS = "hippocampus"
FEW_FILES = 4
"""So few files are replayed in this process: starting others would take longer."""
SMALL_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """What to replay with."""

    policy: Policy
    prices: Prices
    compare: bool = False
    """Whether the other strategies and the floor run too."""
    views: bool = False
    """Whether the sizes of every call are kept, for a page."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One recording's figures."""

    path: str
    name: str
    source: str
    """The folder that it came from."""
    format: str
    model: str | None
    raw: Raw
    strategies: dict[str, Totals]
    lives: tuple[Life, ...] = ()
    call_tokens: dict[str, list[int]] = field(default_factory=dict)
    """By strategy, what each call's view weighs."""
    call_costs: dict[str, list[float]] = field(default_factory=dict)
    """By strategy, what each call costs in base input tokens."""
    broken: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that is no recording that we know."""

    path: str
    reason: str


Outcome = list[Replayed] | Skipped


def replay_files(files: Sequence[Path], options: Options) -> Iterator[Outcome]:
    """Yield the outcome of each file as it is done, the largest files first."""
    ordered = sorted(files, key=_size, reverse=True)
    cores = os.cpu_count() or 1
    if cores == 1 or (len(files) <= FEW_FILES and sum(map(_size, files)) < SMALL_BYTES):
        yield from (replay_file(path, options) for path in ordered)
        return
    with ProcessPoolExecutor(cores) as pool:
        yield from _bounded(pool, ordered, options, 2 * cores)


def _bounded(
    pool: ProcessPoolExecutor, files: Sequence[Path], options: Options, most: int
) -> Iterator[Outcome]:
    """Keep a few files under way, so that no queue of results grows."""
    waiting: set[Future[Outcome]] = set()
    for path in files:
        if len(waiting) >= most:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
        waiting.add(pool.submit(replay_file, path, options))
    while waiting:
        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in done)


def replay_file(path: Path, options: Options) -> Outcome:
    """Replay every conversation of one file."""
    try:
        return [replay_recording(each, options) for each in read_file(path)]
    except RecordingError as problem:
        return Skipped(str(path), problem.reason)


def replay_recording(recording: Recording, options: Options) -> Replayed:
    """Replay one recording under our policy and, to compare, under the others."""
    script = prepare(recording)
    ours, lives = measure_ours(script, options.policy, options.prices)
    measured = {OURS: ours, EVERYTHING.name: measure(script, EVERYTHING.make(recording))}
    if options.compare:
        for strategy in (*BASELINES[1:], FLOOR):
            measured[strategy.name] = measure(script, strategy.make(recording))
    kept = measured if options.views else {}
    return Replayed(
        path=recording.path,
        name=recording.name,
        source=Path(recording.path).parent.name or ".",
        format=recording.format,
        model=recording.model,
        raw=raw_of(script, measured[EVERYTHING.name]),
        strategies={name: totals(each, options.prices) for name, each in measured.items()},
        lives=tuple(lives) if options.views else (),
        call_tokens={name: [call.tokens for call in each.calls] for name, each in kept.items()},
        call_costs={name: _costs(each, options.prices) for name, each in kept.items()},
        broken=recording.broken,
        problems=tuple(told for each in measured.values() for told in each.problems),
    )


def _costs(measured: Measured, prices: Prices) -> list[float]:
    return [round(call.cost(prices), 1) for call in measured.calls]


def summarise(replayed: Iterable[Replayed]) -> tuple[dict[str, Summary], Summary]:
    """Return the summaries by source, and the one of everything."""
    sources: dict[str, Summary] = {}
    total = Summary()
    for each in sorted(replayed, key=lambda one: (one.source, one.path, one.name)):
        for summary in (sources.setdefault(each.source, Summary()), total):
            summary.add(each.raw, each.strategies.items())
    return sources, total


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
