"""Many processes and threads on one state directory, and very long and very many sessions.

`python -m tests.trust.load together`, `long` and `many` print a table each: what was lost, each error,
latencies, memory, size. Times of one process alone are CPU time, which other programs do not change.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import quantiles
from typing import Any, NamedTuple

import zstandard

from hippocampus import Hippocampus
from hippocampus.storage.ledger import Ledger, TurnRows
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

ERRORS = 5
FAULTS = ("facts lost", "texts lost", "errors", "damage", "files opened since")


def rows(rng: random.Random, count: int = 150) -> str:
    """Return a tool result of log lines."""
    return "\n".join(
        f"2026-01-01T00:00:{n % 60:02d} INFO app row_{rng.randrange(10**9)} took {rng.randrange(999)} ms"
        for n in range(count)
    )


def step(items: list[Any], number: int, text: str) -> None:
    """Append one call and its result to a list."""
    call = {"name": "run", "arguments": json.dumps({"n": number})}
    items += [
        {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "type": "function", "function": call}]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": text},
    ]  # fmt: skip


class Work(NamedTuple):
    """What one process did."""

    calls: int
    remembered: int
    lost: int
    errors: list[str]
    seconds: list[float]
    """Of each call."""


def process(folder: str, number: int, threads: int, seconds: float, results: Any) -> None:
    """Run threads, each with sessions, recalls and facts of its own, and report with the times of commits."""
    commits: list[float] = []
    commit = Ledger.commit

    def timed(ledger: Ledger, turn: TurnRows) -> None:
        started = time.perf_counter()
        commit(ledger, turn)
        commits.append(time.perf_counter() - started)

    Ledger.commit = timed  # type: ignore[method-assign]  # the process ends with it
    memory = Hippocampus(folder, deadline_seconds=10.0)  # each call waits, and its time is reported
    done: list[Work] = []
    with memory.session(f"p{number}") as first:  # the figures are not those of a start
        items: list[Any] = [{"role": "user", "content": "Look at the logs."}]
        step(items, 0, rows(random.Random(number)))
        first(items)

    def thread(at: int) -> None:
        rng = random.Random(f"{number} {at}")
        calls = remembered = lost = turn = 0
        errors, took = [], []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            name = f"p{number}-t{at}-{turn}"
            try:
                with memory.session(name) as session:
                    items: list[Any] = [{"role": "user", "content": "Look at the logs."}]
                    texts = []
                    for _ in range(6):
                        texts.append(rows(rng))
                        step(items, turn, texts[-1])
                        turn += 1
                        started = time.perf_counter()
                        session(items)
                        took.append(time.perf_counter() - started)
                        calls += 1
                    stored = {session.entries.text(each.id) for each in session.entries}
                    lost += len(stored - set(texts))
                    if session.report.failures:
                        errors.append(
                            f"session: {session.report.problem or session.report.failures}"
                        )
                    memory.facts.remember(
                        f"The build of {name} needs {rng.randrange(10**9)} bytes."
                    )
                    remembered += 1
            except Exception as failure:  # noqa: BLE001 - these are counted
                errors.append(f"{type(failure).__name__}: {str(failure)[:100]}")
        done.append(Work(calls, remembered, lost, errors, took))

    running = [threading.Thread(target=thread, args=(at,)) for at in range(threads)]
    for each in running:
        each.start()
    for each in running:
        each.join()
    memory.close()
    results.put(([each._asdict() for each in done], commits))


def percentiles(name: str, seconds: list[float]) -> dict[str, float]:
    """Return the median and the last percentile of some times, in milliseconds."""
    cuts = quantiles(seconds, n=100) if len(seconds) > 1 else [0.0] * 99
    return {f"{name} p{at} ms": round(1000 * cuts[at - 1], 1) for at in (50, 99)}


def together(folder: Path, processes: int, threads: int, seconds: float) -> dict[str, Any]:
    """Run processes with threads on one directory; return figures."""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    running = [
        context.Process(target=process, args=(str(folder), number, threads, seconds, results))
        for number in range(processes)
    ]
    for each in running:
        each.start()
    reports = [results.get() for _ in running]
    found = [Work(**each) for done, _ in reports for each in done]
    for each in running:
        each.join()
    with Hippocampus(folder) as memory:
        facts = len(memory.facts.memories())
    took = [second for each in found for second in each.seconds]
    errors = [text for each in found for text in each.errors]
    remembered = sum(each.remembered for each in found)
    return {
        "calls": len(took),
        **percentiles("call", took),
        **percentiles("commit", [second for _, commits in reports for second in commits]),
        "facts remembered": remembered,
        "facts lost": max(0, remembered - facts),
        "texts lost": sum(each.lost for each in found),
        "errors": len(errors),
        "first errors": sorted(set(errors))[:ERRORS],
        "damage": [each.text for each in verify(DirectoryState(StateDir(folder))) if each.is_fault][
            :ERRORS
        ],
    }


def size_of(folder: Path) -> int:
    """Return the bytes of a directory on disk."""
    return sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())


def memory_mb() -> float:
    """Return the present memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


