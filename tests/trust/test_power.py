"""What an acknowledgement means where the power fails: docs/reference/proofs.md has the table."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from trust.crashes import conversation

from hippocampus import Hippocampus
from hippocampus.storage.state import DirectoryState
from hippocampus.storage.state_dir import StateDir
from hippocampus.storage.verify import verify

TURNS = 6
SEEDS = int(os.environ.get("POWER_SEEDS", "4"))
"""How many cuts each turn has."""
CHILD = """
import shutil, sys
from trust.crashes import conversation
from hippocampus import Hippocampus
live, synced, cuts = sys.argv[1:4]
memory = Hippocampus(live)
items = conversation(6)
for turn in range(1, 7):
    with memory.session(f"old {turn}") as session:
        session(items[: 2 * turn + 1])
    running = memory.session("s")
    running(items[: 2 * turn + 1])
    memory.facts.remember(f"The port of host {turn} is {8000 + turn}.")
    running.state(f"step {turn} of six")
    shutil.copytree(synced, f"{cuts}/{turn}/synced")
    shutil.copytree(live, f"{cuts}/{turn}/live")
"""


@pytest.fixture(scope="module")
def cuts(tmp_path_factory):
    """Run a process whose synced bytes are copied, and keep both directories as they are after each turn."""
    compiler = shutil.which("gcc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("a power cut is simulated with gcc on Linux")
    root = tmp_path_factory.mktemp("power")
    shim = root / "synced.so"
    source = Path(__file__).with_name("synced.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    folders = [root / name for name in ("live", "synced", "cuts")]
    for each in folders:
        each.mkdir()
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    own = {"LD_PRELOAD": str(shim), "LIVE": str(folders[0]), "SYNCED": str(folders[1])}
    subprocess.run(
        [sys.executable, "-c", CHILD, *map(str, folders)],
        env=os.environ | own | {"PYTHONPATH": paths},
        check=True,
    )
    return folders[2]


def cut(folder: Path, seed: int) -> Path:
    """Return what a cut leaves: nothing unsynced under seed 0, else each file as it was synced or written."""
    rng = random.Random(seed)
    synced, live, left = folder / "synced", folder / "live", folder / f"left {seed}"
    shutil.copytree(synced, left)
    for each in sorted(live.rglob("*")):
        if seed and each.is_file() and not each.name.endswith("-shm") and rng.random() < 0.5:
            to = left / each.relative_to(live)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(each, to)
    return left


@pytest.mark.parametrize(
    "turn",
    [TURNS, *(pytest.param(each, marks=pytest.mark.slow) for each in range(1, TURNS))],
)
@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(each, marks=pytest.mark.slow) for each in range(2, SEEDS))]
)
def test_after_a_power_cut_facts_and_states_are_there_and_the_next_call_stores_the_rest(
    cuts, turn, seed
):
    left = cut(cuts / str(turn), seed)
    items = conversation(TURNS)[: 2 * turn + 1]
    with Hippocampus(left) as memory:
        for number in range(1, turn + 1):
            [fact, *_] = memory.facts.recall(f"port of host {number}")
            assert str(8000 + number) in fact.memory.content
        with memory.session("s") as session:
            session(items)
            assert not session.report.failures, session.report.problem
            states = [each.summary for each in session.entries if each.type == "state"]
            assert states == [f"step {number} of six" for number in range(1, turn + 1)]
            kept = [session.entries.text(each.id) for each in session.entries]
        texts = {each["content"] for each in items if each["role"] == "tool"}
        assert texts & set(kept) == texts
    found = [each.text for each in verify(DirectoryState(StateDir(left))) if each.is_fault]
    assert [each for each in found if "old " not in each.replace("%20", " ")] == []


def test_facts_wait_for_the_disk_without_the_lock_and_turns_do_not(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def sync(file):
        fsync(file)
        with contextlib.closing(sqlite3.connect(tmp_path / "state.sqlite3", timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")
        synced.append(Path(f"/proc/self/fd/{file}").readlink())

    with Hippocampus(tmp_path) as memory, memory.session("s") as session:
        memory.facts.recall("ports")
        monkeypatch.setattr(os, "fsync", sync)
        session(conversation(1))
        assert synced == []
        memory.facts.remember("The port is 80.")
        assert {Path(each).name for each in synced} == {"state.sqlite3-wal"}
