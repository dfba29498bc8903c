"""Sessions that nobody closes: their files are closed for them, and their views stay the same."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conversations import EAGER, no_fallback, reading

from hippocampus import Hippocampus, Session
from hippocampus.session.open_sessions import OpenSessions
from hippocampus.session.session import MAX_OPEN, OpenFiles

needs_proc = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@needs_proc
def test_sessions_that_nobody_closes_hold_no_more_than_some_descriptors(tmp_path: Path) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    before, kept = descriptors(), []
    with no_fallback():
        for number in range(3 * MAX_OPEN):
            session = memory.session(f"s{number}")
            kept.append(session)
            session(reading(2))
            session.answer({"query": "row"})
        assert descriptors() < before + 9 * MAX_OPEN
        assert sum(each.report.failures for each in kept) == 0
        for session in kept:
            assert len(session.entries) == len(session.report.decisions()) > 0
            session.close()
    memory.close()


@pytest.mark.parametrize("workers", [1, 8])
def test_a_session_that_rests_between_its_calls_has_the_views_of_one_that_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    monkeypatch.setattr(Hippocampus, "_open_files", OpenFiles(most=1))
    items = reading(8)
    resting = Hippocampus(tmp_path / "resting", policy=EAGER)
    monkeypatch.setattr(Hippocampus, "_open_files", OpenFiles(most=99))
    awake = Hippocampus(tmp_path / "awake", policy=EAGER)
    names = ["a", "b", "c"]
    open_sessions = [resting.session(name) for name in names]
    expected = [awake.session(name) for name in names]

    def views(number: int) -> bool:
        found = []
        for end in range(3, len(items) + 1, 2):
            same = open_sessions[number](items[:end]) == expected[number](items[:end])
            entry = expected[number].entries[0].id
            sliced = [
                each.recall(entry, head=2) for each in (open_sessions[number], expected[number])
            ]
            found.append(same and sliced[0] == sliced[1])
        return all(found)

    with no_fallback(), ThreadPoolExecutor(workers) as pool:
        assert all(pool.map(views, range(len(names))))
    for memory in (resting, awake):
        memory.close()


@pytest.mark.one_process
def test_a_session_whose_ledger_was_removed_while_it_rested_does_not_make_an_empty_one(
    tmp_path: Path,
) -> None:
    memory = Hippocampus(tmp_path, policy=EAGER)
    session = memory.session("s")
    session(reading(1))
    assert session._close_idle_files()
    ledger = memory._resources.state.layout.database
    ledger.unlink()
    items = reading(2)
    assert session(items) == items
    assert session.report.failures == 1
    assert not ledger.exists()
    memory.close()


def test_a_search_that_takes_long_holds_up_no_other_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Hippocampus, "_open_files", OpenFiles(most=1))
    memory = Hippocampus(tmp_path, policy=EAGER)
    searching, other = memory.session("searching"), memory.session("other")
    searching(reading(3))
    assert searching.recall(query="row_7")
    passages = searching._recalls._passages
    assert passages is not None
    with passages._lock, ThreadPoolExecutor(1) as pool:  # a search has it for as long as it reads
        assert pool.submit(other, reading(1)).result(timeout=20)
    assert not other.report.failures
    searching.close()
    other.close()
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