def descriptors() -> int:
    """Return the open files of this process."""
    return len(list(Path("/proc/self/fd").iterdir()))


def long_session(folder: Path, turns: int) -> dict[str, Any]:
    """Run one process through many turns, 100 a session: memory, latency, open files and size must stay flat."""
    rng = random.Random(1)
    took, packed, packer = [], 0, zstandard.ZstdCompressor(level=3)
    memory = Hippocampus(folder)
    warm, files = memory_mb(), descriptors()
    for number in range(turns // 100):
        with memory.session(f"s{number}") as session:
            items: list[Any] = [{"role": "user", "content": "Look at the logs."}]
            for turn in range(100):
                step(items, turn, rows(rng))
                started = time.process_time()
                session(items)
                took.append(time.process_time() - started)
            packed += len(packer.compress(json.dumps(items).encode()))
        if number == turns // 1000:
            warm, files = memory_mb(), descriptors()
    leaked = max(0, descriptors() - files)
    memory.close()
    tenth = max(1, len(took) // 10)
    return {
        "turns": len(took),
        "first tenth ms": round(1000 * sum(took[:tenth]) / tenth, 2),
        "last tenth ms": round(1000 * sum(took[-tenth:]) / tenth, 2),
        "memory after a tenth MB": round(warm),
        "memory at the end MB": round(memory_mb()),
        "files opened since": leaked,
        "raw compressed MB": round(packed / 1e6, 2),
        "state directory MB": round(size_of(folder) / 1e6, 2),
    }


def many_sessions(folder: Path, sessions: int) -> dict[str, Any]:
    """Make many short sessions in one store; opening one at the end must cost what it did at first."""
    rng = random.Random(2)
    opened = []
    with Hippocampus(folder) as memory:
        for number in range(sessions):
            items: list[Any] = [{"role": "user", "content": "Look at the logs."}]
            step(items, 0, rows(rng, 40))
            started = time.process_time()
            with memory.session(f"s{number}") as session:
                session(items)
            opened.append(time.process_time() - started)
        started = time.process_time()
        with memory.session("last") as session:
            session.answer({"entry_id": "aaaaaaaa"})
        unknown = time.process_time() - started
    tenth = max(1, sessions // 10)
    return {
        "sessions": sessions,
        "first tenth ms": round(1000 * sum(opened[:tenth]) / tenth, 1),
        "last tenth ms": round(1000 * sum(opened[-tenth:]) / tenth, 1),
        "unknown id ms": round(1000 * unknown),
        "state directory MB": round(size_of(folder) / 1e6, 2),
    }


def main() -> bool:
    """Print a table, or all; return whether something was lost, damaged or left open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("load", nargs="*", choices=["together", "long", "many"])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--threads", type=int, default=32, help="in each process")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--sessions", type=int, default=10_000)
    asked = parser.parse_args()
    loads = {
        "together": lambda folder: together(folder, asked.processes, asked.threads, asked.seconds),
        "long": lambda folder: long_session(folder, asked.turns),
        "many": lambda folder: many_sessions(folder, asked.sessions),
    }
    is_bad = False
    for name in asked.load or loads:
        with tempfile.TemporaryDirectory() as folder:
            found = loads[name](Path(folder))
        for key, value in found.items():
            print(f"{key:<26}{value}", flush=True)
        print()
        is_bad |= any(found.get(key) for key in FAULTS)
    return is_bad


if __name__ == "__main__":
    sys.exit(main())
