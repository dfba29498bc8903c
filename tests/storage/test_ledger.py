"""The ledger: all of a commitment or none of it, whatever the names are."""

from __future__ import annotations

import contextlib
import math
import os
import socket
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import activity
from storage.rows import record

from hippocampus.errors import StoreError
from hippocampus.storage.ledger import (
    Ledger,
    ModelCall,
    TurnRows,
    forget,
)
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    made = Ledger(DirectoryState(StateDir(tmp_path)), "s")
    yield made
    made.close()


def test_the_owner_of_an_entry_is_found(tmp_path: Path, ledger: Ledger) -> None:
    ledger.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("abcd1234")]))
    Ledger(DirectoryState(StateDir(tmp_path)), "other").close()
    assert DirectoryState(StateDir(tmp_path)).entry_of("abcd1234") == ("s", record("abcd1234"))
    assert DirectoryState(StateDir(tmp_path)).entry_of("none") is None


@given(name=st.text() | st.sampled_from(["../../etc", "a/b", "\ud800", "x" * 500, "", "."]))
def test_a_session_of_any_name_comes_back(tmp_path: Path, name: str) -> None:
    state = StateDir(tmp_path)
    Ledger(DirectoryState(state), name).close()
    assert DirectoryState(state).agent_of(name) == ""
    with DirectoryState(state).writing() as db:
        forget(db, name)
    assert DirectoryState(state).agent_of(name) is None


def test_a_session_is_open_until_each_who_opened_it_has_closed_it(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    first, second = Ledger(DirectoryState(state), "s"), Ledger(DirectoryState(state), "s")
    first.close()
    with pytest.raises(StoreError, match="close it first"), DirectoryState(state).writing() as db:
        forget(db, "s")
    assert activity(state.root)["s"] == math.inf
    second.close()
    assert activity(state.root)["s"] < math.inf


def test_a_session_that_another_process_of_this_number_holds_is_open_for_an_hour(
    tmp_path: Path,
) -> None:
    """It is of another container of the host, or of this one before it was started again."""
    state = DirectoryState(StateDir(tmp_path))
    for name in "ab":
        Ledger(state, name).close()
    with state.writing() as db:
        holder = f"{socket.gethostname()}:{os.getpid()}:01234567"
        db.run("INSERT INTO holder SELECT number, ? || name FROM session", (holder,))
        Ledger(state, "b").close()
        assert set(activity(tmp_path).values()) == {math.inf}
        with pytest.raises(StoreError, match="close it first"):
            forget(db, "a")
        db.run("UPDATE session SET active_at = active_at - 3601")
    assert math.inf not in activity(tmp_path).values()
    with contextlib.closing(Ledger(state, "b")), state.reading() as db:
        own = "SELECT count(*) FROM holder WHERE process NOT LIKE ?"
        assert db.value(own, (f"{holder}%",)) == db.value("SELECT count(*) FROM holder") == 1


def test_nothing_is_written_into_a_session_that_was_removed(tmp_path: Path) -> None:
    """Not into another one either, to which SQLite would give the same number."""
    state = StateDir(tmp_path)
    ledger = Ledger(DirectoryState(state), "s")
    with contextlib.closing(sqlite3.connect(state.database)) as db, db:
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("DELETE FROM session")
    Ledger(DirectoryState(state), "other").close()
    with pytest.raises(StoreError, match="was removed"):
        ledger.commit(TurnRows(ModelCall(1, 1, 1, 1), records=[record("a")]))
    with contextlib.closing(Ledger(DirectoryState(state), "other")) as other:
        assert other.records() == []
    ledger.close()


@pytest.mark.parametrize("left", ["sessions/s-1.sqlite3", "tombstones.sqlite3", "memory.sqlite3"])
def test_a_directory_of_an_earlier_version_is_refused_in_one_sentence(
    tmp_path: Path, left: str
) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / left).touch()
    for opened in (
        lambda: Ledger(DirectoryState(StateDir(tmp_path)), "s"),
        lambda: activity(tmp_path),
    ):
        with pytest.raises(
            StoreError, match=r"is of an earlier version, .* name another directory"
        ):
            opened()
    assert not StateDir(tmp_path).database.exists()
