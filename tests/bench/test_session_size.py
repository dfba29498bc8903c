"""What a session takes next to its list: memory while it runs, and time for the first call after a restart.

pytest -o addopts="--import-mode=importlib" -s tests/bench/test_session_size.py
"""

from __future__ import annotations

import gc
import json
import statistics
import time
import tracemalloc
from pathlib import Path
from typing import Any

from bench.test_turn_speed import conversation

from hippocampus.memory import Hippocampus

CALLS = 5_000
TOKENS_PER_MESSAGE = 400
LENGTHS = (1_000, 2_000, 4_000, 8_000)
TIMES_THE_LIST = 2.8
"""The messages as read, with copies of the host's dicts, take 0.6 of it, and as much the entries: records,
their texts, what identifies them. The rest are files at work, identifiers, and caches of the process,
which are bounded."""
LINEAR = 1.3


def traced(text: str) -> tuple[list[dict[str, Any]], int]:
    """Return a list from its JSON, and the bytes that it takes."""
    before = tracemalloc.get_traced_memory()[0]
    items = json.loads(text)
    gc.collect()
    return items, tracemalloc.get_traced_memory()[0] - before


def test_a_session_takes_a_bounded_multiple_of_the_memory_of_its_list(tmp_path: Path) -> None:
    with Hippocampus(tmp_path).session("warm") as session:  # loads what a process has once
        items = conversation(200, TOKENS_PER_MESSAGE * 200)
        for end in range(2, len(items) + 1, 2):
            session(items[:end])
    text = json.dumps(conversation(2 * CALLS, TOKENS_PER_MESSAGE * 2 * CALLS))
    gc.collect()
    tracemalloc.start(1)
    items, size = traced(text)
    with Hippocampus(tmp_path).session("long") as session:
        before = tracemalloc.get_traced_memory()[0]
        for end in range(2, len(items) + 1, 2):
            session(items[:end])
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    print(f"list {size / 1e6:.1f} MB, session {taken / 1e6:.1f} MB: {taken / size:.2f}")
    assert taken <= TIMES_THE_LIST * size


def test_the_first_call_after_a_restart_is_linear(tmp_path: Path) -> None:
    """Without passes of the garbage collector, whose time depends on what else the process holds.

    It begins with the session's rows, and is printed in usual turns too: turns with one new result at
    the same length.
    """
    by_message = []
    for length in LENGTHS:
        items = conversation(length, TOKENS_PER_MESSAGE * length)
        folder = tmp_path / str(length)
        usual = []
        with Hippocampus(folder).session("s") as session:
            for end in range(2, length + 1, 2):
                start = time.process_time()
                session(items[:end])
                usual.append(time.process_time() - start)
        first = []
        for _ in range(3):
            memory = Hippocampus(folder)
            gc.collect()
            gc.disable()
            start = time.process_time()
            session = memory.session("s")
            session(items)
            first.append(time.process_time() - start)
            gc.enable()
            session.close()
        best, turn = min(first), statistics.median(usual[-200:])
        by_message.append(best / length)
        print(f"{length:,} messages: {1000 * best:.0f} ms, {best / turn:.0f} usual turns")
    assert by_message[-1] <= LINEAR * by_message[0]


def test_the_first_call_of_a_long_new_list_is_linear(tmp_path: Path) -> None:
    by_message = []
    for length in (5_000, 20_000):
        items = conversation(length, TOKENS_PER_MESSAGE * length)
        with Hippocampus(tmp_path, model="claude-sonnet-4-5").session(str(length)) as session:
            start = time.process_time()
            session(items)
            by_message.append((time.process_time() - start) / length)
        print(f"{length:,} messages: {by_message[-1] * length:.1f} s")
    assert by_message[1] <= LINEAR * by_message[0]
