"""A pipe or a dangling link where a file of a state directory should be: nothing waits, nothing leaks."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import threading
from pathlib import Path

import pytest
from conversations import EAGER, reading
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.consolidation.housekeeping import examine, mend
from hippocampus.errors import StoreError
from hippocampus.storage import files
from hippocampus.storage.salvage import lost
from hippocampus.storage.state import STORE, DirectoryState
from hippocampus.storage.state_dir import StateDir

LIMIT_SECONDS = 30
NAMES = (
    "MEMORY.md", "state.sqlite3", "contents/cache.db", "memory/*.md",
)  # fmt: skip


def used(state: Path) -> None:
    """Take some turns, end the session, and read what people edit."""
    with Hippocampus(state, policy=EAGER) as memory:
        session = memory.session("s")
        session(reading(2))
        session(reading(3))
        with contextlib.suppress(StoreError):
            session.answer({"query": "row"})
        session.close()
        with contextlib.suppress(StoreError):
            memory.consolidate()
        examine(DirectoryState(StateDir(state)))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("made") / "state"
    with Hippocampus(state) as memory:
        with memory.session("s") as session:
            session([{"role": "user", "content": "I am allergic to nuts."}, *reading(1)[1:]])
            session(reading(3, lines=4_000))
            session.answer({"query": "row"})
        memory.consolidate()
    return state


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
@pytest.mark.parametrize("kind", ["pipe", "link"])
@pytest.mark.parametrize("name", NAMES)
def test_no_file_that_is_none_is_waited_for_or_written_through(
    made: Path, tmp_path: Path, name: str, kind: str
) -> None:
    state, outside = tmp_path / "state", tmp_path / "outside"
    shutil.copytree(made, state)
    path = next(iter(state.glob(name)), None)
    if path is None:
        pytest.skip(f"no {name}")
    path.unlink()
    os.mkfifo(path) if kind == "pipe" else path.symlink_to(outside)
    working = threading.Thread(target=used, args=(state,), daemon=True)
    working.start()
    working.join(LIMIT_SECONDS)
    assert not working.is_alive()
    assert not outside.exists()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no devices")
def test_a_device_in_place_of_the_state_is_not_copied(made: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    shutil.copytree(made, state)
    (state / "state.sqlite3").unlink()
    (state / "state.sqlite3").symlink_to("/dev/zero")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, limits[1]))
    try:
        with pytest.raises(StoreError) as refused:
            lost(StateDir(state).database)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "too large" not in str(refused.value)


def test_a_pipe_is_no_file_to_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        files.read_file(tmp_path / "pipe")
    with pytest.raises(OSError, match="no regular file"):
        files.opened(tmp_path / "pipe", os.O_RDWR | os.O_APPEND)


@pytest.mark.parametrize("named", ["pathlib:Path", "os:getcwd", "nowhere:at_all", "os:sep"])
def test_a_store_that_is_none_is_refused_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv(STORE, named)
    with pytest.raises(StoreError, match=STORE), DirectoryState(StateDir(tmp_path)).contents():
        pass
    ended = CliRunner().invoke(app, ["doctor", str(tmp_path)])
    assert ended.exit_code != 0
    assert not isinstance(ended.exception, AttributeError)


@pytest.mark.parametrize(
    ("name", "table"), [("state.sqlite3", b"session"), ("contents/cache.db", b"Settings")]
)
def test_a_schema_with_damaged_bytes_stops_no_agent(
    made: Path, tmp_path: Path, name: str, table: bytes
) -> None:
    state = tmp_path / "state"
    shutil.copytree(made, state)
    sound = (state / name).read_bytes()
    damaged = sound.replace(b"table" + table, b"table\xad" + table[1:])  # its name
    damaged = damaged.replace(b"CREATE TABLE " + table, b"\xadREATE TABLE " + table)
    assert damaged != sound
    (state / name).write_bytes(damaged)
    for more in ("-wal", "-shm"):
        (state / f"{name}{more}").unlink(missing_ok=True)
    messages = reading(2)
    with Hippocampus(state) as memory:
        assert memory.session("s")(messages) == messages
    assert [each for each in examine(DirectoryState(StateDir(state))) if each.is_fault]


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_a_memory_file_that_is_none_is_named_by_the_doctor_and_by_defrag(
    made: Path, tmp_path: Path, kind: str
) -> None:
    state = tmp_path / "state"
    shutil.copytree(made, state)
    path = state / "MEMORY.md"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    found = examine(DirectoryState(StateDir(state)))
    faults = [finding.text for finding in mend(found) if finding.is_fault]
    assert faults == [f"{path}: no regular file but a {kind}"]
    done = CliRunner().invoke(app, ["defrag", str(state)])
    assert str(done.exception) == f"{path}: no regular file but a {kind}"


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
def test_a_file_with_the_name_of_no_agent_stops_neither_the_doctor_nor_a_forgetting(
    made: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    shutil.copytree(made, state)
    odd = state / os.fsdecode(b"MEMORY-\xff.md")
    odd.write_text("- I am allergic to nuts.\n")
    assert not [each for each in examine(DirectoryState(StateDir(state))) if each.is_fault]
    for verb in (["defrag"], ["forget", "--everything-from", "s", "--apply"]):
        done = CliRunner().invoke(app, [verb[0], str(state), *verb[1:]])
        assert done.exit_code == 0, done.exception
    assert odd.exists()
