"""Housekeeping takes nothing from a session that runs, and prints no control characters."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
from conversations import chat_step
from states import holdings
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli.commands import app
from hippocampus.storage import gc
from hippocampus.storage.state_dir import StateDir

OPEN = """
import sys
sys.path.insert(0, sys.argv[2])
from trust.test_faults import chat
from hippocampus import Hippocampus
memory = Hippocampus(sys.argv[1])
session = memory.session("s")
session(chat(3))
print(len(session.entries), flush=True)
sys.stdin.read()
"""


def removed_in_400_days(state):
    with Hippocampus(state.root) as memory:
        held = holdings(state.root, memory._store)
        rules = gc.GcRules(30, None, {}, 0.0)
        return gc.plan(held, rules, time.time() + 400 * 86_400)


@pytest.mark.parametrize("kill", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_gc_takes_nothing_of_a_running_session_whatever_the_clock(tmp_path, kill):
    state = StateDir(tmp_path)
    here = str(Path(__file__).parents[1])
    with subprocess.Popen(
        [sys.executable, "-c", OPEN, str(tmp_path), here],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        assert int(running.stdout.readline()) > 0
        assert removed_in_400_days(state) == []
        running.kill() if kill else running.stdin.close()
        running.wait()
    assert removed_in_400_days(state)


def test_no_command_prints_control_characters(tmp_path):
    name = "s\x1b[2J\x1b]0;gone\x07"
    rows = "\n".join(f"row {n} \x1b[31mred\x1b[0m \x9b2J" for n in range(900))
    said = "Please always remember: I like \x1b[2J red tea."
    items = [{"role": "user", "content": said}, *chat_step("c", "run\x1b[2J", {}, rows)]
    with Hippocampus(tmp_path) as memory:
        with memory.session(name) as session:
            session(items)
        memory.facts.remember("Ann likes \x1b[2Jred tea")
    db = str(tmp_path / "memory.sqlite3")
    commands = [
        ["store", "ls", str(tmp_path)],
        ["gc", str(tmp_path), "--max-age-days", "0"],
        ["doctor", str(tmp_path)],
        ["consolidate", str(tmp_path)],
        ["memory", "list", "--db", db],
        ["memory", "recall", "red tea", "--db", db],
    ]
    for command in commands:
        result = CliRunner().invoke(app, command)
        assert result.exit_code in {0, 1}, (command, result.output)
        assert not set(result.output) & {"\x1b", "\x9b", "\x07"}, command
