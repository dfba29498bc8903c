"""Sessions that sixteen processes take turns of: `python -m tests.bench.workers`.

Each turn goes to whichever process is free, on a server on this machine. Every tenth session is
repeated by one process over files. `--turns 100 --rows 40` are 20,000 turns with smaller results.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
import json
import multiprocessing
import re
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_server import running

from hippocampus import Hippocampus
from hippocampus.models import tokens
from hippocampus.replay.our_strategy import MARK as OWN_MARK
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import state_of

WORKERS, SESSIONS = 16, 200
PATIENCE_SECONDS = 60.0
MARK = re.compile(r'(?<=[\["])[a-z2-7]{2}(?=[a-z2-7]{6}\b)')
"""The letters of a state, with which its ids begin."""
MEMORIES: list[Hippocampus] = []


def messages(session: int, turns: int, count: int) -> list[dict[str, Any]]:
    """Return a list with the rows of some turns."""
    items: list[dict[str, Any]] = [{"role": "user", "content": f"Session {session}"}]
    for turn in range(turns):
        function = {"name": "rows", "arguments": json.dumps({"page": turn})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        rows = [{"id": f"row-{session}-{turn}-{n}", "state": "open"} for n in range(count)]
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(rows)},
        ]
    return items


def begin(address: str) -> None:
    """Open a worker's memory."""
    MEMORIES.append(Hippocampus(address, tenant="workers", deadline_seconds=PATIENCE_SECONDS))


def view(taken: tuple[int, int], count: int) -> tuple[tuple[int, int], bytes, float]:
    """Take a turn of a session; return the hash of its view and the seconds that it took."""
    session, turns = taken
    items = messages(session, turns, count)
    started = time.perf_counter()
    shown = MEMORIES[0].view(f"s{session}", items)
    return taken, tokens.digest(MARK.sub("", json.dumps(shown))), time.perf_counter() - started


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser()
    options.add_argument("--turns", type=int, default=10)
    options.add_argument("--rows", type=int, default=120)
    given = options.parse_args()
    take = functools.partial(view, count=given.rows)
    context = multiprocessing.get_context("spawn")
    with running() as server, contextlib.ExitStack() as stack:
        state = stack.enter_context(contextlib.closing(state_of(server.address, "workers")))
        Ledger(
            state, "first", mark=OWN_MARK
        ).close()  # ids of one state have the tokens of the other's
        pool = stack.enter_context(context.Pool(WORKERS, begin, (server.address,)))
        taken: dict[tuple[int, int], bytes] = {}
        seconds = []
        began = time.perf_counter()
        for turn in range(1, given.turns + 1):
            keys = [(session, turn) for session in range(SESSIONS)]
            for key, digest, took in pool.imap_unordered(take, keys):
                taken[key] = digest
                seconds.append(took)
        total = time.perf_counter() - began
        stored = [state.exported(f"s{session}").decode() for session in range(SESSIONS)]
    with (
        tempfile.TemporaryDirectory() as folder,
        contextlib.closing(Hippocampus(folder, deadline_seconds=PATIENCE_SECONDS)) as memory,
    ):
        Ledger(memory._resources.state, "first", mark=OWN_MARK).close()
        MEMORIES[:] = [memory]
        every = list(itertools.product(range(0, SESSIONS, 10), range(1, given.turns + 1)))
        same = sum(take(key)[1] == taken[key] for key in every)
    names = [f"row-{session}-{turn - 1}-{given.rows - 1}" for session, turn in taken]
    counts = [stored[session].count(name) for (session, _), name in zip(taken, names, strict=True)]
    print(
        f"{len(taken):,} turns by {WORKERS} processes in {total:.0f} s: {counts.count(0)} results lost, "
        f"{sum(count > 1 for count in counts)} stored twice, {same} of {len(every)} views alike"
    )
    p99 = statistics.quantiles(seconds, n=100)[-1]
    print(f"median {1_000 * statistics.median(seconds):.0f} ms a turn, p99 {1_000 * p99:.0f} ms")


if __name__ == "__main__":
    main()
