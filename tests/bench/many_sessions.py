"""What a turn and its neighbours cost with many sessions in the database: `python -m tests.bench.many_sessions`.

`--server` asks a PostgreSQL server on this machine, `--sizes` names other numbers of sessions. Those are copies
of one session of two calls, a day apart for each thousand, which begin with the same messages and are
consolidated. Times are medians in milliseconds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from postgres_server import running

from hippocampus import Hippocampus
from hippocampus.storage import copying, gc, session_costs
from hippocampus.storage.consolidated import SESSION
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.postgres import PUT
from hippocampus.storage.state import StateStore

SIZES = (1_000, 10_000, 100_000)
ROUNDS = 31
BATCH = 500


def messages(turns: int, word: str = "same") -> list[dict[str, Any]]:
    """Return a list with some results of 120 rows, the first of which are those of every session."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "List the rows."}]
    for turn in range(turns):
        function = {"name": "rows", "arguments": json.dumps({"page": turn})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        name = word if turn > 1 else "same"
        rows = [{"id": f"row-{name}-{turn}-{n}", "state": "open"} for n in range(120)]
        items += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": json.dumps(rows)},
        ]
    return items


def fill(state: StateStore, start: int, end: int) -> None:
    """Add copies of the session `first`, each with ids, payloads and a time of its own."""
    with contextlib.closing(state.database()) as db:
        found = copying._read(db, "first")
        columns = copying.columns_of_sessions()
        rows = {
            table: [dict(zip(columns[table], row, strict=True)) for row in lines]
            for table, lines in found.items()
        }
        [own] = rows["session"]
        for low in range(start, end, BATCH):
            added: dict[str, list[dict[str, Any]]] = {table: [] for table in rows}
            payloads = []
            for number in range(low, min(low + BATCH, end)):
                name, then = f"old-{number}", time.time() - 86_400 * (1 + number / 1_000)
                as_done = {"active_at": then, "consolidated": own["changes"]}
                added["session"].append({**own, **as_done, "name": name})
                for place, row in enumerate(rows["entry"]):
                    key = hashlib.sha256(f"{number} {place}".encode()).hexdigest()
                    payloads.append((key, then, 300, bytes(300)))
                    added["entry"].append({**row, "id": key[:8], "content": key, "session": name})
                for table in ("call", "conversation"):
                    added[table] += [{**row, "session": name} for row in rows[table]]
            with db.transaction():
                for table, lines in added.items():
                    if lines:
                        places = ", ".join(
                            SESSION if name == "session" else "?" for name in lines[0]
                        )
                        query = f"INSERT INTO {table} ({', '.join(lines[0])}) VALUES {{({places})}}"
                        db.insert(query, [tuple(line.values()) for line in lines])
                if not state.layout:
                    db.insert(PUT, payloads)
            if state.layout:
                with contextlib.closing(DiskStore(state.layout.contents)) as store:
                    cache = store._cache
                    with cache.transact():
                        for key, _, _, packed in payloads:
                            cache.set(key, packed)


def median(work: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of some work in milliseconds."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        times.append(1_000 * (time.perf_counter() - started))
    return statistics.median(times)


def figures(memory: Hippocampus, state: StateStore, size: int) -> Iterator[tuple[str, float]]:
    """Yield what each piece of work takes."""
    names = (f"new-{size}-{n}" for n in itertools.count())
    openings: list[float] = []
    turns: list[float] = []
    again: list[float] = []
    for name in itertools.islice(names, ROUNDS):
        started = time.perf_counter()
        session = memory.session(name)
        session(messages(2))
        openings.append(time.perf_counter() - started)
        longer = messages(3, name)
        started = time.perf_counter()
        session(longer)
        turns.append(time.perf_counter() - started)
        assert not session.status()["raw"], session.status()
        session.release()
        started = time.perf_counter()
        session = memory.session(name)
        session(longer)
        again.append(time.perf_counter() - started)
        session.release()
        with contextlib.closing(state.database()) as db:
            db.run("UPDATE session SET consolidated = changes WHERE name = ?", (name,))
    yield "a turn", 1_000 * statistics.median(turns)
    yield "a new session and its first call", 1_000 * statistics.median(openings)
    yield "a session opened again, and a call", 1_000 * statistics.median(again)
    yield "a claim, where no session is due", median(lambda: state.claimed(600.0, 60.0))
    with contextlib.closing(state.database()) as db:
        db.run("UPDATE session SET consolidated = 0 WHERE name IN ('old-3', 'old-500', 'old-900')")
    yield "a claim, where three are", median(lambda: state.claimed(600.0, 60.0), 3)
    with contextlib.closing(state.database()) as db:
        db.run(
            "UPDATE session SET consolidated = changes, claimed_until = 0 WHERE consolidated = 0"
        )
    yield "an id that no session has", median(lambda: state.entry_of("zzzz2222"))
    yield "earlier sessions of the agent", median(lambda: state.earlier("x", "", 3))

    def planned() -> None:
        with state.contents() as store, state.reading() as db:
            rules = gc.GcRules(max_age_days=10_000)
            gc.plan(gc.holdings(db, store), rules, time.time())
            gc.plan_words(db, rules, time.time())

    def saved() -> None:
        with state.reading() as db:
            session_costs.savings(db)

    yield "gc, planned", median(planned, 1)
    yield "hippocampus status", median(saved, 1)


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--server", action="store_true")
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    given = options.parse_args()
    with contextlib.ExitStack() as stack:
        if given.server:
            named = stack.enter_context(running()).address
        else:
            named = stack.enter_context(tempfile.TemporaryDirectory())
        tenant = "many" if given.server else ""
        memory = Hippocampus(named, tenant=tenant, deadline_seconds=60.0)
        stack.enter_context(contextlib.closing(memory))
        state = memory._resources.state
        state.wait_longer()
        with contextlib.closing(memory.session("first")) as first:
            first(messages(1))
            first(messages(2))
        made = 0
        table: dict[str, list[float]] = {}
        for size in given.sizes:
            fill(state, made, size)
            made = size
            for name, took in figures(memory, state, size):
                table.setdefault(name, []).append(took)
        print(f"{'':<38}" + "".join(f"{size:>12,}" for size in given.sizes))
        for name, took in table.items():
            print(f"{name:<38}" + "".join(f"{each:>12.2f}" for each in took))


if __name__ == "__main__":
    main()
