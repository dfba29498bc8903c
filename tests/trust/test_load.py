"""A short run of the load proof."""

from __future__ import annotations

import contextlib
from concurrent.futures import ThreadPoolExecutor

import pytest
from trust.load import long_session, together

from hippocampus import Hippocampus
from hippocampus.storage.copying import copied
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import damaged_sessions, verify


@pytest.mark.slow
def test_processes_and_threads_lose_nothing(tmp_path):
    found = together(tmp_path, 2, 4, 1.0)
    lost = {key: found[key] for key in ("facts lost", "texts lost", "errors", "damage")}
    assert lost == {"facts lost": 0, "texts lost": 0, "errors": 0, "damage": []}, found


@pytest.mark.slow
def test_a_copy_and_a_backup_taken_while_eight_processes_write_open_clean(tmp_path):
    live = StateDir(tmp_path / "live")
    Hippocampus(live.root).close()
    taken = []
    with ThreadPoolExecutor() as pool:
        writing = pool.submit(together, live.root, 8, 1, 5.0)
        while not writing.done():
            taken.append(DirectoryState(StateDir(tmp_path / f"copy {len(taken)}")))
            list(copied(DirectoryState(live), taken[-1]))
            with contextlib.closing(DirectoryState(live).database()) as db:
                db.backup(tmp_path / f"backup {len(taken)}")
    assert len(taken) > 1
    assert writing.result()["errors"] == 0
    backups = [DirectoryState(StateDir(tmp_path, path.name)) for path in tmp_path.glob("backup*")]
    for state in (*taken, *backups):
        with contextlib.closing(state.database()) as db:
            assert [*db.check(), *damaged_sessions(db)] == []
    assert [each.text for state in taken for each in verify(state) if each.is_fault] == []


@pytest.mark.slow
def test_a_long_run_fills_less_than_three_and_a_half_times_the_compressed_raw_size(tmp_path):
    found = long_session(tmp_path, 300)
    empty = 0.32  # the tables of the database, which 100,000 turns do not fill
    assert found["files opened since"] == 0, found
    assert found["state directory MB"] - empty <= 3.5 * found["raw compressed MB"], found
