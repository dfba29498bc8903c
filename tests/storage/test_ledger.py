"""The ledger: all of a commitment or none of it, whatever the names are."""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import activity
from storage.rows import record

from hippocampus.errors import StoreError
from hippocampus.storage import gc
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
    with contextlib.closing(DirectoryState(state).database()) as db:
        forget(db, name)
    assert DirectoryState(state).agent_of(name) is None


def test_a_session_is_open_until_each_who_opened_it_has_closed_it(tmp_path: Path) -> None:
    state = StateDir(tmp_path)
    first, second = Ledger(DirectoryState(state), "s"), Ledger(DirectoryState(state), "s")
    first.close()
    with (
        pytest.raises(StoreError, match="close it first"),
        contextlib.closing(DirectoryState(state).database()) as db,
    ):
        forget(db, "s")
    assert activity(state.root)["s"] == math.inf
    second.close()
    assert activity(state.root)["s"] < math.inf


OPEN = """
import os, sys
from pathlib import Path
from hippocampus.storage.ledger import Ledger
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
ledger = Ledger(DirectoryState(StateDir(Path(sys.argv[1]))), "s")
print("open", flush=True)
sys.stdin.read()
os._exit(9)
"""


@pytest.mark.skipif(not shutil.which("unshare"), reason="containers are of Linux")
def test_a_session_that_a_container_has_open_is_open_until_that_ends(
    tmp_path: Path,
) -> None:
    """It has the name of this host, and its numbers of processes are of others here."""
    container = ["unshare", "--user", "--map-root-user", "--pid", "--fork"]
    process = subprocess.Popen(
        [*container, sys.executable, "-c", OPEN, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        if process.stdout.readline() != "open\n":
            pytest.skip("no container may be made here")
        with contextlib.closing(Ledger(DirectoryState(StateDir(tmp_path)), "s")):
            pass
        assert activity(tmp_path)["s"] == math.inf
        process.communicate()
    assert activity(tmp_path)["s"] < math.inf


STOPPED = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX, 1, 1)
    print("asks", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="locks of Windows are asked for by time")
def test_no_session_waits_for_a_process_that_is_stopped_as_it_asks(
    tmp_path: Path, ledger: Ledger
) -> None:
    ledger.close()
    [file] = tmp_path.glob("*-open")
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPED, str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout
        assert process.stdout.readline() == "asks\n"
        with pytest.raises(StoreError, match="unavailable"):
            Ledger(DirectoryState(StateDir(tmp_path)), "s")
        process.communicate()
    Ledger(DirectoryState(StateDir(tmp_path)), "s").close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_that_ends_closes_no_session_of_its_parent(tmp_path: Path, ledger: Ledger) -> None:
    child = multiprocessing.get_context("fork").Process(target=ledger.close)
    child.start()
    child.join()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(activity, tmp_path).result()["s"] == math.inf


def test_a_payload_that_is_put_again_has_no_tombstone(tmp_path: Path, ledger: Ledger) -> None:
    """Were it lost then, no one would store it again."""
    state = DirectoryState(StateDir(tmp_path))
    with state.contents() as store, contextlib.closing(state.database()) as db:
        key = store.put(b"one")
        gc.collect(db, store, [gc.Removal(key, 1, "old", ())], 0.0, put_before=math.inf)
        ledger.put(store, b"one")
        ledger.commit(TurnRows(ModelCall(1, 1, 1, 1)))
        assert state.tombstone(key) is None
        assert store.delete(key)
        assert ledger.is_lost(store, key)


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
