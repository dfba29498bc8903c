"""Payloads are read and written in many threads at once."""

from __future__ import annotations

import contextlib
import threading

from conversations import EAGER, reading

from hippocampus import Hippocampus
from hippocampus.models import tokens
from hippocampus.storage.state import state_of

SOURCE = "import re\n" + "".join(
    f"def f{n}(a, b={n}):\n    '''Match {n}.'''\n    return [re.match('\\d{n}', x) for x in (a, [b, (a, {{b: a}})])]\n\n"
    for n in range(60)
)


def in_threads(work, count=8):
    failures = []

    def run():
        try:
            work()
        except BaseException as failure:  # noqa: BLE001 - the assertion names it
            failures.append(failure)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert failures == []


def test_threads_that_start_together_load_a_vocabulary_once():
    tokens._vocabulary.cache_clear()
    text = "one two three " * 9_000
    in_threads(lambda: tokens.count(text + str(threading.get_ident())))
    assert tokens._vocabulary.cache_info().currsize == 1
    assert tokens._vocabulary.cache_info().misses == 1


def test_a_vocabulary_is_loaded_in_every_thread():
    in_threads(lambda: tokens._vocabulary.__wrapped__().encode("tea"), count=2)


def writer(folder, seconds, writes, is_done):
    """Hold the lock of writers in a thread for a while, or until an event."""

    def write():
        with contextlib.closing(state_of(folder).database()) as db, db.transaction():
            writes.set()
            is_done.wait(seconds)

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_a_turn_waits_for_threads_that_write_in_turn_longer_than_for_another_process(tmp_path):
    """Fifty sessions on a busy machine wait for each other: no list goes raw for that."""
    writes, never = threading.Event(), threading.Event()
    with (
        Hippocampus(tmp_path, policy=EAGER, deadline_seconds=0.5) as memory,
        memory.session("s") as session,
    ):
        items = reading(2)
        writers = [writer(tmp_path, 0.15, writes, never) for _ in range(5)]
        writes.wait()
        assert session(items) != items
        for each in writers:
            each.join()


def test_a_turn_waits_for_a_thread_that_writes_for_long_as_for_another_process(tmp_path):
    """One that imported a memory held a turn for two seconds, and the end of a session for ten."""
    writes, is_done = threading.Event(), threading.Event()
    with (
        Hippocampus(tmp_path, policy=EAGER, deadline_seconds=0.05) as memory,
        memory.session("s") as session,
    ):
        items = reading(2)
        importing = writer(tmp_path, 1.8, writes, is_done)
        writes.wait()
        assert session(items) == items
        is_done.set()
        importing.join()
