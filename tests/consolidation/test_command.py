"""`hippocampus consolidate`: what is not finished is named, finished, and then said to be."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import commands
import pytest
from consolidation.said import Make, broken_facts, current, user
from typer.testing import CliRunner

from hippocampus.cli.commands import app
from hippocampus.errors import StoreError
from hippocampus.storage.state_dir import StateDir


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["consolidate", *arguments])
    assert result.exit_code == 0, result.output
    return result.output


def test_crashed_sessions_are_named_and_finished(make: Make, tmp_path: Path) -> None:
    state = str(tmp_path / "state")
    crashed = make()
    crashed.session("one")([user("I prefer green tea.")])
    crashed.session("two")([user("Never call me before noon.")])
    told = run(state, "one")
    assert "one: 1 statement kept" in told
    assert "preference, user, turn 0: I prefer green tea. (added)" in told
    assert make().unconsolidated() == ["two"]
    assert "two: 1 statement kept" in run(state)
    assert run(state) == "every session is consolidated\n"
    assert "one: 0 statements kept, messages are not listed" in run(state, "one")
    assert len(current(make())) == 2


def test_what_is_not_there_is_said(tmp_path: Path, make: Make) -> None:
    nowhere = CliRunner().invoke(app, ["consolidate", str(tmp_path / "nowhere")])
    assert nowhere.exit_code == 2
    assert "is not a state directory" in nowhere.output
    make().session("s").close()
    unknown = CliRunner().invoke(app, ["consolidate", str(tmp_path / "state"), "t"])
    assert unknown.exit_code == 2
    assert "has no session 't'" in unknown.output


def test_a_broken_fact_store_is_told_in_a_sentence_and_the_session_offered_again(
    make: Make, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    make().session("one")([user("I prefer green tea.")])
    with broken_facts(state):
        told = commands.run("consolidate", state, cwd=tmp_path)
        assert told.returncode == 1
        [line] = told.stderr.splitlines()
        assert line.startswith("session one: not consolidated yet: state ")
        assert make().unconsolidated() == ["one"]
    assert "one: 1 statement kept" in run(str(state))


def test_a_session_that_cannot_be_read_is_said_and_stops_no_other(
    make: Make, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    crashed = make()
    crashed.session("one")([user("I prefer green tea.")])
    crashed.session("two")([user("Never call me before noon.")])
    with contextlib.closing(sqlite3.connect(StateDir(state).database)) as db, db:
        values = "'', x'', '', '', '', x'', x'', 0, 'full', x'00', x'00', 0"
        db.execute(
            f"INSERT INTO entry SELECT NULL, number, {values} FROM session WHERE name = 'one'"
        )
    told = CliRunner().invoke(app, ["consolidate", str(state)])
    assert told.exit_code == 1
    assert "session 'one': entry" in told.output
    assert "two: 1 statement kept" in told.output
    crashed.session("three")([user("We decided to sell lamps.")])
    memory = make()
    with pytest.raises(StoreError, match="damaged"):
        memory.consolidate()
    assert memory.unconsolidated() == ["one"]
