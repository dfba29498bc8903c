"""Verifying a state directory: what is damaged is a problem, what only costs space is a note."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from conversations import EAGER, reading
from states import problems
from storage.memory_store import MemoryStore

from hippocampus import Hippocampus, RecallError
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify


@pytest.fixture
def state(tmp_path: Path) -> StateDir:
    """A state directory with a file of every kind, one session finished and one running."""
    state = StateDir(tmp_path)
    memory = Hippocampus(tmp_path, policy=EAGER)
    with memory.session("done") as session:
        session(reading(3))
        with contextlib.suppress(RecallError):
            session.recall(query="customer")
    memory.session("running")(reading(2))
    memory.facts.remember("The port is 8088.")
    memory.close()
    assert verify(DirectoryState(state)) == []
    return state


def junk(path: Path) -> None:
    path.write_bytes(b"junk" * 500)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1])


@pytest.mark.parametrize(
    ("damaged", "damage", "named"),
    [
        (lambda state: state.database, empty, "state"),
        (lambda state: state.database, short, "state"),
        (lambda state: state.database, junk, "state"),
        (lambda state: state.contents / "cache.db", junk, "content store"),
    ],
)
def test_what_is_damaged_is_a_problem(
    state: StateDir,
    damaged: Callable[[StateDir], Path],
    damage: Callable[[Path], None],
    named: str,
) -> None:
    path = damaged(state)
    for ending in ("-wal", "-shm"):
        Path(f"{path}{ending}").unlink(missing_ok=True)
    damage(path)
    assert any(named in each for each in problems(DirectoryState(state)))


def test_an_emptied_content_store_is_one_problem(state: StateDir) -> None:
    (state.contents / "cache.db").unlink()
    [problem] = problems(DirectoryState(state))
    assert "more are lost: the content store is empty" in problem


def test_damage_of_several_pages_is_one_line(state: StateDir) -> None:
    with contextlib.closing(sqlite3.connect(state.database)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        tables = db.execute("SELECT rootpage FROM sqlite_schema WHERE name IN ('call', 'entry')")
        pages = [page for (page,) in tables]
    content = bytearray(state.database.read_bytes())
    for page in pages:
        start = (page - 1) * 4096
        content[start + 8 : start + 24] = bytes(16)
    state.database.write_bytes(content)
    problem = problems(DirectoryState(state))[0]
    assert "; and " in problem
    assert "***" not in problem
    assert "\n" not in problem


def test_what_only_costs_space_is_a_note(state: StateDir) -> None:
    with contextlib.closing(DiskStore(state.contents)) as store:
        key = store.put(b"no session refers to it")
    found = verify(DirectoryState(state))
    assert [each.is_fault for each in found] == [False]
    assert any(f"content {key[:12]} is an orphan" in each.text for each in found)


def test_a_store_of_the_hosts_is_verified(tmp_path: Path) -> None:
    store = MemoryStore()
    with Hippocampus(tmp_path, policy=EAGER, store=store) as memory, memory.session("s") as session:
        session(reading(3))
        first = session.report.records()[0]
        assert session.entries.text(first.entry.id)
    assert not (tmp_path / "contents").exists()
    assert verify(DirectoryState(StateDir(tmp_path)), store) == []
    store.delete(first.content)
    [problem] = problems(DirectoryState(StateDir(tmp_path)), store)
    assert f"content {first.content[:12]} is lost" in problem


def test_verifying_writes_nothing(state: StateDir) -> None:
    before = state.database.read_bytes()
    with contextlib.closing(sqlite3.connect(state.database)) as db:
        verify(DirectoryState(state))
        db.execute("SELECT 1")
    assert state.database.read_bytes() == before
