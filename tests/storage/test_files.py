"""Files that several processes write: one that another process does not let go of is not waited for."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conversations import EAGER, reading
from states import collect, holdings

from hippocampus import Hippocampus, RecallError, StoreError
from hippocampus.facts.store import Facts
from hippocampus.storage import files, gc
from hippocampus.storage.content_store import DiskStore
from hippocampus.storage.state_dir import StateDir

HOLDING = """
import sys
import tempfile
from pathlib import Path
from hippocampus.storage import files

with files.held(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_session_ends_though_another_process_holds_the_memory_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_WAIT_SECONDS", 0.05)
    memory = Hippocampus(tmp_path)
    session = memory.session("s")
    session(reading(1))
    holders = [_holding(StateDir(tmp_path).memory_lock)]
    session(reading(2))
    session.close()
    for each in holders:
        each.communicate()
    memory.close()
    assert session.report.failures == 0


def _holding(path: Path) -> subprocess.Popen[str]:
    """Return a process that holds a file until its input ends."""
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout
    assert holder.stdout.readline() == "held\n"
    return holder


@pytest.fixture
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> set[int]:
    """Return the modes of all files below a folder."""
    return {stat.S_IMODE(path.stat().st_mode) for path in folder.rglob("*") if path.is_file()}


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
@pytest.mark.usefixtures("usual_umask")
def test_only_the_owner_may_read_a_state_directory_and_its_files(tmp_path: Path) -> None:
    state = tmp_path / "projects" / "state"
    used(state)
    for made in (state.parent, state, *(path for path in state.iterdir() if path.is_dir())):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700, made
    assert modes(state) == {0o600}


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
@pytest.mark.usefixtures("usual_umask")
def test_a_folder_that_a_user_made_keeps_its_mode_and_what_is_put_there_is_private(
    tmp_path: Path,
) -> None:
    state = tmp_path / "shared"
    state.mkdir(mode=0o755)
    used(state)
    assert stat.S_IMODE(state.stat().st_mode) == 0o755
    assert modes(state) == {0o600}


@pytest.mark.skipif(sys.platform == "win32", reason="no modes there")
@pytest.mark.usefixtures("usual_umask")
def test_a_fact_store_of_its_own_is_private_with_what_sqlite_puts_beside_it(tmp_path: Path) -> None:
    facts = Facts(tmp_path / "facts.sqlite3")
    facts.remember("Ann lives in Bonn.")
    assert len(list(tmp_path.iterdir())) == 3
    assert modes(tmp_path) == {0o600}
    facts.close()


def used(state: Path) -> None:
    """Use everything that puts a file into a state directory; the modes are seen while it is open."""
    memory = Hippocampus(state, policy=EAGER)
    session = memory.session("s")
    messages = reading(2)
    messages[-1]["content"] = os.urandom(1 << 15).hex()
    session(messages)
    memory.facts.remember("Ann lives in Bonn.")
    assert modes(state) == {0o600}
    session.close()
    memory.close()
    with contextlib.closing(DiskStore(state / "contents")) as store:
        removals = gc.plan(holdings(state, store), gc.GcRules(0), time.time())
        assert collect(state, store, removals[:1], time.time())


@pytest.mark.skipif(sys.platform == "win32", reason="no links there")
def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A planted link in place of a database or a lock."""
    target = tmp_path / "theirs"
    target.write_bytes(b"theirs")
    state = StateDir(tmp_path / "state")
    state.memory.mkdir(parents=True)
    for each in (state.database, state.memory_lock):
        each.unlink(missing_ok=True)
        each.symlink_to(target)
        with Hippocampus(state.root, policy=EAGER) as memory, memory.session("s") as session:
            session(reading(1))
            with contextlib.suppress(RecallError, StoreError):
                session.recall(query="row")
        assert target.read_bytes() == b"theirs"
        each.unlink(missing_ok=True)


KILLED = """
import os, signal
from hippocampus.storage import files

with files.temporary_folder("hippocampus-test") as folder:
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_temporary_folder_of_a_killed_process_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(files, "MIN_LEFT_SECONDS", 0.0)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    killed = subprocess.run(
        [sys.executable, "-c", KILLED], check=False, env=environment, capture_output=True, text=True
    )
    left = Path(killed.stdout.strip())
    assert left.parent == tmp_path
    with files.temporary_folder("hippocampus-test") as first:
        assert not left.exists()
        with files.temporary_folder("hippocampus-test") as second:
            assert first.exists()
            assert second != first
    assert list(tmp_path.iterdir()) == []


def test_a_half_written_file_of_a_killed_process_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    (tmp_path / ".MEMORY.md.tmp").write_bytes(b"half")
    files.replace_file(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert [each.name for each in tmp_path.iterdir()] == ["MEMORY.md"]


COUNTING = """
import sys
sys.modules["fcntl"] = None
from pathlib import Path
from hippocampus.storage import files

count = Path(sys.argv[1]) / "count"
for _ in range(100):
    with files.held(count.with_name("lock")):
        count.write_text(str(int(count.read_text()) + 1))
"""


def test_a_lock_holds_where_fcntl_is_missing(tmp_path: Path) -> None:
    (tmp_path / "count").write_text("0")
    command = [sys.executable, "-W", "ignore", "-c", COUNTING, str(tmp_path)]
    counting = [subprocess.Popen(command) for _ in range(3)]
    assert [each.wait() for each in counting] == [0, 0, 0]
    assert (tmp_path / "count").read_text() == "300"


def test_a_file_that_another_program_saved_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    assert files.replace_file(path, b"ours", expected=b"")
    path.write_bytes(b"theirs")
    assert not files.replace_file(path, b"ours, later", expected=b"ours")
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [
        ("MEMORY.md", b"theirs")
    ]
