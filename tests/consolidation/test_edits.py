"""What a person changes in the memory file: when it is read, and what no later session is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from consolidation.said import Make, loading, user
from typer.testing import CliRunner

from hippocampus import Hippocampus
from hippocampus.cli import app

SAID = "We decided to use Postgres. I prefer tabs. I live in Berlin."
ASKED = [user("Do I prefer tabs in Berlin, and is it Postgres or SQLite, with tea?")]


@pytest.fixture
def memory(make: Make) -> Hippocampus:
    """A memory in which one session has said three things."""
    found: Hippocampus = make(policy=loading(800))
    with found.session("one") as session:
        session([user(SAID)])
    return found


def file_of(memory: Hippocampus) -> Path:
    return memory._folder / "MEMORY.md"


def edit(memory: Hippocampus, struck: str, *replaced: str, added: str = "") -> None:
    """Strike out the line with a word, replace words, and add a line, as an editor does."""
    text = file_of(memory).read_text()
    lines = [line for line in text.split("\n") if not struck or struck not in line]
    text = "\n".join(lines)
    for old, new in zip(replaced[::2], replaced[1::2], strict=True):
        text = text.replace(old, new)
    file_of(memory).write_text(f"{text}\n{added}\n")


def opening(memory: Hippocampus, name: str) -> str:
    with memory.session(name) as session:
        view = str(session(ASKED)[0]["content"])
    return view.removesuffix(str(ASKED[0]["content"]))


def test_edits_reach_the_next_session(memory: Hippocampus) -> None:
    edit(memory, "tabs", "Postgres", "SQLite", added="- I like green tea.")
    told = opening(memory, "two")
    assert "SQLite" in told
    assert "I like green tea." in told
    assert "] I prefer tabs" not in told


def test_a_file_that_nobody_changed_is_not_written_by_an_opening(memory: Hippocampus) -> None:
    known = memory._folder / "memory" / "lines.json"
    before = [(each.read_bytes(), each.stat().st_mtime_ns) for each in (file_of(memory), known)]
    with memory.session("two") as session:
        assert "Berlin" in str(session(ASKED))
        assert before == [
            (each.read_bytes(), each.stat().st_mtime_ns) for each in (file_of(memory), known)
        ]


def test_the_command_reads_edits_where_no_session_is_left(memory: Hippocampus) -> None:
    edit(memory, "tabs", added="- I like green tea.")
    run = CliRunner().invoke(app, ["consolidate", str(memory._folder)])
    assert run.exit_code == 0
    assert "every session is consolidated\nedits of the memory file read: " in run.output
    claims = {each.content for each in memory.facts.memories(kind="fact")}
    assert "I like green tea." in claims
    assert "I prefer tabs." not in claims
    again = CliRunner().invoke(app, ["consolidate", str(memory._folder)])
    assert again.output == "every session is consolidated\n"


def test_a_line_written_before_there_is_any_fact_is_known_in_the_first_session(make: Make) -> None:
    memory = make(policy=loading(800))
    file_of(memory).write_text("# Memory\n\n## Preferences\n\n- I like green tea.\n")
    assert "I like green tea." in opening(memory, "one")


def test_a_file_that_cannot_be_read_stops_no_session(
    memory: Hippocampus, caplog: pytest.LogCaptureFixture
) -> None:
    file_of(memory).unlink()
    file_of(memory).mkdir()
    assert "I prefer tabs." in opening(memory, "two")
    assert "edits not read" in caplog.text


def test_the_edits_of_every_agent_are_read(make: Make) -> None:
    memory = make(policy=loading(800))
    with memory.session("one", agent="a b") as session:
        session([user("I prefer tabs.")])
    path = memory._folder / "MEMORY-a%20b.md"
    path.write_text(path.read_text().replace("tabs", "spaces"))
    assert len(memory.read_edits()) == 2
    (claim,) = memory.facts.memories(kind="fact", agent="a b")
    assert claim.content == "I prefer spaces."
