"""Sessions that nobody closes hold no files: a thread has a connection, which ends with it."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conversations import EAGER, no_fallback, reading

from hippocampus import Hippocampus, Session
from hippocampus.session.open_sessions import OpenSessions
from hippocampus.storage.state import DirectoryState, state_of
from hippocampus.storage.verify import verify

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_proc
def test_sessions_that_nobody_closes_hold_no_more_than_some_descriptors(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    before, kept = descriptors(), []
    with no_fallback():
        for number in range(30):
            session = memory.session(f"s{number}")
            kept.append(session)
            session(reading(2))
            session.answer({"query": "row"})
        assert descriptors() < before + 12
        assert sum(each.report.failures for each in kept) == 0
        for session in kept:
            assert len(session.entries) == len(session.report.decisions()) > 0
            session.close()
    memory.close()


@needs_proc
def test_threads_that_end_leave_no_descriptor(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    items = reading(8)
    with no_fallback():
        session(items[:3])
        before = descriptors()
        for end in range(5, len(items) + 1, 2):
            with ThreadPoolExecutor(1) as pool:
                pool.submit(session, items[:end]).result()
            gc.collect()  # which the suite lets run seldom
        assert descriptors() <= before + 4
    session.close()
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_was_forked_has_its_own_connection(tmp_path: Path) -> None:
    memory, items = Hippocampus(tmp_path, policy=EAGER), reading(4)
    with memory.session("parent") as session, no_fallback():
        session(items[:3])
        child = os.fork()
        if not child:
            try:
                with memory.session("child") as other:
                    other(items[:5])
                    os._exit(other.report.failures or len(other.entries) < 1)
            finally:
                os._exit(1)
        session(items[:5])
        assert os.waitpid(child, 0)[1] == 0
        assert session(items) != items
        assert session._run.ledger._db.check() == []
    assert memory.unconsolidated() == ["child"]
    memory.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_was_forked_outlives_its_parent(tmp_path: Path) -> None:
    memory, items = Hippocampus(tmp_path, policy=EAGER), reading(4)
    with memory.session("parent") as session, ThreadPoolExecutor(1) as pool:
        pool.submit(session, items[:3]).result()  # in a thread that the child does not have
        (go_on, parent_ends), (has_begun, begins) = os.pipe(), os.pipe()
        child = os.fork()
        if not child:
            try:
                other = memory.session("child")
                other(items[:3])
                os.write(begins, b"1")
                os.read(go_on, 1)
                other(items)
                os._exit(other.report.failures)
            finally:
                os._exit(1)
        os.read(has_begun, 1)
    memory.close()
    gc.collect()
    os.write(parent_ends, b"1")
    assert os.waitpid(child, 0)[1] == 0
    with state_of(tmp_path).reading() as db:
        assert db.rows("SELECT name, changes FROM session ORDER BY number")[1] == ("child", 2)
    assert verify(state_of(tmp_path)) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_process_that_was_forked_waits_for_no_thread_that_its_parent_had(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    assert isinstance(state, DirectoryState)
    state.database().set_meta("a", "b")
    with state._opening:
        child = os.fork()
        if not child:
            signal.alarm(20)  # ends it
            os._exit(state.database().meta("a") != "b")
    assert os.waitpid(child, 0)[1] == 0
    state.close()


def test_the_end_of_one_memory_over_a_state_stops_no_other(tmp_path: Path) -> None:
    state, items = state_of(tmp_path), reading(2)
    one, other = Hippocampus(state, policy=EAGER), Hippocampus(state, policy=EAGER)
    with other.session("s") as session, no_fallback():
        session(items[:3])
        one.close()
        assert session(items) != items
    other.close()


def test_a_state_that_is_closed_while_a_thread_uses_it_is_opened_again(tmp_path: Path) -> None:
    state, has_ended = state_of(tmp_path), threading.Event()

    def used() -> int:
        done = 0
        while not has_ended.is_set():
            with (db := state.database()).transaction():
                db.set_meta("a", str(done))
            assert db.meta("a")
            done += 1
        return done

    with ThreadPoolExecutor(2) as pool:
        uses = [pool.submit(used) for _ in range(2)]
        for _ in range(200):
            state.close()
            time.sleep(0.001)
        has_ended.set()
        assert all(use.result() for use in uses)
    state.close()


@pytest.mark.one_process
def test_a_database_that_is_removed_stops_its_sessions_and_no_later_one(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session, items = memory.session("s"), reading(2)
    session(items[:3])
    for path in tmp_path.glob("state.sqlite3*"):
        path.unlink()
    assert session(items) == items
    assert session.report.failures == 1
    with memory.session("s") as later, no_fallback():
        assert later(items) != items
    assert session(items) == items
    memory.close()


def test_a_session_that_takes_long_to_open_holds_up_no_other(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path)
    opening, may_open = threading.Event(), threading.Event()

    def opened(name: str) -> Session:
        if name == "slow":
            opening.set()
            assert may_open.wait(20)
        return memory.session(name)

    def used(name: str) -> str:
        with sessions.using(name, lambda: opened(name)) as session:
            return session.id

    sessions = OpenSessions[str, Session](1, Session.release)
    with ThreadPoolExecutor(2) as pool:
        slow = pool.submit(used, "slow")
        assert opening.wait(20)
        assert [used(name) for name in "abab"] == [*"abab"]
        may_open.set()
        assert slow.result() == "slow"
    for session in sessions.close():
        session.close()
    memory.close()


def test_a_value_that_is_being_ended_is_opened_again_only_when_it_has_ended() -> None:
    steps, is_ending, may_end = list[str](), threading.Event(), threading.Event()

    def end(name: str) -> None:
        is_ending.set()
        assert may_end.wait(20)
        steps.append(f"ended {name}")

    def used(name: str) -> None:
        with sessions.using(name, lambda: steps.append(f"opened {name}") or name):
            pass

    sessions = OpenSessions[str, str](1, end)
    with ThreadPoolExecutor(2) as pool:
        used("a")
        other = pool.submit(used, "b")
        assert is_ending.wait(20)
        again = pool.submit(used, "a")
        with pytest.raises(TimeoutError):
            again.result(0.2)
        may_end.set()
        other.result(20)
        again.result(20)
    assert steps[:2] == ["opened a", "ended a"]
    assert steps.count("opened a") == 2
